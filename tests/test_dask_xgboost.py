"""SGLB by XGBoost's distributed training: the noise is the row's own, however the table is cut."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.data import KnownColumns, check_regression_target, check_table
from epiboost.distributed.partitions import aligned_partitions, some_rows
from epiboost.distributed.rows import RowPart, partitioned_rows
from epiboost.engines import xgboost_leaves
from epiboost.engines.guard import totals_here
from epiboost.engines.steps import steps_of
from epiboost.engines.xgboost_dask import DistributedObjective, _field, row_numbers
from epiboost.engines.xgboost_leaves import totals_of_workers
from epiboost.members import Recipe

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
xgboost = pytest.importorskip("xgboost")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

NAMES = ["a", "b", "c"]
SMALL = {"engine": "xgboost", "n_members": 2, "n_estimators": 20, "max_depth": 3, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1500, 3)), columns=NAMES)
    return X, X["a"] + X["b"] ** 2 + 0.3 * rng.normal(size=len(X))


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def cut(table, parts):
    X, y = table
    frame = dd.from_pandas(X.assign(y=y), npartitions=parts)
    return frame[NAMES], frame["y"]


def rows_of(table, parts, weight=None):
    X, y = cut(table, parts)
    known = EpiBoostRegressor()
    check_table(known, some_rows(X), reset=True)
    own = None if weight is None else dd.from_pandas(pd.Series(weight), npartitions=parts)
    aligned = aligned_partitions(X, y, own)
    return partitioned_rows(aligned, KnownColumns(known), check_regression_target, n_features=3, n_classes=0)


def gradients(table, parts, order, seed=7, tree_calls=3):
    """Return keys, and the gradients of the third tree, as one worker sees the partitions in some order."""
    rows = rows_of(table, parts)
    got = [part for part in dask.compute(*rows.parts, scheduler="sync") if len(part.y)]
    got = [got[place] for place in order(len(got))]
    fields = {
        name: np.concatenate([_field(part, name, 2) for part in got])
        for name in ("X", "label", "weight", "low", "high")
    }
    matrix = xgboost.DMatrix(
        fields["X"],
        label=fields["label"],
        weight=fields["weight"],
        label_lower_bound=fields["low"],
        label_upper_bound=fields["high"],
    )
    spec = Recipe(n_estimators=5, temperature=100.0).specs(seed)[0]
    objective = DistributedObjective(rows.objective, steps_of(spec, rows.objective, rows.total), spec, rows.total)
    for _ in range(tree_calls):
        gradient, _ = objective(np.zeros((matrix.num_row(), 2)), matrix)
    return row_numbers(matrix), gradient


def test_two_partitionings_give_the_same_noise(table):
    keys, whole = gradients(table, 1, range)
    assert keys.tolist() == list(range(1500))
    other_keys, cut_up = gradients(table, 6, lambda count: reversed(range(count)))
    assert other_keys.tolist() != keys.tolist()
    np.testing.assert_allclose(cut_up[np.argsort(other_keys)], whole, rtol=1e-6, atol=1e-9)
    assert np.abs(gradients(table, 1, range, seed=8)[1] - whole).max() > 0.1
    assert np.abs(gradients(table, 1, range, tree_calls=2)[1] - whole).max() > 0.1


def test_numbers_beyond_single_precision_are_the_largest():
    part = RowPart(np.array([[1e300], [-1e300], [np.nan], [2.5]]), np.zeros(4), np.ones(4), np.arange(4))
    largest = np.finfo(np.float32).max
    np.testing.assert_array_equal(_field(part, "X", 2), np.array([[largest], [-largest], [np.nan], [2.5]], np.float32))


def test_row_numbers_survive_single_precision():
    keys = np.array([0, 65_535, 65_536, 2**24 + 1, 2**32 - 1], dtype=np.uint32)
    matrix = xgboost.DMatrix(
        np.zeros((5, 1)),
        label_lower_bound=(keys % 65_536).astype(np.float32),
        label_upper_bound=(keys // 65_536).astype(np.float32),
    )
    assert row_numbers(matrix).tolist() == keys.tolist()


def test_the_target_is_summed_up_as_in_memory(table):
    weight = np.random.default_rng(1).integers(0, 3, size=1500).astype(float)
    rows = rows_of(table, 4, weight)
    y = table[1].to_numpy()
    assert rows.objective.units[0] == pytest.approx(np.average(y, weights=weight))
    spread = np.sqrt(np.average((y - rows.objective.units[0]) ** 2, weights=weight))
    assert rows.objective.units[1] == pytest.approx(spread)
    assert (rows.total, sum(rows.lengths)) == (weight.sum(), int((weight > 0).sum()))
    parts = dask.compute(*rows.parts, scheduler="sync")
    assert np.concatenate([part.keys for part in parts]).tolist() == np.flatnonzero(weight).tolist()


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_a_regressor_is_trained_where_the_rows_are(table):
    X, y = table
    few, many, other = (
        EpiBoostRegressor(**{**SMALL, "random_state": seed}, temperature=300.0).fit(*cut(table, parts)).predict(X)
        for parts, seed in ((2, 0), (5, 0), (5, 1))
    )
    assert np.corrcoef(few, y)[0, 1] > 0.8
    # borders of bins come from other cuts and sums from other orders; the noise is the same
    assert np.abs(few - many).mean() < 0.5 * np.abs(many - other).mean()


@pytest.mark.usefixtures("client")
def test_a_classifier_is_trained_where_the_rows_are_and_saved(table, tmp_path):
    X, y = cut(table, 3)
    labels = y.map_partitions(
        lambda part: pd.cut(part, [-9, 0, 1, 99], labels=["low", "middle", "high"]).astype(object)
    )
    model = EpiBoostClassifier(**SMALL).fit(X, labels)
    assert model.classes_.tolist() == ["high", "low", "middle"]
    assert model.score(table[0], labels.compute()) > 0.7
    assert model.training_.n_rows == 1500
    model.save(tmp_path / "model.epib")
    again = EpiBoostClassifier.load(tmp_path / "model.epib")
    np.testing.assert_array_equal(again.predict_proba(table[0]), model.predict_proba(table[0]))


class Network:
    """What workers, here threads, tell each other by."""

    Op = SimpleNamespace(MAX=np.max, SUM=np.sum)

    def __init__(self, workers):
        self.workers, self.told = workers, [None] * workers
        self.barrier, self.own = threading.Barrier(workers, timeout=10), threading.local()

    def get_rank(self):
        return self.own.rank

    def get_world_size(self):
        return self.workers

    def allreduce(self, values, how):
        self.told[self.own.rank] = values
        self.barrier.wait()
        result = how(np.stack([told.ravel() for told in self.told]), axis=0)
        self.barrier.wait()
        return result

    def run(self, work, pieces):
        def one(rank, piece):
            self.own.rank = rank
            return work(*piece)

        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(one, range(self.workers), pieces))


def test_workers_sum_leaves_up_as_one_that_has_all_rows(monkeypatch):
    rng = np.random.default_rng(0)
    before = rng.normal(scale=3.0, size=600).astype(np.float32)
    steps = np.array([-0.5, -0.1, 0.2, 0.2001, 0.9], dtype=np.float32)
    leaf = np.where(np.arange(600) < 200, rng.integers(0, 3, size=600), rng.integers(1, 5, size=600))
    rows = (before + steps[leaf], before, rng.normal(size=600), rng.uniform(size=600))
    network = Network(3)
    monkeypatch.setattr(xgboost_leaves, "require", lambda *_, **__: network)
    cuts = [slice(0, 200), slice(200, 250), slice(250, 600)]
    parts = network.run(totals_of_workers, [[column[cut] for column in rows] for cut in cuts])
    for together, whole in zip(zip(*parts, strict=True), totals_here(*rows), strict=True):
        np.testing.assert_allclose(np.concatenate(together), whole)
        assert len(np.unique(np.round(whole, 9))) == 5


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_the_variance_guard_knows_the_rows_of_other_workers(table):
    options = {**SMALL, "n_estimators": 200, "max_depth": 6}
    cluster, process, unguarded = (
        EpiBoostRegressor(**options, variance_guard=guard).fit(*rows).predict_uncertainty(table[0]).data.mean()
        for rows, guard in ((cut(table, 4), 1.0), (table, 1.0), (table, 0.0))
    )
    assert cluster == pytest.approx(process, rel=0.1)
    assert unguarded < 0.5 * process


BAD = {
    "evaluation": ({"eval_set": (np.zeros((2, 3)), np.zeros(2))}, ValueError, "does not watch an eval_set"),
    "weights in memory": ({"sample_weight": np.ones(1500)}, TypeError, "sample_weight must be a Dask collection"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_not_there_yet_says_so(table, case):
    options, kind, message = BAD[case]
    with pytest.raises(kind, match=message):
        EpiBoostRegressor(**SMALL).fit(*cut(table, 2), **options)


def test_other_cuts_of_the_target_are_an_error(table):
    with pytest.raises(ValueError, match="must be cut into the same partitions; they have 2, 3"):
        EpiBoostRegressor(**SMALL).fit(cut(table, 2)[0], cut(table, 3)[1])


@pytest.mark.usefixtures("client")
@pytest.mark.slow
def test_two_workers_and_one_process_have_the_same_likelihood_within_the_spread_of_seeds(table):
    X, y = table
    test = slice(1000, None)
    train = slice(0, 1000)
    frame = dd.from_pandas(X[train].assign(y=y[train]), npartitions=4)
    losses = {"cluster": [], "process": []}
    for seed in range(5):
        options = {**SMALL, "n_members": 3, "n_estimators": 60, "random_state": seed}
        for name, rows in (("cluster", (frame[NAMES], frame["y"])), ("process", (X[train], y[train]))):
            posterior = EpiBoostRegressor(**options).fit(*rows).predict_posterior(X[test])
            losses[name].append(-posterior.logpdf(y[test].to_numpy()).mean())
    spread = max(np.std(one, ddof=1) for one in losses.values())
    assert abs(np.mean(losses["cluster"]) - np.mean(losses["process"])) < 3 * spread


@pytest.mark.slow
def test_a_worker_killed_in_training_makes_the_member_begin_anew(client, table):
    X, y = table
    rows = da.from_array(np.tile(X.to_numpy(), (20, 1)), chunks=(3000, 3)), da.from_array(np.tile(y, 20), chunks=3000)
    before = set(client.run(os.getpid).values())
    killer = threading.Timer(1.0, os.kill, (min(before), signal.SIGKILL))
    killer.start()
    model = EpiBoostRegressor(**{**SMALL, "n_estimators": 150}).fit(*rows)
    killer.join()
    client.wait_for_workers(2)
    assert min(before) not in set(client.run(os.getpid).values())
    assert model.n_trees_.tolist() == [150, 150]
    assert np.corrcoef(model.predict(X.to_numpy()), y)[0, 1] > 0.9
