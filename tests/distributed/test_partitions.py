"""Models learn from tables in Dask partitions, and are the same as from memory. No cluster is needed."""

import sys

import numpy as np
import pytest

from epiboost._inputs.dask_collections import dask_kind
from epiboost.distributed.cluster import ClusterError
from tests.support.compare import TREES, assert_same_trees
from tests.support.dask_tables import NAMES, da, dd, frame_with_missing, in_chunks, in_partitions, lazy_grades
from tests.support.models import small_classifier, small_regressor
from tests.support.tables import three_grades

ROWS = 900
COLLECTIONS = {"frame": in_partitions, "array": in_chunks}


@pytest.fixture(scope="module")
def table():
    return frame_with_missing(ROWS)


@pytest.fixture(scope="module")
def weight():
    """Return weights of zero, one and two."""
    return np.random.default_rng(1).integers(0, 3, size=ROWS).astype(float)


@pytest.fixture(scope="module")
def regressor(table):
    return small_regressor().fit(*table)


@pytest.fixture(params=COLLECTIONS)
def collect(request):
    """Return a function that makes Dask collections of a table and its target."""
    return COLLECTIONS[request.param]


def assert_same_model(one, other):
    """Assert that two models have the same trees, evaluation losses and borders."""
    assert_same_trees(one, other, (*TREES, "evaluation"))
    np.testing.assert_array_equal(one.forest_.bins.borders, other.forest_.bins.borders)


# Learning from partitions


def test_partitions_give_the_same_bits_as_a_table_in_memory(table, collect, regressor):
    assert_same_model(small_regressor().fit(*collect(table)), regressor)


@pytest.mark.parametrize("parts", [1, 7])
def test_with_given_borders_the_number_of_partitions_does_not_change_the_bits(table, parts, monkeypatch):
    monkeypatch.setattr("epiboost.distributed.sketch._MAX_POINTS", 20)  # a sketch would be inexact
    params = {"engine_params": {"borders": [[-1.0, 0.0, 1.0], [0.5], []]}}
    local = small_regressor(**params).fit(*table)
    assert_same_model(small_regressor(**params).fit(*in_partitions(table, parts)), local)


def test_weights_and_rows_of_weight_zero_act_as_in_memory(table, weight, collect):
    local = small_regressor().fit(*table, sample_weight=weight)
    X, y = collect(table)
    assert_same_model(small_regressor().fit(X, y, sample_weight=weight), local)
    lazy = da.from_array(weight, chunks=100)
    model = small_regressor().fit(X, y, sample_weight=lazy)
    assert_same_model(model, local)
    assert model.provenance_.n_rows == local.provenance_.n_rows == np.count_nonzero(weight)


def test_labels_in_a_lazy_series_are_learned(table):
    X, y = in_partitions(table)
    model = small_classifier().fit(X, lazy_grades(y))
    local = small_classifier().fit(table[0], three_grades(table[1], [0, 1]))
    assert model.classes_.tolist() == local.classes_.tolist()
    assert_same_model(model, local)


@pytest.mark.parametrize("lazy", [False, True], ids=["memory", "partitions"])
def test_an_evaluation_set_stops_training_as_in_memory(table, lazy):
    X, y = table
    local = small_regressor(early_stopping_rounds=3).fit(X, y, eval_set=(X[:300], 1.2 * y[:300]))
    lazy_X, lazy_y = in_partitions(table)
    evaluation = in_partitions((X[:300], 1.2 * y[:300]), 3) if lazy else (X[:300], 1.2 * y[:300])
    model = small_regressor(early_stopping_rounds=3).fit(lazy_X, lazy_y, eval_set=evaluation)
    assert_same_model(model, local)


def test_empty_partitions_do_not_change_the_model(table, regressor):
    X, y = in_partitions(table)
    empty = X["a"] < -100
    model = small_regressor().fit(dd.concat([X[empty], X]), dd.concat([y[empty], y]))
    assert_same_model(model, regressor)


def test_column_names_of_a_lazy_frame_are_checked_at_prediction(table):
    model = small_regressor().fit(*in_partitions(table))
    assert model.feature_names_in_.tolist() == NAMES
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[0].rename(columns={"a": "z"}))


# Errors


INVALID_TABLES = {
    "rows": (lambda X, y: (X, y.to_dask_array(lengths=True)[:-1]), ValueError, "X has 900 rows, y 899"),
    "more targets": (lambda X, y: (X.partitions[1:], y), ValueError, "inconsistent numbers of samples"),
    "infinite": (lambda X, y: (X.assign(a=np.inf), y), ValueError, "infinity"),
    "categories": (lambda X, y: (X.assign(a="Oslo"), y), ValueError, r"categorical columns, at the positions \[0\]"),
    "target alone": (lambda X, y: (X.compute(), y), TypeError, "y is a Dask series"),
    "missing targets": (lambda X, y: (X, y.where(y < 1)), ValueError, "y contains NaN"),
    "a column": (lambda X, y: (X["a"], y), ValueError, "X must be a Dask frame, or a Dask array with rows and columns"),
}


@pytest.mark.parametrize("case", INVALID_TABLES)
def test_an_invalid_lazy_table_raises_a_clear_error_and_leaves_no_model(table, case):
    spoil, error, message = INVALID_TABLES[case]
    model = small_regressor().fit(*table)
    with pytest.raises(error, match=message):
        model.fit(*spoil(*in_partitions(table)))
    assert not hasattr(model, "forest_")


def test_engines_that_need_the_table_in_memory_refuse_partitions(table):
    with pytest.raises(TypeError, match="engine='forest' needs X in memory; 'native' and 'xgboost' take Dask"):
        small_regressor(engine="forest", ensemble="sgb").fit(*in_partitions(table))


INVALID_BORDERS = {
    "order": ([[1.0, 0.0], [], []], "column 0 has"),
    "number": ([[np.inf], [], []], "finite, ascending numbers"),
    "many": ([[0.0], list(range(255)), []], "max_bins=255 allows 254 borders per column; column 1 has 255"),
    "width": ([[0.0]], "borders are given for 1 columns; X has 3"),
}


@pytest.mark.parametrize("case", INVALID_BORDERS)
@pytest.mark.parametrize("lazy", [False, True], ids=["memory", "partitions"])
def test_borders_that_do_not_ascend_or_fit_the_table_are_refused(table, case, lazy):
    borders, message = INVALID_BORDERS[case]
    with pytest.raises(ValueError, match=message):
        small_regressor(engine_params={"borders": borders}).fit(*(in_partitions(table) if lazy else table))


def test_nothing_is_a_dask_collection_when_dask_is_not_imported(monkeypatch, table):
    X, _ = in_partitions(table)
    assert dask_kind(X) == "frame"
    monkeypatch.delitem(sys.modules, "dask")
    assert dask_kind(X) is None


def test_the_error_without_a_client_says_how_to_get_one(table):
    pytest.importorskip("distributed")
    with pytest.raises(ClusterError, match=r"fit inside `with distributed.Client\(...\):`"):
        small_regressor(n_jobs="dask").fit(*table)


def test_the_error_without_distributed_names_the_extra(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"n_jobs='dask' needs the package 'distributed'; .*'epiboost\[dask\]'"):
        small_regressor(n_jobs="dask").fit(*table)
