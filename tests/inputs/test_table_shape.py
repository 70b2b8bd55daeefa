"""Rows, columns and dimensions of a table: how few and how many are accepted."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.support.frames import FRAMES, every_library, named_columns
from tests.support.models import every_ensemble, every_estimator, small_estimator, small_regressor
from tests.support.tables import LABELS, TARGETS, X, Y

# Rows


@every_estimator
def test_a_table_without_rows_is_refused(estimator):
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        small_estimator(estimator).fit(X[:0], TARGETS[estimator][:0])


@every_estimator
def test_a_table_of_one_row_is_refused(estimator):
    with pytest.raises(ValueError, match=r"1 sample|only one class"):
        small_estimator(estimator).fit(X[:1], TARGETS[estimator][:1])


@every_ensemble
@every_estimator
def test_two_rows_are_enough(ensemble, estimator):
    rows = [int(LABELS.argmin()), int(LABELS.argmax())]
    model = small_estimator(estimator, ensemble=ensemble).fit(X[rows], TARGETS[estimator][rows])
    assert np.isfinite(model.predict_posterior(X).parameters).all()


# Columns


@every_estimator
def test_a_table_without_columns_is_refused(estimator):
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        small_estimator(estimator).fit(X[:, :0], TARGETS[estimator])


@every_ensemble
@every_estimator
@pytest.mark.parametrize("width", [1, 300])
def test_tables_of_one_and_of_many_columns_are_learned(ensemble, estimator, width):
    wide = np.random.default_rng(1).normal(size=(60, width))
    wide[:, -1] = X[:, 0]
    model = small_estimator(estimator, ensemble=ensemble, n_estimators=30, learning_rate=0.3).fit(
        wide, TARGETS[estimator]
    )
    assert model.score(wide, TARGETS[estimator]) > 0.3


def test_too_many_columns_are_refused_with_the_number_allowed():
    with pytest.raises(ValueError, match=r"65535.*70000|70000.*65535"):
        small_regressor(n_members=1, n_estimators=1).fit(np.ones((3, 70_000)), [0.0, 1.0, 2.0])


def test_a_column_of_a_million_values_is_learned():
    values = np.random.default_rng(0).integers(0, 1_000_000, size=(200_000, 1))
    y = np.sin(values[:, 0] / 1e5)
    model = small_regressor(n_members=2, n_estimators=10, learning_rate=0.3, n_jobs=2).fit(values, y)
    assert model.score(values, y) > 0.8


@every_ensemble
@every_estimator
def test_a_column_of_missing_values_is_never_split_on(ensemble, estimator):
    incomplete = X.copy()
    incomplete[:, 1] = np.nan
    model = small_estimator(estimator, ensemble=ensemble).fit(incomplete, TARGETS[estimator])
    assert model.score(incomplete, TARGETS[estimator]) > 0.1
    assert not (model.forest_.feature == 1).any()


@every_ensemble
@every_estimator
def test_constant_columns_are_never_split_on(ensemble, estimator):
    flat = X.copy()
    flat[:, 1:] = 7.0
    model = small_estimator(estimator, ensemble=ensemble).fit(flat, TARGETS[estimator])
    assert model.score(flat, TARGETS[estimator]) > 0.1
    assert not ((model.forest_.feature > 0) & (model.forest_.threshold < 255)).any()


@every_ensemble
@pytest.mark.parametrize("value", [np.nan, 1.0])
def test_a_table_of_one_value_gives_the_same_prediction_for_every_row(ensemble, value):
    model = small_regressor(ensemble=ensemble, n_estimators=40, learning_rate=0.3).fit(np.full((60, 2), value), Y)
    assert len(np.unique(model.predict(X[:, :2]))) == 1
    np.testing.assert_allclose(model.predict(X[:1, :2]), Y.mean(), atol=0.5 * Y.std())


# Dimensions


@every_estimator
@pytest.mark.parametrize("table", [X[0], X[np.newaxis], np.float64(1.0)])
def test_a_table_that_does_not_have_two_dimensions_is_refused(estimator, table):
    model = small_estimator(estimator).fit(X, TARGETS[estimator])
    with pytest.raises(ValueError, match=r"Expected 2D array|dim 3"):
        model.predict(table)
    with pytest.raises(ValueError, match=r"Expected 2D array|dim 3"):
        small_estimator(estimator).fit(table, TARGETS[estimator])


@pytest.mark.parametrize("values", [["x", "y"] * 30, Y], ids=["text", "numbers"])
@pytest.mark.parametrize(
    "make",
    [
        pd.Series,
        pl.Series,
        pa.array,
        lambda values: pa.chunked_array([values]),
        lambda values: np.array(values, object),
    ],
    ids=["pandas", "polars", "Arrow", "Arrow chunks", "NumPy"],
)
def test_a_single_column_as_the_table_is_refused(make, values):
    with pytest.raises(ValueError, match="Expected 2D array"):
        small_regressor().fit(make(values), Y)


@pytest.mark.parametrize("table", [np.array(["x", "y"] * 30), ["x", "y"] * 30, np.full((60, 1, 1), "x")])
def test_text_that_does_not_have_two_dimensions_is_refused(table):
    with pytest.raises(ValueError, match=r"Expected 2D array, got (1|3)D array instead; X must have rows and columns"):
        small_regressor().fit(table, Y)


def test_a_dictionary_of_columns_is_refused_with_a_remedy():
    with pytest.raises(TypeError, match=r"X is a dict; make it a frame, say by pandas\.DataFrame\(X\)"):
        small_regressor().fit(named_columns(X), Y)


def test_a_lazy_frame_of_polars_is_refused_with_a_clear_error():
    with pytest.raises((TypeError, ValueError), match=r"[Ll]azy"):
        small_regressor().fit(pl.DataFrame(named_columns(X)).lazy(), Y)


# Columns at prediction


@every_estimator
@pytest.mark.parametrize("width", [1, 2, 4])
def test_a_different_number_of_columns_at_prediction_is_refused(estimator, width):
    model = small_estimator(estimator).fit(X, TARGETS[estimator])
    with pytest.raises(ValueError, match=f"X has {width} features, but .* is expecting 3 features"):
        model.predict(np.ones((5, width)))


@every_library
@pytest.mark.parametrize(
    ("names", "fault"),
    [("abz", "unseen at fit time:\n- z"), ("ab", "now missing:\n- c"), ("abcd", "unseen at fit time:\n- d")],
)
def test_columns_of_other_names_at_prediction_are_refused(library, names, fault):
    model = small_regressor().fit(FRAMES[library](named_columns(X)), Y)
    other = FRAMES[library](dict.fromkeys(names, Y))
    with pytest.raises(ValueError, match=fault):
        model.predict(other)


@every_library
def test_columns_in_another_order_are_matched_by_name(library):
    model = small_regressor().fit(pd.DataFrame(named_columns(X)), Y)
    shuffled = FRAMES[library]({name: named_columns(X)[name] for name in "cab"})
    np.testing.assert_array_equal(model.predict(shuffled), model.predict(pd.DataFrame(named_columns(X))))


@every_library
def test_column_names_are_matched_across_libraries(library):
    model = small_regressor().fit(pd.DataFrame(named_columns(X)), Y)
    frame = FRAMES[library](named_columns(X))
    np.testing.assert_array_equal(model.predict(frame), model.predict(pd.DataFrame(named_columns(X))))


def test_column_names_at_fit_or_at_predict_only_give_a_warning():
    with_names, without_names = small_regressor().fit(pd.DataFrame(named_columns(X)), Y), small_regressor().fit(X, Y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        with_names.predict(X)
    with pytest.warns(UserWarning, match="X has feature names"):
        without_names.predict(pd.DataFrame(named_columns(X)))


@pytest.mark.parametrize(
    "table",
    [pd.DataFrame(X, columns=list("aab")), pa.table([pa.array(Y)] * 3, names=list("aba"))],
    ids=["pandas", "Arrow"],
)
def test_two_columns_of_one_name_are_refused(table):
    with pytest.raises(ValueError, match=r"^X has more than one column named 'a'; columns need unique names$"):
        small_regressor().fit(table, Y)


def test_a_frame_without_columns_is_refused_for_its_columns():
    with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(60, 0\)\)"):
        small_regressor().fit(pd.DataFrame(X)[[]], Y)


def test_lengths_that_differ_are_named_once_each():
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[60, 59\]"):
        small_regressor().fit(X, Y[:-1])
