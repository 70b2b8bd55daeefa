"""A table is its numbers: whoever holds them, in whatever order of memory, the model has the same bits."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor

NAMES = ["a", "b", "c", "d"]
KINDS = ["single", "sgb", "sglb", "virtual"]
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}

every_frame = pytest.mark.parametrize("library", sorted(FRAMES))
every_estimator = pytest.mark.parametrize("estimator", [EpiBoostRegressor, EpiBoostClassifier])


def numbers():
    """Return numbers that single precision holds exactly, many of them distinct."""
    random = np.random.default_rng(0)
    return random.integers(-4000, 4000, size=(400, 4)) / 64.0


X = numbers()
WHOLE = X.round()
HOLES = np.where(np.random.default_rng(1).uniform(size=X.shape) < 0.1, np.nan, X)
Y = X[:, 0] - X[:, 1] + np.random.default_rng(2).normal(size=400)


def small(estimator=EpiBoostRegressor, **parameters):
    defaults = {"n_members": 3, "n_estimators": 12, "max_depth": 4, "n_jobs": 1, "random_state": 0}
    return estimator(**{**defaults, **parameters})


def bits(table, estimator=EpiBoostRegressor, **parameters):
    """Train on a table and predict it."""
    y = Y if estimator is EpiBoostRegressor else Y > 0
    return small(estimator, **parameters).fit(table, y).predict_posterior(table).parameters


def columns(table):
    return {name: table[:, place] for place, name in enumerate(NAMES)}


def nullable(table, dtype):
    """Return a pandas frame of one of its types that know NA."""
    values = {
        name: pd.array([pd.NA if np.isnan(value) else value for value in column], dtype=dtype)
        for name, column in columns(table).items()
    }
    return pd.DataFrame(values)


def with_nulls(table):
    """Return columns in which None stands for missing values."""
    return {name: [None if np.isnan(v) else float(v) for v in column] for name, column in columns(table).items()}


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

FRAMES_WITH_HOLES = {
    "pandas": lambda table: pd.DataFrame(columns(table)),
    "pandas, single precision": lambda table: pd.DataFrame(columns(table)).astype(np.float32),
    "pandas Float64": lambda table: nullable(table, "Float64"),
    "pandas Float32": lambda table: nullable(table, "Float32"),
    "pandas over Arrow": lambda table: nullable(table, "double[pyarrow]"),
    "polars with NaN": lambda table: pl.DataFrame(columns(table)),
    "polars with nulls": lambda table: pl.DataFrame(with_nulls(table)),
    "polars, single precision": lambda table: pl.DataFrame(with_nulls(table)).cast(pl.Float32),
    "pyarrow with NaN": lambda table: pa.table(columns(table)),
    "pyarrow with nulls": lambda table: pa.table(with_nulls(table)),
    "pyarrow in chunks": lambda table: pa.concat_tables([pa.table(with_nulls(part)) for part in np.split(table, 4)]),
}

FRAMES_OF_WHOLE_NUMBERS = {
    "int64": lambda table: table.astype(np.int64),
    "int16": lambda table: table.astype(np.int16),
    "pandas": lambda table: pd.DataFrame(columns(table.astype(int))),
    "pandas Int64": lambda table: nullable(table, "Int64"),
    "pandas Int16": lambda table: nullable(table, "Int16"),
    "polars": lambda table: pl.DataFrame(columns(table.astype(int))),
    "polars int32": lambda table: pl.DataFrame(columns(table.astype(np.int32))),
    "pyarrow": lambda table: pa.table(columns(table.astype(int))),
}


@pytest.mark.parametrize("holes", [False, True], ids=["full", "with holes"])
@pytest.mark.parametrize("form", sorted(ARRAYS))
@every_estimator
def test_an_array_in_any_form_gives_the_same_bits(form, holes, estimator):
    table = HOLES if holes else X
    np.testing.assert_array_equal(bits(ARRAYS[form](table), estimator), bits(table, estimator))


@pytest.mark.parametrize("form", sorted(FRAMES_WITH_HOLES))
@every_estimator
def test_a_frame_of_any_library_gives_the_same_bits(form, estimator):
    np.testing.assert_array_equal(bits(FRAMES_WITH_HOLES[form](HOLES), estimator), bits(HOLES, estimator))


@pytest.mark.parametrize("kind", KINDS)
@every_frame
def test_every_kind_of_ensemble_takes_every_frame(kind, library):
    frame = FRAMES[library](columns(HOLES))
    np.testing.assert_array_equal(bits(frame, ensemble=kind), bits(HOLES, ensemble=kind))


@pytest.mark.parametrize("form", sorted(FRAMES_OF_WHOLE_NUMBERS))
def test_whole_numbers_give_the_bits_of_the_same_floats(form):
    np.testing.assert_array_equal(bits(FRAMES_OF_WHOLE_NUMBERS[form](WHOLE)), bits(WHOLE))


def test_missing_whole_numbers_of_pandas_are_missing():
    holes = np.where(np.isnan(HOLES), np.nan, WHOLE)
    np.testing.assert_array_equal(bits(nullable(holes, "Int64")), bits(holes))


@pytest.mark.parametrize(
    "make",
    [
        lambda table: table > 0,
        lambda table: pd.DataFrame(columns(table > 0)),
        lambda table: pd.DataFrame(columns(table > 0)).astype("boolean"),
        lambda table: pl.DataFrame(columns(table > 0)),
        lambda table: pa.table(columns(table > 0)),
    ],
    ids=["numpy", "pandas", "pandas boolean", "polars", "pyarrow"],
)
def test_booleans_are_zero_and_one(make):
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
def test_missing_booleans_are_missing(make):
    values = {name: [None if np.isnan(v) else bool(v > 0) for v in column] for name, column in columns(HOLES).items()}
    np.testing.assert_array_equal(bits(make(values)), bits(np.where(np.isnan(HOLES), np.nan, HOLES > 0)))


@every_frame
def test_columns_of_different_types_stand_side_by_side(library):
    values = {"a": X[:, 0], "b": X[:, 1].astype(np.float32), "c": WHOLE[:, 2].astype(np.int32), "d": X[:, 3] > 0}
    plain = np.stack([X[:, 0], X[:, 1], WHOLE[:, 2], X[:, 3] > 0], axis=1)
    np.testing.assert_array_equal(bits(FRAMES[library](values)), bits(plain))


@every_frame
def test_large_whole_numbers_keep_their_digits_beside_single_precision(library):
    large = 2**40 + np.arange(400)
    frame = FRAMES[library]({"a": large, "b": np.zeros(400, dtype=np.float32)})
    model = small(n_estimators=60, learning_rate=0.3).fit(frame, np.arange(400.0))
    assert model.score(frame, np.arange(400.0)) > 0.8


def test_a_model_predicts_the_same_for_every_holder_of_the_numbers():
    model = small().fit(HOLES, Y)
    expected = model.predict(HOLES)
    for form, make in ARRAYS.items():
        np.testing.assert_array_equal(model.predict(make(HOLES)), expected, err_msg=form)
    model = small().fit(pd.DataFrame(columns(HOLES)), Y)
    for form, make in FRAMES_WITH_HOLES.items():
        np.testing.assert_array_equal(model.predict(make(HOLES)), expected, err_msg=form)


def test_single_precision_is_compared_with_the_borders_as_it_is():
    """Borders lie in double precision between single-precision neighbours, and both sides must fall right."""
    low = np.float32(1.0)
    high = np.nextafter(low, np.float32(2.0))
    table = np.array([[low], [high]] * 50, dtype=np.float32)
    y = np.array([0.0, 1.0] * 50)
    model = small(n_estimators=60, learning_rate=0.5, variance_guard=0.0).fit(table, y)
    assert model.score(table, y) > 0.9
    np.testing.assert_array_equal(model.predict(table.astype(np.float64)), model.predict(table))


@pytest.mark.parametrize("make", [pd.Series, pl.Series, lambda y: pa.chunked_array([pa.array(y)]), pa.array, list])
def test_a_target_may_be_held_by_any_library(make):
    np.testing.assert_array_equal(small().fit(X, make(Y)).predict(X), small().fit(X, Y).predict(X))


@pytest.mark.parametrize("make", [pd.Series, pl.Series, lambda w: pa.chunked_array([pa.array(w)]), list])
def test_weights_may_be_held_by_any_library(make):
    weight = np.random.default_rng(3).uniform(0.5, 2.0, size=400)
    expected = small().fit(X, Y, sample_weight=weight).predict(X)
    np.testing.assert_array_equal(small().fit(X, Y, sample_weight=make(weight)).predict(X), expected)


@every_frame
def test_evaluation_rows_may_be_a_frame(library):
    frame = FRAMES[library](columns(X))
    expected = small().fit(X, Y, eval_set=(X, Y)).evaluation_loss_
    np.testing.assert_array_equal(small().fit(frame, Y, eval_set=(frame, Y)).evaluation_loss_, expected)


def test_the_index_of_a_frame_does_not_matter():
    order = np.random.default_rng(4).permutation(400)
    frame = pd.DataFrame(columns(X), index=order)
    y = pd.Series(Y, index=order[::-1])
    np.testing.assert_array_equal(small().fit(frame, y).predict(frame), small().fit(X, Y).predict(X))


# Names


@every_frame
@every_estimator
def test_the_names_of_columns_are_kept(library, estimator):
    model = small(estimator).fit(FRAMES[library](columns(X)), Y if estimator is EpiBoostRegressor else Y > 0)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.n_features_in_ == 4


@pytest.mark.parametrize("table", [X, X.tolist(), pd.DataFrame(X)], ids=["array", "lists", "numbered columns"])
def test_columns_without_names_have_none(table):
    model = small().fit(table, Y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 4


def test_names_are_forgotten_when_a_nameless_table_is_learned():
    model = small().fit(pd.DataFrame(columns(X)), Y).fit(X, Y)
    assert not hasattr(model, "feature_names_in_")


# Missing values say something


@pytest.mark.parametrize("kind", KINDS)
def test_that_a_value_is_missing_is_learned(kind):
    random = np.random.default_rng(5)
    table = random.normal(size=(300, 2))
    missing = random.uniform(size=300) < 0.4
    table[missing, 0] = np.nan
    y = 3.0 * missing + random.normal(scale=0.1, size=300)
    model = small(ensemble=kind, n_estimators=60, learning_rate=0.3).fit(table, y)
    present, absent = model.predict([[0.0, 0.0], [np.nan, 0.0]])
    assert abs(present - 0.0) < 0.3
    assert abs(absent - 3.0) < 0.3


@every_frame
def test_that_a_label_goes_with_a_missing_value_is_learned(library):
    random = np.random.default_rng(6)
    missing = random.uniform(size=300) < 0.5
    values = [None if gone else float(value) for gone, value in zip(missing, random.normal(size=300), strict=True)]
    frame = FRAMES[library]({"a": values, "b": random.normal(size=300)})
    labels = np.where(missing, "gone", "there")
    model = small(EpiBoostClassifier, n_estimators=40, learning_rate=0.3).fit(frame, labels)
    assert model.score(frame, labels) == 1.0


def test_a_value_missing_for_the_first_time_is_predicted_as_the_lowest():
    table = np.linspace(0.0, 1.0, 200)[:, np.newaxis]
    model = small(n_estimators=60, learning_rate=0.3).fit(table, table[:, 0])
    np.testing.assert_array_equal(model.predict([[np.nan]]), model.predict([[-1.0]]))


@every_estimator
def test_the_table_of_the_user_is_left_as_it_was(estimator):
    table, y = HOLES.copy(), (Y if estimator is EpiBoostRegressor else Y > 0).copy()
    weight = np.arange(1.0, 401.0)
    before = table.tobytes(), y.tobytes(), weight.tobytes()
    small(estimator).fit(table, y, sample_weight=weight).predict(table)
    assert (table.tobytes(), y.tobytes(), weight.tobytes()) == before
