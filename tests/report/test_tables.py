"""Reports accept any table and any targets that fit, and refuse the others."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from epiboost import EpiBoostClassifier, EpiBoostRegressor

pytest.importorskip("jinja2", reason="reports need jinja2")
pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
pytest.importorskip("shap", reason="reports need shap")

from epiboost.report import report
from epiboost.report.significance import error_by_chance, gain_in_standard_errors
from tests.support.report_tables import FRAME, GRADE, HELD_OUT, OTHER, PRICE, SMALL, TRAIN, text_of


def test_without_targets_the_report_has_no_errors(models):
    model, _ = models["regressor"]
    page = report(model, FRAME[HELD_OUT], X_ood=OTHER)
    words = text_of(page.html)
    assert "No targets were given" in words
    assert page.facts.quality is None
    assert page.facts.domain.auc > 0.5
    assert "error of accepted rows" in words


def test_the_page_says_which_uncertainty_a_model_lacks(models):
    for kind, words in (("single", "a single member has none"), ("forest", "predict a mean without a variance")):
        model, y = models[kind]
        columns = ["size", "age"] if kind == "forest" else list(FRAME)
        assert words in text_of(report(model, FRAME[columns][HELD_OUT], y[HELD_OUT], explain=False).html)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_of_any_library_and_order_of_columns_show_the_same_rows(models, library):
    model, y = models["regressor"]
    columns = {name: FRAME[name][HELD_OUT].tolist() for name in ("town", "age", "size")}
    page = report(model, library(columns), y[HELD_OUT], explain=False)
    plain = report(model, FRAME[HELD_OUT], y[HELD_OUT], explain=False)
    assert page.html == plain.html


def test_arrays_and_lists_are_shown_by_position():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = EpiBoostRegressor(**SMALL).fit(X, X[:, 0])
    page = report(model, X.tolist(), X[:, 0].tolist())
    assert page.facts.uncertain_rows.names == ("x0", "x1")


def test_a_pipeline_is_reported_with_the_columns_that_it_is_given():
    frame = FRAME[["size", "age"]]
    pipeline = make_pipeline(StandardScaler(), EpiBoostRegressor(**SMALL)).fit(frame[TRAIN], PRICE[TRAIN])
    facts = report(pipeline, frame[HELD_OUT], PRICE[HELD_OUT]).facts
    assert set(facts.uncertain_rows.names) == {"size", "age"}
    row = int(facts.uncertain_rows.row[0])
    shown = facts.uncertain_rows.cells[0][facts.uncertain_rows.names.index("size")]
    assert float(shown) == pytest.approx(frame["size"][HELD_OUT].iloc[row], rel=1e-3)


@pytest.mark.parametrize("n_rows", [1, 2, 5, 19, 20])
def test_few_rows_have_a_report(models, n_rows):
    for kind in ("regressor", "classifier", "calibrated classifier"):
        model, y = models[kind]
        page = report(model, FRAME[HELD_OUT][:n_rows], y[HELD_OUT][:n_rows], X_ood=OTHER[:n_rows])
        assert len(page.facts.uncertain_rows.row) == n_rows


def test_constant_targets_missing_values_and_new_categories_have_a_report():
    X = FRAME[TRAIN].assign(age=np.nan)
    model = EpiBoostRegressor(**SMALL).fit(X, np.ones(150))
    quality = report(model, X, np.ones(150)).facts.quality
    assert (quality.baseline, quality.constant_target) == (0.0, "1")
    unseen = FRAME[HELD_OUT].assign(town="elsewhere", size=np.nan)
    model = EpiBoostClassifier(**SMALL).fit(FRAME[TRAIN], GRADE[TRAIN])
    page = report(model, unseen, GRADE[HELD_OUT])
    assert page.facts.out_of_domain.new_values.n_unseen == 150
    assert "150 rows of this table hold a value not seen in training (size, town)" in text_of(page.html)
    assert "missing" in page.html


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (PRICE[:3], "y must hold one target per row, shape \\(150,\\); got shape \\(3,\\)"),
        (np.full(150, "strange"), "strange"),
        (np.full(150, None), "y"),
    ],
)
def test_targets_that_do_not_fit_are_refused(models, y, words):
    model, _ = models["classifier"]
    with pytest.raises(ValueError, match=words):
        report(model, FRAME[HELD_OUT], y, explain=False)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.where(np.arange(150) == 6, np.nan, 1.0), "y must hold finite numbers; got nan in row 7"),
        (np.full(150, "many"), "y must hold numbers, as the model is a regressor"),
    ],
)
def test_targets_that_are_not_numbers_are_refused(models, y, words):
    model, _ = models["regressor"]
    with pytest.raises(ValueError, match=words):
        report(model, FRAME[HELD_OUT], y, explain=False)


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"path": "/nowhere/at/all/report.html"}, FileNotFoundError, "'/nowhere/at/all' does not exist"),
        ({"path": "."}, IsADirectoryError, "is a folder"),
        ({"title": 5}, TypeError, "title must be a str"),
        ({"X_ood": "other.csv"}, TypeError, "not the name of a file; got 'other.csv'"),
    ],
)
def test_bad_options_are_refused_before_any_work(models, monkeypatch, options, kind, words):
    model, _ = models["regressor"]
    monkeypatch.setattr(type(model), "predict_posterior", lambda *_: pytest.fail("work was done"))
    with pytest.raises(kind, match=words):
        report(model, FRAME[HELD_OUT], **options)


def test_an_object_that_is_not_a_model_is_refused():
    with pytest.raises(TypeError, match="estimator must be a fitted model that predicts its uncertainty"):
        report(StandardScaler(), FRAME[HELD_OUT])


def test_columns_may_have_numbers_as_names():
    frame = FRAME[TRAIN].set_axis(range(FRAME.shape[1]), axis=1)
    page = report(EpiBoostRegressor(**SMALL).fit(frame, PRICE[TRAIN]), frame, PRICE[TRAIN], explain=False)
    assert page.facts.quality.error > 0.0


def test_the_gain_of_huge_losses_is_that_of_small_ones():
    small, baseline = np.random.default_rng(0).uniform(size=(2, 100))
    assert gain_in_standard_errors(1e250 * small, 1e250 * baseline) == pytest.approx(
        gain_in_standard_errors(small, baseline)
    )
    accepted = np.arange(100) < 90
    assert error_by_chance(1e250 * small, accepted) == pytest.approx(1e250 * error_by_chance(small, accepted))
