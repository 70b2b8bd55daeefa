"""The command evaluate prints, draws and writes the metrics of the library."""

import json

import numpy as np
import pyarrow as pa
import pytest
from matplotlib import image
from pyarrow import csv

from epiboost import EpiBoostClassifier, EpiBoostRegressor, metrics
from epiboost._cli.evaluation_metrics import evaluate
from epiboost._files import model_file
from epiboost.decisions import DomainDetector
from tests.support.command_line import epiboost
from tests.support.models import SMALL, small_estimator

RANDOM = np.random.default_rng(0)
SIZE, AGE = RANDOM.normal(size=(2, 300))
PRICE = SIZE + 0.3 * RANDOM.normal(size=300)
GRADE = np.where(PRICE > 0, "high", "low")
TRAIN, HELD_OUT = slice(0, 150), slice(150, 300)
FEATURES = pa.table({"size": SIZE, "age": AGE})


def rows(part):
    return FEATURES.slice(part.start, part.stop - part.start)


@pytest.fixture
def files(tmp_path):
    models = {
        "regressor": EpiBoostRegressor(**SMALL).fit(rows(TRAIN), PRICE[TRAIN]),
        "classifier": EpiBoostClassifier(**SMALL).fit(rows(TRAIN), GRADE[TRAIN]),
    }
    models["calibrated regressor"] = models["regressor"].calibrate(rows(HELD_OUT), PRICE[HELD_OUT])
    models["calibrated classifier"] = models["classifier"].calibrate(rows(HELD_OUT), GRADE[HELD_OUT])
    for name, model in models.items():
        model.save(tmp_path / f"{name}.epib")
    held_out = rows(HELD_OUT)
    csv.write_csv(held_out.append_column("price", pa.array(PRICE[HELD_OUT])), tmp_path / "regressor.csv")
    csv.write_csv(held_out.append_column("grade", pa.array(GRADE[HELD_OUT])), tmp_path / "classifier.csv")
    csv.write_csv(pa.table({"age": AGE[:40] + 9, "size": SIZE[:40] - 9}), tmp_path / "other.csv")
    return tmp_path, models


@pytest.mark.parametrize("kind", ["regressor", "classifier", "calibrated regressor", "calibrated classifier"])
def test_metrics_are_those_of_the_library_printed_written_and_drawn(files, kind):
    folder, models = files
    table = folder / f"{kind.split()[-1]}.csv"
    options = ("--ood", folder / "other.csv", "--plots", folder / "new" / "pictures", "--json", folder / "out.json")
    ended = epiboost("evaluate", folder / f"{kind}.epib", table, *options)
    assert ended.exit_code == 0, ended.stderr
    y = (PRICE if "regressor" in kind else GRADE)[HELD_OUT]
    outside = pa.table({"size": SIZE[:40] - 9, "age": AGE[:40] + 9})
    expected = evaluate(models[kind], rows(HELD_OUT), y, outside)
    written = json.loads((folder / "out.json").read_text())
    assert written["figures"] == pytest.approx(expected.figures)
    coverage = None if kind == "classifier" else 0.9  # which has neither intervals nor sets
    assert (written["n_rows"], written["n_outside"], written["nominal_coverage"]) == (150, 40, coverage)
    for value in expected.figures.values():
        assert f"{value:.4g}" in ended.stdout
    for name in ("rejection", "calibration", "uncertainty", "domain"):
        assert image.imread(folder / "new" / "pictures" / f"{name}.png").std() > 0.01


def test_regression_is_judged_by_the_metrics(files):
    _, models = files
    model, X, y = models["regressor"], rows(HELD_OUT), PRICE[HELD_OUT]
    found = evaluate(model, X, y, coverage=0.5).figures
    posterior, uncertainty = model.predict_posterior(X), model.predict_uncertainty(X)
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((y - model.predict(X)) ** 2)))
    assert found["negative_log_likelihood"] == metrics.negative_log_likelihood_loss(y, posterior)
    assert found["crps"] == metrics.crps_loss(y, posterior)
    assert found["coverage"] == metrics.interval_coverage_score(y, model.predict_interval(X, 0.5))
    assert found["prr_knowledge"] == metrics.prediction_rejection_score(y, model.predict(X), uncertainty.knowledge)
    assert not any(name.startswith("ood") for name in found)


@pytest.mark.parametrize("kind", ["regressor", "classifier"])
def test_detection_is_judged_by_detectors_that_need_no_rows(kind):
    y = PRICE if kind == "regressor" else GRADE
    model = small_estimator(kind, out_of_fold=3).fit(rows(TRAIN), y[TRAIN])
    X, X_ood = rows(HELD_OUT), pa.table({"size": SIZE[:40] - 5, "age": AGE[:40]})
    found = evaluate(model, X, y[HELD_OUT], X_ood).figures
    is_ood = np.repeat([False, True], [150, 40])
    for measure in ("combined", "novelty"):
        detector = DomainDetector(model, measure=measure).fit()
        inside, outside = detector.score_samples(X), detector.score_samples(X_ood)
        assert found[f"ood_auc_{measure}"] == metrics.ood_auc_score(is_ood, -np.append(inside, outside)) > 0.5
        assert found[f"ood_flagged_{measure}"] == np.mean(detector.predict(X_ood) == -1) > 0.05
        assert found[f"test_flagged_{measure}"] == np.mean(detector.predict(X) == -1) < 0.25


def test_a_model_without_out_of_fold_chains_is_judged_by_novelty_alone(files):
    _, models = files
    found = evaluate(models["regressor"], rows(HELD_OUT), PRICE[HELD_OUT], rows(TRAIN)).figures
    assert "ood_auc_novelty" in found
    assert not any("combined" in name for name in found)


def test_a_model_that_keeps_no_training_rows_is_judged_by_uncertainty():
    model = small_estimator("regressor", reference_rows=0).fit(rows(TRAIN), PRICE[TRAIN])
    found = evaluate(model, rows(HELD_OUT), PRICE[HELD_OUT], rows(TRAIN)).figures
    figures = ["ood_auc_total", "ood_auc_knowledge", "ood_fpr95_knowledge"]
    assert [name for name in found if name.startswith("ood")] == figures
    assert not any("flagged" in name for name in found)


def test_a_calibrated_classifier_is_judged_by_its_sets(files):
    _, models = files
    model = models["calibrated classifier"]
    found = evaluate(model, rows(HELD_OUT), GRADE[HELD_OUT], coverage=0.8).figures
    sets = model.predict_set(rows(HELD_OUT), 0.8)
    assert found["set_coverage"] == sets[np.arange(150), (GRADE[HELD_OUT] == "low").astype(int)].mean()
    assert found["set_size"] == sets.sum(axis=1).mean()
    assert found["error_rate"] == (model.predict(rows(HELD_OUT)) != GRADE[HELD_OUT]).mean()


@pytest.mark.parametrize(
    ("kind", "passes"),
    [("regressor", 1), ("classifier", 1), ("calibrated regressor", 2), ("calibrated classifier", 2)],
)
def test_the_table_is_predicted_once_and_once_more_for_guarantees(files, kind, passes, monkeypatch):
    _, models = files
    trained = models[kind.split()[-1]]
    counted, predict = [], type(trained).predict_posterior
    monkeypatch.setattr(
        type(trained), "predict_posterior", lambda self, X, **options: counted.append(1) or predict(self, X, **options)
    )
    evaluate(models[kind], rows(HELD_OUT), (PRICE if "regressor" in kind else GRADE)[HELD_OUT])
    assert len(counted) == passes


def test_the_model_file_is_read_once(files, monkeypatch):
    folder, _ = files
    counted, read = [], model_file.read
    monkeypatch.setattr(model_file, "read", lambda path: counted.append(1) or read(path))
    for kind in ("regressor", "calibrated regressor"):
        counted.clear()
        assert epiboost("evaluate", folder / f"{kind}.epib", folder / "regressor.csv").exit_code == 0
        assert len(counted) == 1


def test_a_model_without_errors_has_no_rejection_score(files):
    folder, models = files
    perfect = models["classifier"].predict(rows(HELD_OUT))
    csv.write_csv(rows(HELD_OUT).append_column("grade", pa.array(perfect)), folder / "perfect.csv")
    ended = epiboost("evaluate", folder / "classifier.epib", folder / "perfect.csv", "--json", folder / "out.json")
    assert ended.exit_code == 0
    assert "not defined" in ended.stdout
    assert json.loads((folder / "out.json").read_text())["figures"]["prr_total"] is None


def test_a_calibrated_model_predicts_with_its_guaranteed_interval(files):
    folder, models = files
    path = folder / "predictions.csv"
    ended = epiboost(
        "predict", folder / "calibrated regressor.epib", folder / "regressor.csv", "-o", path, "--coverage", "0.8"
    )
    assert ended.exit_code == 0
    found = csv.read_csv(path)
    interval = models["calibrated regressor"].predict_interval(rows(HELD_OUT), 0.8)
    assert np.column_stack([found["lower"], found["upper"]]) == pytest.approx(interval)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("regressor.epib", "regressor.csv", "--target", "cost"), "lacks the column 'cost'"),
        (
            ("regressor.epib", "two.csv"),
            "has the columns 'price', 'note' beside the features; give the target with --target",
        ),
        (("regressor.epib", "other.csv"), "has no column beside the features"),
        (("regressor.epib", "nowhere.csv"), "no such file"),
        (("classifier.epib", "regressor.csv"), "y_true holds float64 and the classes are ['high', 'low']"),
        (("regressor.epib", "classifier.csv"), "could not convert string to float"),
        (("regressor.epib", "regressor.csv", "--ood", "wrong.csv"), "lacks the column 'size'"),
        (("regressor.epib", "regressor.csv", "--json", "regressor.csv"), "it is an input of this command"),
        (("regressor.epib", "regressor.csv", "--json", "away/out.json"), "its folder does not exist"),
        (("regressor.epib", "regressor.csv", "--plots", "regressor.csv"), "it is a file"),
        (("regressor.epib", "regressor.csv", "--coverage", "1.5"), "strictly between 0 and 1"),
        (
            ("calibrated regressor.epib", "regressor.csv", "--coverage", "0.999"),
            "cannot be guaranteed: it needs 999 rows",
        ),
    ],
)
def test_errors_are_one_line(files, arguments, words):
    folder, _ = files
    held_out = rows(HELD_OUT)
    two = held_out.append_column("price", pa.array(PRICE[HELD_OUT])).append_column("note", pa.array(GRADE[HELD_OUT]))
    csv.write_csv(two, folder / "two.csv")
    csv.write_csv(pa.table({"age": [1.0]}), folder / "wrong.csv")
    named = [folder / argument if argument.endswith((".csv", ".epib", ".json")) else argument for argument in arguments]
    ended = epiboost("evaluate", *named)
    assert ended.exit_code == 2
    assert ended.stderr.count("\n") == 1
    assert words in ended.stderr
