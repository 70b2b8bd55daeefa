"""A report says what the library finds, whatever the model and the table."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from epiboost import EpiBoostClassifier, EpiBoostRegressor, metrics
from epiboost._cli import commands, explaining
from epiboost.datasets import make_heart
from epiboost.decisions import DomainDetector
from epiboost.explain import Attribution

pytest.importorskip("jinja2", reason="reports need jinja2")
pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
pytest.importorskip("shap", reason="reports need shap")

from epiboost.report import Report, report
from epiboost.report.facts import Facts

SMALL = {"n_members": 3, "n_estimators": 30, "n_jobs": 1, "random_state": 0}
RANDOM = np.random.default_rng(0)
N = 400
FRAME = pd.DataFrame(
    {"size": RANDOM.normal(size=N), "age": RANDOM.normal(size=N), "town": RANDOM.choice(["a", "b"], N)}
)
PRICE = FRAME["size"].to_numpy() + 0.3 * RANDOM.normal(size=N)
GRADE = np.where(PRICE > 0, "high", "low")
SEVERAL = np.array(["low", "mid", "high"])[np.digitize(PRICE, [-0.6, 0.6])]
TRAIN, HELD_OUT, LAST = slice(0, 150), slice(150, 300), slice(300, N)
OTHER = FRAME[HELD_OUT].assign(size=9.0, town="elsewhere")


@pytest.fixture(scope="module")
def models():
    regressor = EpiBoostRegressor(**SMALL).fit(FRAME[TRAIN], PRICE[TRAIN])
    classifier = EpiBoostClassifier(**SMALL).fit(FRAME[TRAIN], GRADE[TRAIN])
    return {
        "regressor": (regressor, PRICE),
        "classifier": (classifier, GRADE),
        "several": (EpiBoostClassifier(**SMALL).fit(FRAME[TRAIN], SEVERAL[TRAIN]), SEVERAL),
        "calibrated regressor": (regressor.calibrate(FRAME[LAST], PRICE[LAST]), PRICE),
        "calibrated classifier": (classifier.calibrate(FRAME[LAST], GRADE[LAST]), GRADE),
        "single": (EpiBoostRegressor(**SMALL, ensemble="single").fit(FRAME[TRAIN], PRICE[TRAIN]), PRICE),
        "forest": (
            EpiBoostRegressor(engine="forest", ensemble="sgb", **SMALL).fit(
                FRAME[["size", "age"]][TRAIN], PRICE[TRAIN]
            ),
            PRICE,
        ),
    }


def text_of(page):
    """Return the words of a page."""
    return re.sub(
        r"\s+", " ", re.sub(r"<[^>]*>", " ", re.sub(r"<(style|script|svg).*?</\1>", " ", page, flags=re.DOTALL))
    )


@pytest.mark.parametrize(
    "kind",
    ["regressor", "classifier", "several", "calibrated regressor", "calibrated classifier", "single", "forest"],
)
@pytest.mark.parametrize("other", [None, OTHER])
def test_every_model_has_a_report_small_and_whole(models, kind, other, tmp_path):
    model, y = models[kind]
    columns = ["size", "age"] if kind == "forest" else list(FRAME)
    other = None if other is None else other[columns]
    made = model.report(FRAME[columns][HELD_OUT], y[HELD_OUT], ood=other, path=tmp_path / "report.html")
    assert isinstance(made, Report)
    assert isinstance(made.facts, Facts)
    written = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert written == made.html
    assert len(written.encode()) < 3_000_000
    assert written.rstrip().endswith("</html>")
    for question in ("How good is it?", "How honest is it?", "When should it hand over?", "What is foreign to it?"):
        assert question in written
    for picture in re.findall(r"<svg.*?</svg>", written, flags=re.DOTALL):
        ET.fromstring(picture)  # noqa: S314 (our own)
    assert written.count("<svg") >= 3


def test_the_first_screen_tells_a_classifiers_figures(models):
    model, y = models["classifier"]
    X, y = FRAME[HELD_OUT], y[HELD_OUT]
    facts = model.report(X, y, explain=False).facts
    posterior = model.predict_posterior(X)
    wrong = model.predict(X) != y
    assert facts.quality.error == wrong.mean()
    assert facts.quality.baseline == pytest.approx(min((y == "low").mean(), (y == "high").mean()))
    assert dict(facts.quality.losses)["negative log-likelihood (nats)"] == metrics.negative_log_likelihood_loss(
        y, posterior
    )
    assert facts.honesty.claimed == pytest.approx(posterior.mean.max(axis=1).mean())
    assert facts.honesty.observed == pytest.approx(1 - wrong.mean())
    assert facts.scores["total"] == metrics.prediction_rejection_score(
        y, model.predict(X), posterior.uncertainty().total
    )
    total = posterior.uncertainty().total
    for kept in facts.kept[1:]:
        below = total < kept.threshold
        assert below.mean() == kept.share
        assert kept.share == pytest.approx(kept.asked, abs=0.03)  # of equal ones all are handed over
        assert kept.error == pytest.approx(wrong[below].mean())
        assert kept.bound > kept.error


def test_the_first_screen_tells_a_regressors_figures(models):
    model, y = models["regressor"]
    X, y = FRAME[HELD_OUT], y[HELD_OUT]
    facts = model.report(X, y, explain=False).facts
    residual = y - model.predict(X)
    assert facts.quality.error == pytest.approx(np.sqrt(np.mean(residual**2)))
    assert facts.quality.baseline == pytest.approx(y.std())
    assert facts.honesty.observed == metrics.interval_coverage_score(y, model.predict_interval(X, 0.9))
    assert facts.honesty.width == pytest.approx(metrics.interval_width(model.predict_interval(X, 0.9)))
    total = model.predict_uncertainty(X).total
    for kept in facts.kept:
        below = total < kept.threshold
        assert kept.error == pytest.approx(np.sqrt(np.mean(residual[below] ** 2)))
        assert kept.share == below.mean() == pytest.approx(kept.asked, abs=0.03)  # of equal ones all are handed over


def test_a_calibrated_model_is_judged_by_what_it_guarantees(models):
    X = FRAME[HELD_OUT]
    model, y = models["calibrated regressor"]
    honesty = model.report(X, y[HELD_OUT], explain=False).facts.honesty
    assert honesty.guaranteed
    assert honesty.observed == metrics.interval_coverage_score(y[HELD_OUT], model.predict_interval(X, 0.9))
    model, y = models["calibrated classifier"]
    honesty = model.report(X, y[HELD_OUT], explain=False).facts.honesty
    sets = model.predict_set(X, 0.9)
    assert honesty.set_size == sets.sum(axis=1).mean()
    assert honesty.set_coverage == sets[np.arange(150), (y[HELD_OUT] == "low").astype(int)].mean()


def test_foreign_rows_are_those_of_the_detector(models):
    model, y = models["regressor"]
    facts = model.report(FRAME[HELD_OUT], y[HELD_OUT], ood=OTHER, explain=False).facts
    drift = DomainDetector(model).fit(FRAME[HELD_OUT]).drift(OTHER)
    assert facts.domain.share == drift.share_outside
    assert facts.domain.p_value == drift.p_value
    assert (facts.foreign.n_unseen, facts.domain.n_unseen) == (0, 150)


@pytest.fixture(scope="module")
def heart():
    """Return a model of the heart, 700 rows that it has not seen, and the 34 cells of the hole."""
    drawn = make_heart(n_per_cell=100, random_state=0)
    model = EpiBoostRegressor(n_members=10, n_estimators=200, learning_rate=0.3, random_state=0)
    model.fit(drawn.X[:4000], drawn.y[:4000])
    return model, drawn.X[4000:], drawn.cells.X[drawn.cells.inside.ravel()]


def test_rows_that_stand_far_out_are_counted_where_there_is_no_other_table(heart):
    model, usual, hole = heart
    assert model.report(usual, explain=False).facts.foreign.n_far == 0
    assert model.report(np.concatenate([usual, hole]), explain=False).facts.foreign.n_far == len(hole)


def test_noisy_rows_are_marked_noisy_and_unfamiliar_rows_unfamiliar(heart):
    """Around the hole the target is noisiest; in the hole there was no training row."""
    model, usual, hole = heart
    facts = model.report(np.concatenate([usual, hole]), explain=False).facts
    kinds = dict(zip(facts.uncertain.row.tolist(), facts.uncertain.kind, strict=True))
    noisy = [kind for row, kind in kinds.items() if row < len(usual)]
    strange = [kind for row, kind in kinds.items() if row >= len(usual)]
    assert len(noisy) >= 40
    assert "unfamiliar" not in noisy
    assert noisy[:20] == ["noisy"] * 20  # the table is sorted by total uncertainty
    assert strange == ["unfamiliar"] * len(hole)


def test_what_drives_uncertainty_is_found():
    random = np.random.default_rng(7)
    X = pd.DataFrame(random.normal(size=(1500, 4)), columns=["calm", "loud", "third", "fourth"])
    y = X["calm"] + np.exp(1.2 * X["loud"]) * random.normal(size=1500)
    model = EpiBoostRegressor(n_members=3, n_estimators=60, random_state=0).fit(X[:1000], y[:1000])
    made = model.report(X[1000:], y[1000:])
    drivers = {driver.measure: driver for driver in made.facts.drivers}
    assert drivers["data"].names[0] == "loud"
    assert sum(drivers["data"].shares) == pytest.approx(1.0)
    noisy = [
        reason
        for reason, kind in zip(made.facts.uncertain.reason, made.facts.uncertain.kind, strict=True)
        if kind == "noisy"
    ]
    assert noisy.count("loud") >= 0.8 * len(noisy)


def test_the_table_is_predicted_once(models, monkeypatch):
    model, y = models["classifier"]
    asked, predict = [], type(model).predict_posterior
    monkeypatch.setattr(type(model), "predict_posterior", lambda self, X: asked.append(len(X)) or predict(self, X))
    model.report(FRAME[HELD_OUT], y[HELD_OUT], ood=OTHER[:40], explain=False)
    assert asked == [150, 40]


def test_without_targets_the_report_says_so_and_tells_the_rest(models):
    model, _ = models["regressor"]
    made = model.report(FRAME[HELD_OUT], ood=OTHER)
    words = text_of(made.html)
    assert "No targets were given" in words
    assert made.facts.quality is None
    assert made.facts.domain.auc > 0.6
    assert "error that remains" in words


def test_one_member_cannot_tell_what_is_foreign_and_a_forest_claims_nothing(models):
    for kind, said in (("single", "that takes two or more members"), ("forest", "predict a mean and no spread")):
        model, y = models[kind]
        columns = ["size", "age"] if kind == "forest" else list(FRAME)
        assert said in text_of(model.report(FRAME[columns][HELD_OUT], y[HELD_OUT], explain=False).html)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_of_any_library_and_order_of_columns_show_the_same_rows(models, library):
    model, y = models["regressor"]
    columns = {name: FRAME[name][HELD_OUT].tolist() for name in ("town", "age", "size")}
    made = model.report(library(columns), y[HELD_OUT], explain=False)
    plain = model.report(FRAME[HELD_OUT], y[HELD_OUT], explain=False)
    assert made.html == plain.html


def test_arrays_and_lists_are_shown_by_position():
    X = RANDOM.normal(size=(60, 2))
    model = EpiBoostRegressor(**SMALL).fit(X, X[:, 0])
    made = model.report(X.tolist(), X[:, 0].tolist())
    assert made.facts.uncertain.names == ("x0", "x1")


def test_a_pipeline_is_reported_with_the_columns_that_it_is_given():
    frame = FRAME[["size", "age"]]
    pipeline = make_pipeline(StandardScaler(), EpiBoostRegressor(**SMALL)).fit(frame[TRAIN], PRICE[TRAIN])
    facts = report(pipeline, frame[HELD_OUT], PRICE[HELD_OUT]).facts
    assert set(facts.uncertain.names) == {"size", "age"}
    row = int(facts.uncertain.row[0])
    shown = facts.uncertain.cells[0][facts.uncertain.names.index("size")]
    assert float(shown) == pytest.approx(frame["size"][HELD_OUT].iloc[row], rel=1e-3)


def test_the_facts_of_the_model_survive_a_file(models, tmp_path):
    model, y = models["regressor"]
    model.save(tmp_path / "model.epib")
    again = EpiBoostRegressor.load(tmp_path / "model.epib")
    assert again.training_ == model.training_
    assert again.training_.n_rows == 150
    assert again.training_.seconds > 0
    facts = dict(again.report(FRAME[HELD_OUT], y[HELD_OUT], explain=False).facts.model)
    assert facts["Training rows"] == "150"
    assert facts["Seed"] == "0"
    assert "sglb, 3 members, engine native" in facts["Recipe"]
    assert "NumPy" in facts["Versions at training"]


def test_a_file_that_tells_nothing_of_its_training_is_read(models):
    model, y = models["regressor"]
    header, arrays = model._to_file()
    del header["training"]
    again = EpiBoostRegressor._from_file(header, arrays)
    assert again.training_ is None
    assert "Training time" not in dict(again.report(FRAME[HELD_OUT], y[HELD_OUT], explain=False).facts.model)


NASTY = [
    "<script>window.broken = 1</script>",
    "</script><img src=x onerror=window.broken=1>",
    "<!--",
    "{{ 7 * 7 }}",
    "quote\"'`&amp;",
    "a\u2028b\u2029c\x00d",
    "عمود \u202e abc",
    "x" * 5000,
]


def test_what_comes_from_the_data_is_escaped():
    random = np.random.default_rng(8)
    X = pd.DataFrame(random.normal(size=(120, len(NASTY))), columns=NASTY)
    X["town"] = random.choice(NASTY, 120)
    y = np.where(X.iloc[:, 0] > 0, NASTY[0], NASTY[1])
    model = EpiBoostClassifier(**SMALL).fit(X, y)
    made = model.report(X, y, ood=X[:30], title=NASTY[0])
    assert "<script>window" not in made.html
    assert "<img" not in made.html
    assert "\u2028" not in made.html
    assert "\u202e" not in made.html
    assert "\x00" not in made.html
    assert "&lt;script&gt;window.broken = 1&lt;/script&gt;" in made.html
    assert "{{ 7 * 7 }}" in made.html
    assert made.html.count("<script") == 2  # the rows and the script of the page
    assert len(made.html) < 3_000_000
    assert "&lt;!DOCTYPE html&gt;" in made._repr_html_()


def test_large_and_wide_tables_are_cut_and_it_is_said():
    random = np.random.default_rng(9)
    X = pd.DataFrame(random.normal(size=(20_000, 12)), columns=[f"{place}" + "字" * 200 for place in range(12)])
    X["words"] = "語" * 5000
    model = EpiBoostRegressor(**SMALL).fit(X[:500], X.iloc[:500, 0])
    made = model.report(X, X.iloc[:, 0], ood=X[:2000], explain=False)
    assert len(made.html.encode()) < 3_000_000
    words = text_of(made.html)
    assert "some 1,500 are drawn" in words
    assert "The 80 most uncertain of 20,000 rows" in words
    assert "6 of 13 columns are shown" in words


@pytest.mark.parametrize("n_rows", [1, 2, 5, 19, 20])
def test_few_rows_are_reported_as_far_as_sense_goes(models, n_rows):
    for kind in ("regressor", "classifier", "calibrated classifier"):
        model, y = models[kind]
        made = model.report(FRAME[HELD_OUT][:n_rows], y[HELD_OUT][:n_rows], ood=OTHER[:n_rows])
        assert len(made.facts.uncertain.row) == n_rows


def test_constant_targets_missing_values_and_unseen_categories_do_no_harm():
    X = FRAME[TRAIN].assign(age=np.nan)
    model = EpiBoostRegressor(**SMALL).fit(X, np.ones(150))
    quality = model.report(X, np.ones(150)).facts.quality
    assert (quality.baseline, quality.only) == (0.0, "1")
    unseen = FRAME[HELD_OUT].assign(town="elsewhere", size=np.nan)
    model = EpiBoostClassifier(**SMALL).fit(FRAME[TRAIN], GRADE[TRAIN])
    made = model.report(unseen, GRADE[HELD_OUT])
    assert made.facts.foreign.n_unseen == 150
    assert "150 rows hold a value that training has not seen (size, town)" in text_of(made.html)
    assert "missing" in made.html


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (PRICE[:3], "y must hold one target for each row, shape \\(150,\\); got shape \\(3,\\)"),
        (np.full(150, "strange"), "strange"),
        (np.full(150, None), "y"),
    ],
)
def test_targets_that_do_not_fit_are_refused(models, y, words):
    model, _ = models["classifier"]
    with pytest.raises(ValueError, match=words):
        model.report(FRAME[HELD_OUT], y, explain=False)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.where(np.arange(150) == 6, np.nan, 1.0), "y must hold finite numbers; got nan in row 7"),
        (np.full(150, "many"), "y must hold numbers, as this model predicts one"),
    ],
)
def test_targets_that_are_no_numbers_are_named(models, y, words):
    model, _ = models["regressor"]
    with pytest.raises(ValueError, match=words):
        model.report(FRAME[HELD_OUT], y, explain=False)


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"path": "/nowhere/at/all/report.html"}, FileNotFoundError, "'/nowhere/at/all' is not"),
        ({"path": "."}, IsADirectoryError, "is a folder"),
        ({"title": 5}, TypeError, "title must be a text"),
        ({"ood": "other.csv"}, TypeError, "not a file's name; got 'other.csv'"),
    ],
)
def test_what_cannot_be_written_or_read_is_refused_before_any_work(models, monkeypatch, options, kind, words):
    model, _ = models["regressor"]
    monkeypatch.setattr(type(model), "predict_posterior", lambda *_: pytest.fail("work was done"))
    with pytest.raises(kind, match=words):
        model.report(FRAME[HELD_OUT], **options)


def test_a_page_of_letters_that_must_be_escaped_stays_small():
    random = np.random.default_rng(10)
    X = pd.DataFrame({f"{place}": random.choice(["<" * 40, "<" * 39], 3000) for place in range(6)})
    y = np.where(random.random(3000) < 0.5, "&" * 40, "&" * 39)
    model = EpiBoostClassifier(**SMALL).fit(X[:200], y[:200])
    made = model.report(X, y, ood=X[:500], explain=False)
    assert len(made.html.encode()) < 3_000_000
    assert repr(made.facts) == "Facts('Can this classifier be trusted?', classification, 3,000 rows)"


def test_what_is_no_model_is_refused():
    with pytest.raises(TypeError, match="a fitted model that predicts its uncertainty"):
        report(StandardScaler(), FRAME[HELD_OUT])


def epiboost(*arguments):
    return CliRunner().invoke(commands.app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def folder(models, tmp_path):
    for kind in ("regressor", "classifier"):
        models[kind][0].save(tmp_path / f"{kind}.epib")
    FRAME[HELD_OUT].assign(price=PRICE[HELD_OUT]).to_csv(tmp_path / "test.csv", index=False)
    FRAME[HELD_OUT].to_csv(tmp_path / "rows.csv", index=False)
    OTHER.to_csv(tmp_path / "other.csv", index=False)
    return tmp_path


def test_the_command_writes_the_report_of_the_library(models, folder):
    path = folder / "report.html"
    ended = epiboost(
        "report", folder / "regressor.epib", folder / "test.csv", "--ood", folder / "other.csv", "-o", path
    )
    assert ended.exit_code == 0, ended.stderr
    assert ended.stdout == f"Wrote {path}\n"
    model, y = models["regressor"]
    expected = model.report(FRAME[HELD_OUT], y[HELD_OUT], ood=OTHER).facts
    words = text_of(path.read_text(encoding="utf-8"))
    assert f"{expected.quality.error:.4g}" in words
    assert "of the other table" in words


def test_the_command_works_without_targets(folder):
    path = folder / "report.html"
    ended = epiboost("report", folder / "regressor.epib", folder / "rows.csv", "-o", path, "--no-explain")
    assert ended.exit_code == 0, ended.stderr
    assert "No targets were given" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("of", ["knowledge", "mean"])
def test_the_command_explains_rows(folder, of):
    values, picture = folder / "why.csv", folder / "why.png"
    options = ("--of", of, "--background", folder / "test.csv", "-o", values, "--plot", picture)
    ended = epiboost("explain", folder / "regressor.epib", folder / "rows.csv", *options)
    assert ended.exit_code == 0, ended.stderr
    table = csv.read_csv(values).to_pandas()
    assert list(table) == [of, "base", "size", "age", "town"]
    np.testing.assert_allclose(table[["base", "size", "age", "town"]].sum(axis=1), table[of], rtol=1e-6)
    assert "The features that matter most: size" in ended.stdout
    assert "compared with one another" not in ended.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_command_says_that_rows_were_compared_with_one_another(folder):
    ended = epiboost("explain", folder / "regressor.epib", folder / "rows.csv", "-o", folder / "why.csv")
    assert ended.exit_code == 0, ended.stderr
    assert "compared with one another" in ended.stdout
    assert "--background" in ended.stdout


def test_no_column_of_values_is_lost_to_a_name_that_is_taken(tmp_path):
    names = ("knowledge", "value of knowledge", "base", "c")
    found = Attribution(RANDOM.normal(size=(3, 4)), 1.0, names, np.zeros((3, 4)), of="knowledge", unit="nats")
    explaining.write_values(found, tmp_path / "why.csv")
    table = csv.read_csv(tmp_path / "why.csv").to_pandas()
    assert table.shape == (3, 6)
    np.testing.assert_allclose(table.iloc[:, 1:].sum(axis=1), table["knowledge"], rtol=1e-6)
    np.testing.assert_allclose(table["value of knowledge"], found.values[:, 1])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("report", "regressor.epib", "test.csv", "-o", "test.csv"), "it is an input of this command"),
        (("report", "regressor.epib", "test.csv", "-o", "new.csv"), "let it end in .html"),
        (("report", "classifier.epib", "test.csv", "-o", "a.html"), "the classes are ['high', 'low']"),
        (("report", "regressor.epib", "test.csv", "-o", "a.html", "--target", "cost"), "lacks the column 'cost'"),
        (("explain", "regressor.epib", "test.csv", "-o", "a.txt"), "must end in .csv or .parquet"),
        (("report", "regressor.epib", "test.csv", "-o", "new.epib"), "that is a model's name; let it end in .html"),
        (("explain", "regressor.epib", "test.csv", "-o", "a.csv", "--plot", "a.txt"), "must end in .png, .svg or .pdf"),
        (("explain", "regressor.epib", "test.csv", "-o", "a.csv", "--label", "x"), "this model predicts a number"),
        (
            ("explain", "classifier.epib", "test.csv", "-o", "a.csv", "--of", "mean", "--label", "x"),
            "--label must be one of 'high', 'low'; got 'x'",
        ),
    ],
)
def test_what_goes_wrong_is_said_in_one_line(folder, arguments, words):
    endings = (".csv", ".epib", ".html", ".txt")
    named = [folder / argument if argument.endswith(endings) else argument for argument in arguments]
    ended = epiboost(*named)
    assert ended.exit_code == 1
    assert ended.stderr.count("\n") == 1
    assert words in ended.stderr
