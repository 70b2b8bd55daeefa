"""Tables of the same numbers give the same model, whatever their type, library and memory layout."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.support.compare import parameters_of
from tests.support.frames import FRAMES, every_library, named_columns
from tests.support.models import every_ensemble, every_estimator, small_classifier, small_estimator, small_regressor
from tests.support.tables import with_missing


def numbers():
    """Return numbers that single precision holds exactly, many of them distinct."""
    random = np.random.default_rng(0)
    return random.integers(-4000, 4000, size=(400, 4)) / 64.0


X = numbers()
INTEGERS = X.round()
X_MISSING = with_missing(X, seed=1)
Y = X[:, 0] - X[:, 1] + np.random.default_rng(2).normal(size=400)
TARGETS = {"regressor": Y, "classifier": Y > 0}


def bits(table, estimator="regressor", **changes):
    """Return what a model that was trained on a table predicts for it."""
    return parameters_of(small_estimator(estimator, **changes).fit(table, TARGETS[estimator]), table)


def nullable(table, dtype):
    """Return a pandas frame with columns of a nullable type."""
    values = {
        name: pd.array([pd.NA if np.isnan(value) else value for value in column], dtype=dtype)
        for name, column in named_columns(table).items()
    }
    return pd.DataFrame(values)


def with_nulls(table):
    """Return columns in which None stands for missing values."""
    return {name: [None if np.isnan(v) else float(v) for v in column] for name, column in named_columns(table).items()}


def strided(table):
    large = np.full((2 * len(table), 3 * table.shape[1]), np.nan)
    large[::2, ::3] = table
    return large[::2, ::3]


def reversed_in_memory(table):
    return np.ascontiguousarray(table[::-1, ::-1])[::-1, ::-1]


ARRAYS = {
    "single precision": lambda table: table.astype(np.float32),
    "column by column": np.asfortranarray,
    "strided": strided,
    "backwards": reversed_in_memory,
    "big-endian": lambda table: table.astype(">f8"),
    "long double": lambda table: table.astype(np.longdouble),
    "objects": lambda table: table.astype(object),
    "lists": lambda table: table.tolist(),
    "single precision, column by column": lambda table: np.asfortranarray(table.astype(np.float32)),
    "single precision, strided": lambda table: strided(table).astype(np.float32)[:, :],
}

FRAMES_WITH_MISSING = {
    "pandas": lambda table: pd.DataFrame(named_columns(table)),
    "pandas, single precision": lambda table: pd.DataFrame(named_columns(table)).astype(np.float32),
    "pandas Float64": lambda table: nullable(table, "Float64"),
    "pandas Float32": lambda table: nullable(table, "Float32"),
    "pandas over Arrow": lambda table: nullable(table, "double[pyarrow]"),
    "polars with NaN": lambda table: pl.DataFrame(named_columns(table)),
    "polars with nulls": lambda table: pl.DataFrame(with_nulls(table)),
    "polars, single precision": lambda table: pl.DataFrame(with_nulls(table)).cast(pl.Float32),
    "pyarrow with NaN": lambda table: pa.table(named_columns(table)),
    "pyarrow with nulls": lambda table: pa.table(with_nulls(table)),
    "pyarrow in chunks": lambda table: pa.concat_tables([pa.table(with_nulls(part)) for part in np.split(table, 4)]),
}

TABLES_OF_INTEGERS = {
    "int64": lambda table: table.astype(np.int64),
    "int16": lambda table: table.astype(np.int16),
    "pandas": lambda table: pd.DataFrame(named_columns(table.astype(int))),
    "pandas Int64": lambda table: nullable(table, "Int64"),
    "pandas Int16": lambda table: nullable(table, "Int16"),
    "polars": lambda table: pl.DataFrame(named_columns(table.astype(int))),
    "polars int32": lambda table: pl.DataFrame(named_columns(table.astype(np.int32))),
    "pyarrow": lambda table: pa.table(named_columns(table.astype(int))),
}


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("form", sorted(ARRAYS))
@every_estimator
def test_arrays_of_any_type_and_memory_layout_give_the_same_bits(form, missing, estimator):
    table = X_MISSING if missing else X
    np.testing.assert_array_equal(bits(ARRAYS[form](table), estimator), bits(table, estimator))


@pytest.mark.parametrize("form", sorted(FRAMES_WITH_MISSING))
@every_estimator
def test_frames_of_any_library_and_type_give_the_same_bits(form, estimator):
    np.testing.assert_array_equal(bits(FRAMES_WITH_MISSING[form](X_MISSING), estimator), bits(X_MISSING, estimator))


@every_ensemble
@every_library
def test_every_ensemble_accepts_frames_of_every_library(ensemble, library):
    frame = FRAMES[library](named_columns(X_MISSING))
    np.testing.assert_array_equal(bits(frame, ensemble=ensemble), bits(X_MISSING, ensemble=ensemble))


@pytest.mark.parametrize("form", sorted(TABLES_OF_INTEGERS))
def test_integers_give_the_same_bits_as_floats(form):
    np.testing.assert_array_equal(bits(TABLES_OF_INTEGERS[form](INTEGERS)), bits(INTEGERS))


def test_missing_integers_of_pandas_are_read_as_missing():
    incomplete = np.where(np.isnan(X_MISSING), np.nan, INTEGERS)
    np.testing.assert_array_equal(bits(nullable(incomplete, "Int64")), bits(incomplete))


@pytest.mark.parametrize(
    "make",
    [
        lambda table: table > 0,
        lambda table: pd.DataFrame(named_columns(table > 0)),
        lambda table: pd.DataFrame(named_columns(table > 0)).astype("boolean"),
        lambda table: pl.DataFrame(named_columns(table > 0)),
        lambda table: pa.table(named_columns(table > 0)),
    ],
    ids=["numpy", "pandas", "pandas boolean", "polars", "pyarrow"],
)
def test_booleans_are_read_as_zero_and_one(make):
    np.testing.assert_array_equal(bits(make(X)), bits((X > 0).astype(float)))


@pytest.mark.parametrize(
    "make",
    [
        lambda values: pd.DataFrame({name: pd.array(column, dtype="boolean") for name, column in values.items()}),
        pl.DataFrame,
        pa.table,
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_missing_booleans_are_read_as_missing(make):
    values = {
        name: [None if np.isnan(v) else bool(v > 0) for v in column]
        for name, column in named_columns(X_MISSING).items()
    }
    np.testing.assert_array_equal(bits(make(values)), bits(np.where(np.isnan(X_MISSING), np.nan, X_MISSING > 0)))


@every_library
def test_columns_of_different_types_may_be_mixed(library):
    values = {"a": X[:, 0], "b": X[:, 1].astype(np.float32), "c": INTEGERS[:, 2].astype(np.int32), "d": X[:, 3] > 0}
    plain = np.stack([X[:, 0], X[:, 1], INTEGERS[:, 2], X[:, 3] > 0], axis=1)
    np.testing.assert_array_equal(bits(FRAMES[library](values)), bits(plain))


@every_library
def test_large_integers_beside_single_precision_keep_their_digits(library):
    large = 2**40 + np.arange(400)
    frame = FRAMES[library]({"a": large, "b": np.zeros(400, dtype=np.float32)})
    model = small_regressor(n_estimators=60, learning_rate=0.3).fit(frame, np.arange(400.0))
    assert model.score(frame, np.arange(400.0)) > 0.8


def test_predictions_are_the_same_for_tables_of_any_type():
    model = small_regressor().fit(X_MISSING, Y)
    expected = model.predict(X_MISSING)
    for form, make in ARRAYS.items():
        np.testing.assert_array_equal(model.predict(make(X_MISSING)), expected, err_msg=form)
    model = small_regressor().fit(pd.DataFrame(named_columns(X_MISSING)), Y)
    for form, make in FRAMES_WITH_MISSING.items():
        np.testing.assert_array_equal(model.predict(make(X_MISSING)), expected, err_msg=form)


def test_neighbouring_single_precision_values_fall_on_the_right_side_of_a_border():
    """Borders are in double precision and lie between neighbouring single-precision values."""
    low = np.float32(1.0)
    high = np.nextafter(low, np.float32(2.0))
    table = np.array([[low], [high]] * 50, dtype=np.float32)
    y = np.array([0.0, 1.0] * 50)
    model = small_regressor(n_estimators=60, learning_rate=0.5, variance_guard=0.0).fit(table, y)
    assert model.score(table, y) > 0.9
    np.testing.assert_array_equal(model.predict(table.astype(np.float64)), model.predict(table))


@pytest.mark.parametrize("make", [pd.Series, pl.Series, lambda y: pa.chunked_array([pa.array(y)]), pa.array, list])
def test_a_target_of_any_library_is_accepted(make):
    np.testing.assert_array_equal(small_regressor().fit(X, make(Y)).predict(X), small_regressor().fit(X, Y).predict(X))


@pytest.mark.parametrize("make", [pd.Series, pl.Series, lambda w: pa.chunked_array([pa.array(w)]), list])
def test_weights_of_any_library_are_accepted(make):
    weight = np.random.default_rng(3).uniform(0.5, 2.0, size=400)
    expected = small_regressor().fit(X, Y, sample_weight=weight).predict(X)
    np.testing.assert_array_equal(small_regressor().fit(X, Y, sample_weight=make(weight)).predict(X), expected)


@every_library
def test_evaluation_rows_may_be_a_frame(library):
    frame = FRAMES[library](named_columns(X))
    expected = small_regressor().fit(X, Y, eval_set=(X, Y)).evaluation_loss_
    np.testing.assert_array_equal(small_regressor().fit(frame, Y, eval_set=(frame, Y)).evaluation_loss_, expected)


def test_the_index_of_a_frame_is_ignored():
    order = np.random.default_rng(4).permutation(400)
    frame = pd.DataFrame(named_columns(X), index=order)
    y = pd.Series(Y, index=order[::-1])
    np.testing.assert_array_equal(
        small_regressor().fit(frame, y).predict(frame), small_regressor().fit(X, Y).predict(X)
    )


# Names


@every_library
@every_estimator
def test_column_names_are_kept(library, estimator):
    model = small_estimator(estimator).fit(FRAMES[library](named_columns(X)), TARGETS[estimator])
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert model.n_features_in_ == 4


@pytest.mark.parametrize("table", [X, X.tolist(), pd.DataFrame(X)], ids=["array", "lists", "numbered columns"])
def test_tables_without_column_names_have_no_feature_names(table):
    model = small_regressor().fit(table, Y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 4


def test_a_second_fit_without_column_names_removes_the_first_names():
    model = small_regressor().fit(pd.DataFrame(named_columns(X)), Y).fit(X, Y)
    assert not hasattr(model, "feature_names_in_")


# Missing values


@every_ensemble
def test_missing_values_are_learned(ensemble):
    random = np.random.default_rng(5)
    table = random.normal(size=(300, 2))
    missing = random.uniform(size=300) < 0.4
    table[missing, 0] = np.nan
    y = 3.0 * missing + random.normal(scale=0.1, size=300)
    model = small_regressor(ensemble=ensemble, n_estimators=60, learning_rate=0.3).fit(table, y)
    present, absent = model.predict([[0.0, 0.0], [np.nan, 0.0]])
    assert abs(present - 0.0) < 0.3
    assert abs(absent - 3.0) < 0.3


@every_library
def test_labels_that_depend_on_missing_values_are_learned(library):
    random = np.random.default_rng(6)
    missing = random.uniform(size=300) < 0.5
    values = [None if gone else float(value) for gone, value in zip(missing, random.normal(size=300), strict=True)]
    frame = FRAMES[library]({"a": values, "b": random.normal(size=300)})
    labels = np.where(missing, "gone", "there")
    model = small_classifier(n_estimators=40, learning_rate=0.3).fit(frame, labels)
    assert model.score(frame, labels) == 1.0


def test_a_value_missing_for_the_first_time_is_predicted_like_the_lowest():
    table = np.linspace(0.0, 1.0, 200)[:, np.newaxis]
    model = small_regressor(n_estimators=60, learning_rate=0.3).fit(table, table[:, 0])
    np.testing.assert_array_equal(model.predict([[np.nan]]), model.predict([[-1.0]]))


@every_estimator
def test_fit_and_predict_do_not_change_the_arrays_they_are_given(estimator):
    table, y = X_MISSING.copy(), TARGETS[estimator].copy()
    weight = np.arange(1.0, 401.0)
    before = table.tobytes(), y.tobytes(), weight.tobytes()
    small_estimator(estimator).fit(table, y, sample_weight=weight).predict(table)
    assert (table.tobytes(), y.tobytes(), weight.tobytes()) == before
