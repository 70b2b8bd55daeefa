"""Rows of a partitioned table for XGBoost: keys, noise, bin minima and sums over workers."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from epiboost._boosting.gradient_grid import on_grid
from epiboost._boosting.recipe import Recipe
from epiboost._boosting.step_sizes import step_sizes
from epiboost._boosting.variance_guard import local_leaf_sums
from epiboost._inputs.target import Numbers
from epiboost.distributed.fit import partitioned_schema
from epiboost.distributed.partitions import aligned_partitions
from epiboost.distributed.rows import check_partitions, partitioned_rows
from epiboost.engines.xgboost import leaves as xgboost_leaves
from epiboost.engines.xgboost.distributed import DistributedObjective
from epiboost.engines.xgboost.leaves import distributed_leaf_sums
from epiboost.engines.xgboost.workers import fields_of, row_numbers
from tests.support.dask_tables import da, dd, in_partitions, pd, quadratic_frame

dask = pytest.importorskip("dask")
xgboost = pytest.importorskip("xgboost")


@pytest.fixture(scope="module")
def table():
    return quadratic_frame(1500)


@pytest.fixture
def synchronous():
    """Compute Dask collections in this process, even if a cluster is running."""
    with dask.config.set(scheduler="sync"):
        yield


def rows_of(table, parts, weight=None):
    """Return the rows of a table in partitions as XGBoost gets them."""
    X, y = in_partitions(table, parts)
    schema = partitioned_schema(X, categorical_features="auto", owner="EpiBoostRegressor")
    lazy_weight = None if weight is None else dd.from_pandas(pd.Series(weight), npartitions=parts)
    aligned = aligned_partitions(X, y, lazy_weight)
    checked = check_partitions(aligned, schema.transform, Numbers.check, 3)
    return partitioned_rows(checked, n_features=3, max_bins=255, target=Numbers())


def gradients(table, parts, order, seed=7, tree_calls=3):
    """Return row keys and the gradients of one tree when one worker sees the partitions in some order."""
    rows = rows_of(table, parts)
    got = [part for part in dask.compute(*rows.parts) if len(part.y)]
    got = [got[place] for place in order(len(got))]
    fields = [fields_of(part, 2) for part in got]
    matrix = xgboost.DMatrix(**{name: np.concatenate([one[name] for one in fields]) for name in fields[0]})
    spec = Recipe(n_estimators=5, learning_rate=0.1, max_depth=6, temperature=100.0).specs(seed)[0]
    objective = DistributedObjective(rows.objective, step_sizes(spec, rows.objective, rows.total_weight), spec)
    for _ in range(tree_calls):
        gradient, _ = objective(np.zeros((matrix.num_row(), 2)), matrix)
    return row_numbers(matrix), gradient


@pytest.mark.usefixtures("synchronous")
def test_the_noise_of_a_row_does_not_depend_on_the_partitions(table):
    keys, whole = gradients(table, 1, range)
    assert keys.tolist() == list(range(1500))
    np.testing.assert_array_equal(on_grid(whole, np.abs(whole).max(axis=0)), whole)  # so that sums are exact
    other_keys, partitioned = gradients(table, 6, lambda count: reversed(range(count)))
    assert other_keys.tolist() != keys.tolist()
    np.testing.assert_array_equal(partitioned[np.argsort(other_keys)], whole)
    assert np.abs(gradients(table, 1, range, seed=8)[1] - whole).max() > 0.1
    assert np.abs(gradients(table, 1, range, tree_calls=2)[1] - whole).max() > 0.1


@pytest.mark.usefixtures("synchronous")
def test_numbers_beyond_single_precision_become_the_largest_number():
    column, largest = np.array([1e300, -1e300, np.nan, 2.5]), np.finfo(np.float32).max
    X, y = da.from_array(column[:, np.newaxis], chunks=2), da.from_array(np.zeros(4), chunks=2)
    checked = check_partitions(aligned_partitions(X, y, None), lambda part: part, Numbers.check, 1)
    rows = partitioned_rows(checked, n_features=1, max_bins=255, target=Numbers())
    got = np.concatenate([part.X for part in dask.compute(*rows.parts)])
    np.testing.assert_array_equal(got[:, 0], np.array([largest, -largest, np.nan, 2.5], np.float32))


def test_row_numbers_are_exact_in_single_precision_fields():
    keys = np.array([0, 65_535, 65_536, 2**24 + 1, 2**32 - 1], dtype=np.uint32)
    matrix = xgboost.DMatrix(
        np.zeros((5, 1)),
        label_lower_bound=(keys % 65_536).astype(np.float32),
        label_upper_bound=(keys // 65_536).astype(np.float32),
    )
    assert row_numbers(matrix).tolist() == keys.tolist()


@pytest.mark.usefixtures("synchronous")
def test_the_target_is_summarised_as_in_memory(table):
    weight = np.random.default_rng(1).integers(0, 3, size=1500).astype(float)
    rows = rows_of(table, 4, weight)
    y = table[1].to_numpy()
    assert rows.objective.units[0] == pytest.approx(np.average(y, weights=weight))
    spread = np.sqrt(np.average((y - rows.objective.units[0]) ** 2, weights=weight))
    assert rows.objective.units[1] == pytest.approx(spread)
    assert (rows.total_weight, sum(rows.lengths)) == (weight.sum(), int((weight > 0).sum()))
    parts = dask.compute(*rows.parts)
    assert np.concatenate([part.keys for part in parts]).tolist() == np.flatnonzero(weight).tolist()


@pytest.mark.usefixtures("synchronous")
def test_splits_learned_from_bin_minima_separate_the_values_the_same_way(table):
    rows = rows_of(table, 3)
    parts = dask.compute(*rows.parts)
    bin_minima = np.concatenate([part.X for part in parts])
    booster = xgboost.train(
        {"max_bin": 255}, xgboost.QuantileDMatrix(bin_minima, label=table[1], max_bin=255), num_boost_round=5
    )
    by_values, by_bin_minima = (booster.predict(xgboost.DMatrix(one)) for one in (table[0].to_numpy(), bin_minima))
    np.testing.assert_array_equal(by_values, by_bin_minima)


class Network:
    """The communication of XGBoost workers, with threads as workers."""

    Op = SimpleNamespace(MAX=np.max, SUM=np.sum)

    def __init__(self, n_workers):
        self.n_workers, self.sent = n_workers, [None] * n_workers
        self.barrier, self.thread = threading.Barrier(n_workers, timeout=10), threading.local()

    def get_rank(self):
        return self.thread.rank

    def get_world_size(self):
        return self.n_workers

    def allreduce(self, values, how):
        self.sent[self.thread.rank] = values
        self.barrier.wait()
        result = how(np.stack([values.ravel() for values in self.sent]), axis=0)
        self.barrier.wait()
        return result

    def run(self, work, pieces):
        """Return what a function returns on each worker for its piece."""

        def run_one(rank, piece):
            self.thread.rank = rank
            return work(*piece)

        with ThreadPoolExecutor(self.n_workers) as pool:
            return list(pool.map(run_one, range(self.n_workers), pieces))


def test_leaf_totals_over_workers_are_those_of_all_rows(monkeypatch):
    rng = np.random.default_rng(0)
    before = rng.normal(scale=3.0, size=600).astype(np.float32)
    steps = np.array([-0.5, -0.1, 0.2, 0.2001, 0.9], dtype=np.float32)
    leaf = np.where(np.arange(600) < 200, rng.integers(0, 3, size=600), rng.integers(1, 5, size=600))
    rows = (before + steps[leaf], before, rng.normal(size=600), rng.uniform(size=600))
    network = Network(3)
    monkeypatch.setattr(xgboost_leaves, "require", lambda *_, **__: network)
    pieces = [slice(0, 200), slice(200, 250), slice(250, 600)]
    parts = network.run(distributed_leaf_sums, [[column[piece] for column in rows] for piece in pieces])
    for together, whole in zip(zip(*parts, strict=True), local_leaf_sums(*rows), strict=True):
        np.testing.assert_allclose(np.concatenate(together), whole)
        assert len(np.unique(np.round(whole, 9))) == 5
