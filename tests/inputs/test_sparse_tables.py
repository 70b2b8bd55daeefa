"""Sparse tables: the bits of the dense table, whether they are made dense or not, and what is refused."""

import numpy as np
import pytest
import scipy.sparse

from epiboost import EpiBoostRegressor, load
from epiboost._binning.bins import Bins
from epiboost._binning.sparse_bins import bin_sparse
from epiboost._boosting import out_of_fold
from epiboost._inputs import sparse_table
from epiboost._inputs.sparse_table import SparseTable
from epiboost._inputs.user_table import original_values, select_rows
from tests.support.compare import parameters_of
from tests.support.models import every_estimator, small_classifier, small_estimator, small_regressor

RANDOM = np.random.default_rng(0)
X = np.where(RANDOM.uniform(size=(150, 6)) < 0.25, RANDOM.normal(size=(150, 6)), 0.0)
X[3, 1], X[4, 5], X[:, 4] = np.nan, -0.0, 0.0
TARGETS = {"regressor": X[:, 0] + RANDOM.normal(scale=0.1, size=150), "classifier": (X[:, 0] > 0.0).astype(int)}
WEIGHTS = {"none": None, "counts": np.tile([1.0, 2.0, 5.0], 50), "numbers": np.linspace(0.3, 2.0, 150)}
FOLDS = {"n_members": 2, "n_estimators": 10, "out_of_fold": 3, "keep_folds": True}
CONTAINERS = [
    scipy.sparse.csr_array,
    scipy.sparse.csc_matrix,
    scipy.sparse.coo_array,
    scipy.sparse.lil_array,
    scipy.sparse.dok_array,
]


@pytest.fixture
def never_dense(monkeypatch):
    """Keep all sparse tables sparse, in blocks of a few rows."""
    monkeypatch.setattr(sparse_table, "MAX_DENSE_BYTES", 40 * 6 * 8)
    monkeypatch.setattr(sparse_table, "_BLOCK_BYTES", 7 * 6 * 8)
    monkeypatch.setattr(out_of_fold, "_BLOCK_BYTES", 30 * 7 * 8)


@every_estimator
@pytest.mark.parametrize("container", CONTAINERS)
def test_a_small_sparse_table_is_the_dense_one(estimator, container):
    model = small_estimator(estimator, n_estimators=5).fit(X, TARGETS[estimator])
    expected = parameters_of(model, X)
    np.testing.assert_array_equal(parameters_of(model, container(X)), expected)
    np.testing.assert_array_equal(parameters_of(model.fit(container(X), TARGETS[estimator]), X), expected)


@every_estimator
@pytest.mark.parametrize(("dtype", "weight"), [("f8", "none"), ("f4", "counts"), ("f8", "numbers")])
@pytest.mark.usefixtures("never_dense")
def test_a_large_sparse_table_gives_the_bits_of_the_dense_one(estimator, dtype, weight):
    table, y = X.astype(dtype), TARGETS[estimator]
    sparse = scipy.sparse.csc_array(table)
    options = {"sample_weight": WEIGHTS[weight]}
    dense = small_estimator(estimator, **FOLDS).fit(table, y, eval_set=(table, y), **options)
    model = small_estimator(estimator, **FOLDS).fit(sparse, y, eval_set=(sparse, y), **options)
    np.testing.assert_array_equal(parameters_of(model, sparse), parameters_of(dense, table))
    np.testing.assert_array_equal(model.oof_prediction_, dense.oof_prediction_)
    np.testing.assert_array_equal(model.evaluation_loss_, dense.evaluation_loss_)
    expected = dense.predict_uncertainty(table, novelty=True)
    np.testing.assert_array_equal(model.predict_uncertainty(sparse, novelty=True).novelty, expected.novelty)
    for name in ("low", "high", "missing"):
        np.testing.assert_array_equal(getattr(model.feature_ranges_, name), getattr(dense.feature_ranges_, name))


@pytest.mark.usefixtures("never_dense")
def test_a_large_sparse_table_gives_the_capacity_and_the_guarantees_of_the_dense_one():
    sparse = scipy.sparse.csr_array(X)
    options = {"n_members": 5, "n_estimators": 10, "keep_folds": True, "n_jobs": 1, "random_state": 0}
    dense, model = (EpiBoostRegressor(**options).fit(table, TARGETS["regressor"]) for table in (X, sparse))
    assert model.capacity_ == dense.capacity_
    expected = dense.predict_interval(X, guarantee=True)
    np.testing.assert_array_equal(model.predict_interval(sparse, guarantee=True), expected)
    sets = small_classifier(**FOLDS).fit(sparse, TARGETS["classifier"])
    np.testing.assert_array_equal(sets.predict_set(sparse, guarantee=True), sets.predict_set(X, guarantee=True))


@pytest.mark.parametrize("is_large", [False, True])
def test_entries_that_are_not_stored_can_be_missing_values(is_large, request, tmp_path):
    if is_large:
        request.getfixturevalue("never_dense")
    sparse = scipy.sparse.csr_array(X)
    sparse.data[:5] = 0.0  # stored zeros are values
    dense = np.full(X.shape, np.nan)
    rows, columns = scipy.sparse.csr_array((np.ones(sparse.nnz), sparse.indices, sparse.indptr), X.shape).nonzero()
    dense[rows, columns] = sparse.data
    expected = small_regressor(out_of_fold=3).fit(dense, TARGETS["regressor"])
    model = small_regressor(out_of_fold=3, sparse_zeros="missing").fit(sparse, TARGETS["regressor"])
    np.testing.assert_array_equal(parameters_of(model, sparse), parameters_of(expected, dense))
    np.testing.assert_array_equal(model.feature_ranges_.missing, expected.feature_ranges_.missing)
    model.save(tmp_path / "model.epiboost")
    np.testing.assert_array_equal(parameters_of(load(tmp_path / "model.epiboost"), sparse), parameters_of(model, dense))
    model.sparse_zeros = "values"  # until the next fit
    np.testing.assert_array_equal(parameters_of(model, sparse), parameters_of(model, dense))


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("max_bins", [2, 5, 255])
def test_borders_and_bins_of_a_sparse_table_are_those_of_the_dense_one(weight, max_bins):
    weights = np.ones(150) if WEIGHTS[weight] is None else WEIGHTS[weight]
    binned = bin_sparse(SparseTable(scipy.sparse.csr_array(X)), weights, max_bins)
    expected = Bins.fit(X, weights, max_bins)
    np.testing.assert_array_equal(binned.bins.borders, expected.borders)
    np.testing.assert_array_equal(binned.codes, expected.transform(X))


@pytest.mark.usefixtures("never_dense")
def test_a_model_of_a_large_sparse_table_is_continued_with_the_same_bits():
    sparse, options = scipy.sparse.csr_array(X), {"learning_rate": 0.2, "max_depth": 3, "out_of_fold": 3}
    model = small_regressor(**options, n_estimators=5, warm_start=True).fit(sparse, TARGETS["regressor"])
    model.set_params(n_estimators=9).fit(sparse, TARGETS["regressor"])
    at_once = small_regressor(**options, n_estimators=9).fit(X, TARGETS["regressor"])
    np.testing.assert_array_equal(parameters_of(model, sparse), parameters_of(at_once, X))


def test_repeated_entries_are_added():
    repeated = scipy.sparse.csr_array((np.ones(4), [0, 0, 1, 1], [0, 2, 4]), shape=(2, 2))
    model = small_regressor().fit(X[:, :2], TARGETS["regressor"])
    np.testing.assert_array_equal(model.predict(repeated), model.predict([[2.0, 0.0], [0.0, 2.0]]))
    assert repeated.nnz == 4


@pytest.mark.usefixtures("never_dense")
def test_an_engine_that_needs_dense_numbers_names_the_size():
    pytest.importorskip("lightgbm")
    with pytest.raises(
        ValueError, match=r"'lightgbm' needs dense numbers, and 150 x 6 dense numbers .* use engine='nat"
    ):
        small_regressor(engine="lightgbm").fit(scipy.sparse.csr_array(X), TARGETS["regressor"])


@pytest.mark.usefixtures("never_dense")
def test_a_large_sparse_table_refuses_to_be_dense():
    with pytest.raises(ValueError, match="X is sparse, and 150 x 6 dense numbers of float64 would take"):
        np.asarray(SparseTable(scipy.sparse.csr_array(X)))


@pytest.mark.parametrize(
    ("changes", "table", "fault"),
    [
        ({"sparse_zeros": "zeros"}, X, "sparse_zeros must be 'values' or 'missing'; got 'zeros'"),
        ({"sparse_zeros": None}, X, "sparse_zeros must be 'values' or 'missing'; got None"),
        ({"categorical_features": [0]}, scipy.sparse.csr_array(X), "a sparse table holds numbers; give categorical"),
        ({}, scipy.sparse.csr_array(np.where(X > 0.0, np.inf, 0.0)), "Input X contains infinity"),
        ({}, scipy.sparse.csr_array(X + 1j), "Complex data not supported"),
        ({}, scipy.sparse.csr_array((150, 0)), "0 feature"),
        ({}, scipy.sparse.csr_array((0, 6)), "0 sample"),
        ({}, scipy.sparse.csr_array((150, 70_000)), "X must have at most 65535 columns; got 70000"),
    ],
)
def test_invalid_sparse_tables_are_refused(changes, table, fault):
    with pytest.raises(ValueError, match=fault):
        small_regressor(**changes).fit(table, TARGETS["regressor"])


def test_a_sparse_table_at_prediction_must_have_the_columns_of_training():
    model = small_regressor().fit(X, TARGETS["regressor"])
    with pytest.raises(ValueError, match="X has 5 features, but EpiBoostRegressor is expecting 6 features"):
        model.predict(scipy.sparse.csr_array(X[:, :5]))
    model = small_regressor(categorical_features=[0]).fit(np.round(X), TARGETS["regressor"])
    with pytest.raises(ValueError, match="X is sparse and holds numbers, but columns were categorical"):
        model.predict(scipy.sparse.csr_array(X))


def test_rows_and_values_of_a_sparse_table_can_be_shown():
    sparse, rows = scipy.sparse.csc_array(X), np.array([5, 2])
    np.testing.assert_array_equal(select_rows(sparse, rows).toarray(), X[rows])
    np.testing.assert_array_equal(original_values(sparse, rows=rows).astype(float), X[rows])
