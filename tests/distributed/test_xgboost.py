"""SGLB by XGBoost's distributed training: the noise is the row's own, however the table is cut."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._boosting.gradient_grid import on_grid
from epiboost._boosting.recipe import Recipe
from epiboost._boosting.step_sizes import step_sizes
from epiboost._boosting.variance_guard import local_leaf_sums
from epiboost._inputs.table import KnownColumns, check_regression_target, check_table
from epiboost.distributed.partitions import aligned_partitions, some_rows
from epiboost.distributed.rows import checked_parts, partitioned_rows
from epiboost.engines.xgboost import distributed as xgboost_dask
from epiboost.engines.xgboost import leaves as xgboost_leaves
from epiboost.engines.xgboost import workers as xgboost_workers
from epiboost.engines.xgboost.distributed import DistributedObjective
from epiboost.engines.xgboost.leaves import distributed_leaf_sums
from epiboost.engines.xgboost.workers import WorkerGroup, fields_of, row_numbers

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


@pytest.fixture
def here():
    """Computed in this process, though a cluster may be there."""
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
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
    checked = checked_parts(aligned, KnownColumns(known), check_regression_target, 3)
    return partitioned_rows(checked, n_features=3, max_bins=255)


def gradients(table, parts, order, seed=7, tree_calls=3):
    """Return keys, and the gradients of the third tree, as one worker sees the partitions in some order."""
    rows = rows_of(table, parts)
    got = [part for part in dask.compute(*rows.parts) if len(part.y)]
    got = [got[place] for place in order(len(got))]
    fields = [fields_of(part, 2) for part in got]
    matrix = xgboost.DMatrix(**{name: np.concatenate([one[name] for one in fields]) for name in fields[0]})
    spec = Recipe(n_estimators=5, temperature=100.0).specs(seed)[0]
    objective = DistributedObjective(rows.objective, step_sizes(spec, rows.objective, rows.total), spec)
    for _ in range(tree_calls):
        gradient, _ = objective(np.zeros((matrix.num_row(), 2)), matrix)
    return row_numbers(matrix), gradient


@pytest.mark.usefixtures("here")
def test_two_partitionings_give_the_same_noise(table):
    keys, whole = gradients(table, 1, range)
    assert keys.tolist() == list(range(1500))
    np.testing.assert_array_equal(on_grid(whole, np.abs(whole).max(axis=0)), whole)  # so that sums are exact
    other_keys, cut_up = gradients(table, 6, lambda count: reversed(range(count)))
    assert other_keys.tolist() != keys.tolist()
    np.testing.assert_array_equal(cut_up[np.argsort(other_keys)], whole)
    assert np.abs(gradients(table, 1, range, seed=8)[1] - whole).max() > 0.1
    assert np.abs(gradients(table, 1, range, tree_calls=2)[1] - whole).max() > 0.1


@pytest.mark.usefixtures("here")
def test_numbers_beyond_single_precision_are_the_largest():
    column, largest = np.array([1e300, -1e300, np.nan, 2.5]), np.finfo(np.float32).max
    X, y = da.from_array(column[:, np.newaxis], chunks=2), da.from_array(np.zeros(4), chunks=2)
    checked = checked_parts(aligned_partitions(X, y, None), lambda part: part, check_regression_target, 1)
    rows = partitioned_rows(checked, n_features=1, max_bins=255)
    got = np.concatenate([part.X for part in dask.compute(*rows.parts)])
    np.testing.assert_array_equal(got[:, 0], np.array([largest, -largest, np.nan, 2.5], np.float32))


def test_row_numbers_survive_single_precision():
    keys = np.array([0, 65_535, 65_536, 2**24 + 1, 2**32 - 1], dtype=np.uint32)
    matrix = xgboost.DMatrix(
        np.zeros((5, 1)),
        label_lower_bound=(keys % 65_536).astype(np.float32),
        label_upper_bound=(keys // 65_536).astype(np.float32),
    )
    assert row_numbers(matrix).tolist() == keys.tolist()


@pytest.mark.usefixtures("here")
def test_the_target_is_summed_up_as_in_memory(table):
    weight = np.random.default_rng(1).integers(0, 3, size=1500).astype(float)
    rows = rows_of(table, 4, weight)
    y = table[1].to_numpy()
    assert rows.objective.units[0] == pytest.approx(np.average(y, weights=weight))
    spread = np.sqrt(np.average((y - rows.objective.units[0]) ** 2, weights=weight))
    assert rows.objective.units[1] == pytest.approx(spread)
    assert (rows.total, sum(rows.lengths)) == (weight.sum(), int((weight > 0).sum()))
    parts = dask.compute(*rows.parts)
    assert np.concatenate([part.keys for part in parts]).tolist() == np.flatnonzero(weight).tolist()


def models(estimator):
    return [bytes(booster.save_raw("ubj")) for booster in estimator.forest_.boosters]


@pytest.fixture
def placements(monkeypatch):
    """How many rows each worker had, matrix by matrix."""
    noted = []
    make = WorkerGroup._matrix

    def noting(group):
        matrix = make(group)
        sizes = {part.key: size for part, size in zip(group.parts, group.sizes, strict=True)}
        noted.append(sorted(sum(sizes[part.key] for part in parts) for parts in matrix.worker_map.values()))
        return matrix

    monkeypatch.setattr(WorkerGroup, "_matrix", noting)
    return noted


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("ensemble", ["sglb", "sgb"])
def test_the_bits_do_not_depend_on_partitions_or_on_where_they_are(table, placements, monkeypatch, ensemble):
    X, y = table
    options = {**SMALL, "ensemble": ensemble, "max_bins": 50}
    first = EpiBoostRegressor(**options).fit(*cut(table, 5))
    assert np.corrcoef(first.predict(X), y)[0, 1] > 0.8
    monkeypatch.setattr(
        xgboost_workers, "dealt", lambda sizes, workers: [workers[place > 0] for place in range(len(sizes))]
    )
    again, other = (EpiBoostRegressor(**options).fit(*cut(table, parts)) for parts in (5, 7))
    assert models(first) == models(again) == models(other)
    assert first.forest_.objective == other.forest_.objective
    assert placements == [[600, 900], [300, 1200], [215, 1285]]
    assert models(first) != models(EpiBoostRegressor(**{**options, "random_state": 1}).fit(*cut(table, 5)))


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_a_table_of_more_values_than_are_told_apart_is_learned_to_the_same_bits(placements):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150_000, 3)), columns=NAMES)
    large = X, X["a"] + X["b"] ** 2 + 0.3 * rng.normal(size=len(X))
    fits = [
        EpiBoostRegressor(**SMALL).fit(
            *cut(large, parts), sample_weight=dd.from_pandas(X["a"].abs(), npartitions=parts)
        )
        for parts in (1, 6, 6, 11)
    ]
    assert len({tuple(models(fit)) for fit in fits}) == 1
    assert [len(placed) for placed in placements] == [1, 2, 2, 2]


@pytest.mark.usefixtures("here")
def test_what_is_learned_from_stand_ins_holds_for_the_values_themselves(table):
    rows = rows_of(table, 3)
    parts = dask.compute(*rows.parts)
    stand_ins = np.concatenate([part.X for part in parts])
    booster = xgboost.train(
        {"max_bin": 255}, xgboost.QuantileDMatrix(stand_ins, label=table[1], max_bin=255), num_boost_round=5
    )
    by_values, by_stand_ins = (booster.predict(xgboost.DMatrix(one)) for one in (table[0].to_numpy(), stand_ins))
    np.testing.assert_array_equal(by_values, by_stand_ins)


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
    parts = network.run(distributed_leaf_sums, [[column[cut] for column in rows] for cut in cuts])
    for together, whole in zip(zip(*parts, strict=True), local_leaf_sums(*rows), strict=True):
        np.testing.assert_allclose(np.concatenate(together), whole)
        assert len(np.unique(np.round(whole, 9))) == 5


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_the_variance_guard_knows_the_rows_of_other_workers(table, placements):
    options = {**SMALL, "n_estimators": 200, "max_depth": 6}
    cluster, process, unguarded = (
        EpiBoostRegressor(**options, variance_guard=guard).fit(*rows).predict_uncertainty(table[0]).data.mean()
        for rows, guard in ((cut(table, 4), 1.0), (table, 1.0), (table, 0.0))
    )
    assert placements == [[750, 750]]
    assert cluster == pytest.approx(process, rel=0.1)
    assert unguarded < 0.5 * process


DATA = {
    "infinity": (lambda X, y: (X.assign(a=np.inf), y), "infinity"),
    "lengths": (lambda X, y: (X, y.map_partitions(lambda part: part.iloc[:-1])), "a partition of X has 750 rows"),
    "missing": (lambda X, y: (X, y.where(y < 1)), "y contains NaN"),
    "large": (lambda X, y: (X, 1e160 * y), "rescale y"),
    "weights": (lambda X, y: (X, y, 1e300 * (y**2 + 1)), "must not count for more than"),
    "no weight": (lambda X, y: (X, y, 0 * y), "zero for every row"),
    "one row": (lambda X, y: (X, y, (y == y.max()).astype(float)), "Found 1 sample"),
    "no rows": (lambda X, y: (X[X["a"] > 99], y[X["a"] > 99]), "Found array with 0 sample"),
}


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("case", DATA)
def test_what_is_wrong_with_the_data_is_said(table, case):
    spoil, message = DATA[case]
    model = EpiBoostRegressor(**SMALL)
    with pytest.raises(ValueError, match=message):
        model.fit(*spoil(*cut(table, 2)))
    assert not hasattr(model, "forest_")


@pytest.mark.usefixtures("client")
def test_a_class_that_no_row_of_positive_weight_has_is_none(table):
    X, y = cut(table, 2)
    model = EpiBoostClassifier(**SMALL).fit(
        X, (y > 1).astype(int).where(y > -1, 7), sample_weight=(y > -1).astype(float)
    )
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.usefixtures("client")
def test_frames_of_delayed_tables_are_learned_from(table):
    X, y = (
        dd.from_delayed([dask.delayed(part[:700]), dask.delayed(part[700:])], meta=part[:0], verify_meta=check)
        for part, check in zip(table, (False, True), strict=True)
    )
    assert models(EpiBoostRegressor(**SMALL).fit(X, y)) == models(EpiBoostRegressor(**SMALL).fit(*cut(table, 3)))


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
def test_two_workers_and_one_process_have_the_same_likelihood_within_the_spread_of_seeds(table, placements):
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
    assert placements == [[500, 500]] * 5
    spread = max(np.std(one, ddof=1) for one in losses.values())
    assert abs(np.mean(losses["cluster"]) - np.mean(losses["process"])) < 3 * spread


def test_a_worker_killed_in_training_costs_time_and_nothing_else(client, table, placements, monkeypatch, tmp_path):
    options = {**SMALL, "n_estimators": 30}
    undisturbed = EpiBoostRegressor(**options).fit(*cut(table, 5))
    before = set(client.run(os.getpid).values())
    flag = tmp_path / "killed"

    def deadly(*given):
        objective = DistributedObjective(*given)
        calls = []

        def gradients(raw, matrix):
            calls.append(None)
            if len(calls) == 20 and xgboost.collective.get_rank() == 1 and not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return objective(raw, matrix)

        return gradients

    monkeypatch.setattr(xgboost_dask, "DistributedObjective", deadly)
    model = EpiBoostRegressor(**options).fit(*cut(table, 5))
    assert flag.exists()
    assert len(placements) == 3, "the member was to be begun anew"
    assert models(model) == models(undisturbed)
    client.wait_for_workers(2)
    assert len(before - set(client.run(os.getpid).values())) == 1
