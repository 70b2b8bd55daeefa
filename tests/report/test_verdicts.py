"""The verdicts of a report: none from too few rows or that chance could give, no tick for what was not looked at."""

import re

import numpy as np
import pandas as pd
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.metrics import ReliabilityCurve

pytest.importorskip("jinja2", reason="reports need jinja2")
pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
pytest.importorskip("shap", reason="reports need shap")

from epiboost.report.collect import gather
from epiboost.report.facts import Honesty
from epiboost.report.significance import usual_calibration_error
from epiboost.report.verdicts import _verdict, cards_of

SMALL = {"n_members": 3, "n_estimators": 50, "n_jobs": 1, "random_state": 0}
RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(900, 4))
Y = A[:, 0] + 2 * A[:, 1] + 0.3 * RANDOM.normal(size=900)
GRADE = np.where(Y > 0, "high", "low")


@pytest.fixture(scope="module")
def regressor():
    return EpiBoostRegressor(**SMALL).fit(A[:500], Y[:500])


@pytest.fixture(scope="module")
def classifier():
    return EpiBoostClassifier(**SMALL).fit(A[:500], GRADE[:500])


def cards(model, *tables, **options):
    """Return the four cards of a report by their keys."""
    X, y = (*tables, None)[:2]
    facts = gather(model, X, y, options.get("ood"), explain=False, title=None, verbose=0)
    return {card.key: card for card in cards_of(facts)}


@pytest.mark.parametrize("foreign", [A[500:] + 8, np.full((50, 4), np.nan)])
def test_a_table_that_is_foreign_as_a_whole_is_noticed_by_its_values(regressor, tmp_path, foreign):
    regressor.save(tmp_path / "model.epib")
    for model in (regressor, EpiBoostRegressor.load(tmp_path / "model.epib")):
        card = cards(model, foreign)["foreign"]
        assert (card.verdict, card.word, card.number) == ("care", "much is new to it", "100\u00a0%")
        assert f"{len(foreign)} rows hold a value that training has not seen" in card.sentence


def test_usual_rows_get_no_alarm_and_no_tick(regressor):
    card = cards(regressor, A[500:])["foreign"]
    assert (card.verdict, card.word) == ("none", "nothing stands out")
    assert "a second table" in card.sentence


def test_a_model_that_does_not_know_its_ranges_gives_no_tick_either(regressor):
    header, arrays = regressor._to_file()
    old = EpiBoostRegressor._from_file(
        header, {name: array for name, array in arrays.items() if not name.startswith("ground")}
    )
    assert old.feature_ranges_ is None
    made = old.report(A[500:] + 8, explain=False)
    assert not made.facts.foreign.new.ranges
    assert cards_of(made.facts)[3].verdict == "none"


def test_many_columns_of_few_training_rows_are_no_alarm():
    """Of 40 columns some value of a row is often a little beyond 60 training rows, which is chance."""
    table = np.random.default_rng(1).normal(size=(400, 40))
    model = EpiBoostRegressor(**SMALL).fit(table[:60], table[:60, 0])
    new = model.report(table[60:], explain=False).facts.foreign.new
    assert new.n_rows > 10
    assert not new.clear
    table[60:, 7] += 2
    assert model.report(table[60:], explain=False).facts.foreign.new.clear


def test_a_table_of_which_the_model_is_surer_is_no_good_news():
    model = EpiBoostRegressor(engine="forest", ensemble="sgb", **SMALL).fit(A[:500], Y[:500])
    usual = A[500:]
    sure = usual[np.argsort(model.predict_uncertainty(usual).knowledge)[:150]]
    card = cards(model, usual, ood=sure)["foreign"]
    assert (card.verdict, card.word) == ("care", "differs, but is not noticed")
    assert "surer of the other table" in card.sentence
    assert cards(model, usual, ood=usual)["foreign"].verdict == "good"
    assert cards(model, usual, ood=usual[:1])["foreign"].word == "too few rows to judge"


def test_the_numbers_of_new_rows_say_of_which_table_they_are():
    frame = pd.DataFrame({"size": A[:, 0], "town": np.where(A[:, 1] > 0, "a", "b")})
    model = EpiBoostRegressor(**SMALL).fit(frame[:500], Y[:500])
    card = cards(model, frame[500:], ood=frame[500:600].assign(town="Oslo"))["foreign"]
    figures = dict(card.figures)
    assert figures["rows here with values not seen in training"] == "0"
    assert figures["rows there with values not seen in training"] == "100"
    page = model.report(frame[500:], ood=frame[500:600].assign(town="Oslo"), explain=False).html
    assert re.search(r"<bdi>town</bdi></th><td>100</td><td>categories not seen</td>", page)


def test_what_sets_the_other_table_apart_is_named():
    frame = pd.DataFrame({"size": A[:, 0], "town": np.where(A[:, 1] > 0, "a", "b")})
    model = EpiBoostRegressor(**SMALL).fit(frame[:500], 5 * (A[:500, 1] > 0) + A[:500, 0])
    drivers = model.report(frame[500:], ood=frame[500:600].assign(town="Oslo")).facts.drivers
    assert [(driver.other, driver.names[0]) for driver in drivers if driver.other] == [(True, "town")]


@pytest.mark.parametrize("n_rows", [1, 2, 19])
def test_few_rows_are_not_judged(regressor, classifier, n_rows):
    for model, y in ((regressor, Y), (classifier, GRADE)):
        page = model.report(A[500:][:n_rows], y[500:][:n_rows], explain=False)
        assert [card.word for card in cards_of(page.facts)] == ["too few rows to judge"] * 4
        assert "∞" not in page.html
        assert "∞" not in model.report(A[500:][:n_rows], explain=False).html


def test_pure_noise_earns_no_tick():
    """Of thirty models that have learned nothing hardly one may pass for good."""
    ticks = 0
    for seed in range(15):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(400, 3)), random.normal(size=400)
        options = {**SMALL, "n_estimators": 10, "n_members": 2, "random_state": seed}
        for model, target in ((EpiBoostRegressor(**options), y), (EpiBoostClassifier(**options), y > 0)):
            found = cards(model.fit(X[:100], target[:100]), X[100:], target[100:])
            ticks += (found["good"].verdict == "good") + (found["handover"].verdict == "good")
    assert ticks <= 3


def test_what_is_learned_and_known_earns_its_ticks(regressor, classifier):
    for model, y in ((regressor, Y), (classifier, GRADE)):
        found = cards(model, A[500:], y[500:])
        assert found["good"].verdict == "good"
    assert found["handover"].word == "knows when it is unsure"


def test_few_errors_do_not_tell_whether_they_are_found(classifier):
    right = np.flatnonzero(classifier.predict(A[500:]) == GRADE[500:])[:30] + 500
    y = GRADE[right].copy()
    y[0] = "low" if y[0] == "high" else "high"
    card = cards(classifier, A[right], y)["handover"]
    assert (card.verdict, card.word) == ("none", "too few errors to judge")


def test_a_model_that_is_worse_than_guessing_is_told_so(regressor, classifier):
    card = cards(regressor, A[500:], Y[500:] + 100)["good"]
    assert (card.verdict, card.word) == ("care", "worse than guessing")
    card = cards(regressor, A[500:], np.zeros(400))["good"]
    assert (card.verdict, card.word) == ("none", "one target only")
    assert "would be off by 0." in card.sentence
    card = cards(classifier, A[500:], np.full(400, "low"))["good"]
    assert "All targets of this table are the same (low)" in card.sentence
    assert "would be wrong in 0\u00a0%" in card.sentence


def test_a_rare_class_is_judged_by_probabilities_and_counted_by_itself():
    random = np.random.default_rng(3)
    X = random.normal(size=(4000, 3))
    fraud = random.random(4000) < 0.3 / (1 + np.exp(3 - 2 * X[:, 0]))
    model = EpiBoostClassifier(**SMALL).fit(X[:2000], fraud[:2000])
    made = model.report(X[2000:], fraud[2000:], explain=False)
    said = model.predict(X[2000:])
    rare = made.facts.classes[1]
    assert (rare.n_rows, rare.n_said) == (fraud[2000:].sum(), said.sum())
    assert rare.n_right == (said & fraud[2000:]).sum()
    assert rare.auc > 0.6
    assert made.facts.quality.losses[0][1] < made.facts.quality.guessing[0]
    card = cards_of(made.facts)[0]
    assert (card.verdict, card.word) == ("good", "its probabilities help")
    assert "better than the bare shares" in card.sentence
    assert f"guessing {made.facts.quality.guessing[0]:.4g}" in dict(card.figures)["negative log-likelihood (nats)"]
    assert "Class by class" in made.html


def test_errors_that_cancel_are_not_honest():
    curve = ReliabilityCurve(np.array([0.62, 1.0]), np.array([0.9, 0.72]), np.array([0.5, 0.5]))
    chance = usual_calibration_error(curve, 1000, binned=True)
    honesty = Honesty(0.81, 0.81, curve.error, chance, None, None, None, guaranteed=False)
    assert _verdict(honesty, 1000) == ("care", "right on average only")
    calm = Honesty(0.81, 0.81, chance, chance, None, None, None, guaranteed=False)
    assert _verdict(calm, 1000) == ("good", "says what it knows")


@pytest.mark.parametrize("binned", [True, False])
def test_a_calibrated_model_stays_below_what_chance_gives(binned):
    """Counted over 400 tables of 150 rows of which each claim is true."""
    random = np.random.default_rng(4)
    beyond = 0
    for _ in range(400):
        if binned:
            claimed = np.sort(random.uniform(0.5, 1.0, size=150)).reshape(15, 10)
            right = random.random((15, 10)) < claimed
            curve = ReliabilityCurve(claimed.mean(axis=1), right.mean(axis=1), np.full(15, 1 / 15))
        else:
            levels = np.arange(1, 16) / 16
            needed = random.random(150)
            curve = ReliabilityCurve(levels, (needed[:, None] <= levels).mean(axis=0), np.full(15, 1 / 15))
        beyond += curve.error > usual_calibration_error(curve, 150, binned=binned)
    assert 1 <= beyond <= 24


def test_a_row_whose_doubt_is_noise_is_not_unfamiliar():
    random = np.random.default_rng(5)
    X = random.normal(size=(900, 2))
    y = np.where(X[:, 0] + 2 * random.normal(size=900) > 0, "a", "b")
    model = EpiBoostClassifier(**{**SMALL, "n_estimators": 20}).fit(X[:600], y[:600])
    listed = model.report(X[600:], y[600:], explain=False).facts.uncertain
    share = listed.knowledge / listed.doubt
    assert share.max() < 0.1
    assert "unfamiliar" not in listed.kind
    assert "noisy" in listed.kind


def test_rows_that_do_not_stand_out_are_ordinary(regressor):
    X = A[500:]
    made = regressor.report(X[np.argsort(regressor.predict_uncertainty(X).total)[:100]], explain=False)
    assert "ordinary" in made.facts.uncertain.kind
    assert '<option value="ordinary">' in made.html


def test_long_names_that_begin_alike_are_told_apart():
    begin = "measured_concentration_of_the_substance_in_sample_number_"
    random = np.random.default_rng(6)
    X = pd.DataFrame({f"{begin}{place:02d}": random.normal(size=400) for place in range(12)})
    column = X[f"{begin}09"]
    y = 3 * column + 0.3 * random.normal(size=400) * (1 + abs(column))
    made = EpiBoostRegressor(**SMALL).fit(X[:300], y[:300]).report(X[300:], y[300:])
    assert made.facts.uncertain.names[0].endswith("09")
    assert len(set(made.facts.uncertain.names)) == 6
    assert made.facts.drivers[0].names[0].endswith("09")
    row = int(made.facts.uncertain.row[0])
    assert float(made.facts.uncertain.cells[0][0]) == pytest.approx(column.iloc[300 + row], rel=1e-3)


def test_the_curve_and_the_table_tell_the_same_error(regressor):
    from epiboost.report.charts import kept_errors

    facts = regressor.report(A[500:], Y[500:], explain=False).facts
    curve = facts.rejection["total"]
    shares, errors = kept_errors(curve.rejected, curve.error, rooted=True)
    for kept in facts.kept:
        assert np.interp(1 - kept.share, shares, errors) == pytest.approx(kept.error, rel=0.02)


def test_one_member_is_described_as_one():
    single = EpiBoostRegressor(**{**SMALL, "ensemble": "single"}).fit(A[:500], Y[:500])
    made = single.report(A[500:], Y[500:])
    assert "knowledge" not in made.facts.rejection
    assert "single, 1 member, engine" in dict(made.facts.model)["Recipe"]
    assert "High up: unfamiliar" not in made.html
    assert "half by knowledge" not in made.html
