"""A real cluster of two worker processes: the same bits as here, whatever becomes of a worker."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.distributed import cluster as cluster_module
from epiboost.distributed.cluster import ClusterError
from epiboost.engines.native import engine as native
from epiboost.engines.native import quick_trees
from epiboost.engines.native.chains import train_here, train_on_cluster

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

SMALL = {"n_members": 4, "n_estimators": 15, "max_depth": 4, "random_state": 0}
TREES = ("feature", "threshold", "leaf", "count")


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(2000, 3)), columns=["a", "b", "c"])
    return X, X["a"] + X["b"] ** 2 + 0.3 * rng.normal(size=len(X))


def assert_same_trees(one, other):
    for part in TREES:
        np.testing.assert_array_equal(getattr(one.forest_, part), getattr(other.forest_, part), err_msg=part)


def workers(client):
    return set(client.run(os.getpid).values())


@contextmanager
def at_the_first_member(monkeypatch, happen):
    """Let something happen when the first member is done; yield the reports that training gives."""
    reports = []

    def report(done, total, /):
        reports.append((done, total))
        if len(reports) == 1:
            happen()

    @contextmanager
    def bar(_description, *, enabled):  # noqa: ARG001
        yield report

    with monkeypatch.context() as patched:
        patched.setattr("epiboost._estimators.base.progress_bar", bar)
        yield reports


ENSEMBLES = {
    "sglb": (EpiBoostRegressor, {}),
    "virtual": (EpiBoostRegressor, {"ensemble": "virtual", "n_members": 3}),
    "sgb": (EpiBoostClassifier, {"ensemble": "sgb"}),
}


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("case", ENSEMBLES)
def test_members_trained_on_a_cluster_have_the_same_bits(table, case):
    estimator, options = ENSEMBLES[case]
    X, y = table
    target = y if estimator is EpiBoostRegressor else np.digitize(y, [0, 1])
    local = estimator(**{**SMALL, **options}).fit(X, target)
    assert_same_trees(estimator(**{**SMALL, **options}, n_jobs="dask").fit(X, target), local)


@pytest.mark.usefixtures("client")
def test_categories_and_an_evaluation_set_go_with_the_table(table):
    X, y = table
    X = X.assign(town=np.random.default_rng(1).integers(0, 40, size=len(X)).astype(str))
    options = {**SMALL, "early_stopping_rounds": 3}
    local, spread = (
        EpiBoostRegressor(**options, n_jobs=jobs).fit(X, y, eval_set=(X[:500], 1.3 * y[:500])) for jobs in (1, "dask")
    )
    assert_same_trees(spread, local)
    np.testing.assert_array_equal(spread.evaluation_loss_, local.evaluation_loss_)


@pytest.mark.usefixtures("client")
def test_trials_of_combinations_are_made_here(table, monkeypatch):
    X, y = table
    rng = np.random.default_rng(1)
    town, trade = rng.integers(0, 16, size=(2, len(X)))
    X, y = X.assign(town=town.astype(str), trade=trade.astype(str)), y + 3.0 * ((town + trade) % 2)
    on_cluster, here = [], []
    monkeypatch.setattr(
        native, "train_on_cluster", lambda *given: on_cluster.append(len(given[1])) or train_on_cluster(*given)
    )
    monkeypatch.setattr(quick_trees, "train_here", lambda *given: here.append(len(given[1])) or train_here(*given))
    spread = EpiBoostRegressor(**SMALL, n_jobs="dask").fit(X, y)
    assert (on_cluster, here) == ([4], [1, 1])  # the trial learns from each half of the rows
    assert_same_trees(spread, EpiBoostRegressor(**SMALL).fit(X, y))


def test_the_table_travels_to_each_worker_once(client, table):
    def count():
        from epiboost.engines.native.chains import ChainTable

        ChainTable.arrivals = 0
        take = ChainTable.__setstate__

        def counted(table, state):
            ChainTable.arrivals += 1
            take(table, state)

        ChainTable.__setstate__ = counted

    def arrivals():
        from epiboost.engines.native.chains import ChainTable

        return ChainTable.arrivals

    client.run(count)
    EpiBoostRegressor(**{**SMALL, "n_members": 8, "n_estimators": 40}, n_jobs="dask").fit(*table)
    assert max(client.run(arrivals).values()) == 1


@pytest.mark.usefixtures("client")
def test_progress_is_told_as_members_finish(table, monkeypatch):
    with at_the_first_member(monkeypatch, lambda: None) as reports:
        EpiBoostRegressor(**SMALL, n_jobs="dask").fit(*table)
    assert reports == [(15, 60), (30, 60), (45, 60), (60, 60)]


@pytest.mark.parametrize("lost", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_worker_killed_in_training_costs_time_and_nothing_else(client, table, monkeypatch, lost):
    X, y = table
    options = {**SMALL, "n_members": 6, "n_estimators": 300}
    local = EpiBoostRegressor(**options).fit(X, y)
    before = workers(client)

    def kill():
        for worker in sorted(before)[:lost]:
            os.kill(worker, signal.SIGKILL)

    with at_the_first_member(monkeypatch, kill) as reports:
        model = EpiBoostRegressor(**options, n_jobs="dask").fit(X, y)
    assert reports[-1] == (1800, 1800)
    assert_same_trees(model, local)
    client.wait_for_workers(2)
    assert len(before - workers(client)) == lost, "the workers were to be killed"


def test_a_worker_killed_while_a_table_is_read_costs_time_and_nothing_else(client, table, tmp_path):
    X, y = table
    before, flag = workers(client), tmp_path / "killed"

    def deadly(part, place):
        if len(part) and place == part.index[0] and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    frame = dd.from_pandas(X, npartitions=5)
    spoiled = frame.map_partitions(deadly, 1200, meta=X.iloc[:0])
    own_y = dd.from_pandas(y, npartitions=5)
    model = EpiBoostRegressor(**SMALL).fit(spoiled, own_y, sample_weight=own_y**2)
    assert flag.exists()
    assert_same_trees(model, EpiBoostRegressor(**SMALL).fit(X, y, sample_weight=y**2))
    client.wait_for_workers(2)
    assert len(before - workers(client)) == 1


def test_fits_inside_tasks_of_the_cluster_do_not_wait_for_each_other(client, table):
    def nested(X, y):
        return EpiBoostRegressor(**SMALL, n_jobs="dask").fit(X, y).predict(X)

    results = client.gather([client.submit(nested, *table, pure=False) for _ in range(3)])
    expected = EpiBoostRegressor(**SMALL).fit(*table).predict(table[0])
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_an_interrupted_fit_leaves_nothing_to_do(client, table, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    with at_the_first_member(monkeypatch, interrupt), pytest.raises(KeyboardInterrupt):
        EpiBoostRegressor(**{**SMALL, "n_estimators": 400}, n_jobs="dask").fit(*table)
    assert not any("_member" in str(key) and future.status == "pending" for key, future in client.futures.items())


def test_an_error_of_the_work_is_not_taken_for_one_of_the_cluster(client, table, monkeypatch):  # noqa: ARG001
    def full(_table, _member, *, threads):  # noqa: ARG001
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("epiboost.engines.native.chains._member", full)
    with pytest.raises(OSError, match="No space left on device"):
        EpiBoostRegressor(**SMALL, n_jobs="dask").fit(*table)


def test_scattered_data_that_was_lost_is_told(client, table):
    X, y = table
    pieces = client.scatter([X[:1000], X[1000:]])
    lazy = dd.from_delayed(pieces, meta=X[:0], verify_meta=False)
    client.cancel(pieces, force=True)
    with pytest.raises(ClusterError, match="was lost with its worker"):
        EpiBoostRegressor(**SMALL).fit(lazy, dd.from_pandas(y, npartitions=2))


@pytest.mark.parametrize("road", ["members", "partitions"])
def test_a_cluster_without_workers_is_told(table, monkeypatch, road):
    monkeypatch.setattr(cluster_module, "_PATIENCE", 0.5)
    options = {"n_workers": 0, "dashboard_address": ":0", "silence_logs": 50}
    X, y = table
    rows = (X, y) if road == "members" else (dd.from_pandas(X, npartitions=2), dd.from_pandas(y, npartitions=2))
    with (
        distributed.LocalCluster(**options) as empty,
        distributed.Client(empty) as own,
        own.as_current(),
        pytest.raises(ClusterError, match=r"has no workers; waited 0.5 s"),
    ):
        EpiBoostRegressor(**SMALL, n_jobs="dask").fit(*rows)


@pytest.mark.usefixtures("client")
def test_tables_in_partitions_are_read_by_the_workers_and_learned_by_them(table):
    X, y = table
    local = EpiBoostRegressor(**SMALL).fit(X, y)
    frame = dd.from_pandas(X.assign(y=y), npartitions=5)
    assert_same_trees(EpiBoostRegressor(**SMALL, n_jobs="dask").fit(frame[["a", "b", "c"]], frame["y"]), local)


@pytest.mark.usefixtures("client")
def test_uncertainty_is_computed_by_the_workers(table):
    X, y = table
    model = EpiBoostRegressor(**SMALL).fit(X, y)
    lazy = model.predict_uncertainty(dd.from_pandas(X, npartitions=5))
    pd.testing.assert_frame_equal(lazy.compute(), model.predict_uncertainty(X).to_frame())


@pytest.mark.usefixtures("client")
def test_a_model_that_was_trained_on_a_cluster_is_saved_and_works_without_one(table, tmp_path):
    X, y = table
    model = EpiBoostRegressor(**SMALL, n_jobs="dask").fit(X, y)
    model.save(tmp_path / "model.epib")
    again = EpiBoostRegressor.load(tmp_path / "model.epib")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_other_engines_refuse_the_cluster(table):
    with pytest.raises(ValueError, match="n_jobs='dask' is for engine='native'"):
        EpiBoostRegressor(engine="forest", ensemble="sgb", n_jobs="dask").fit(*table)


SCHEDULER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


ROADS = ["members", pytest.param("partitions", marks=pytest.mark.slow), pytest.param("xgboost", marks=pytest.mark.slow)]


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("when", [pytest.param("before", marks=pytest.mark.slow), "during"])
def test_a_scheduler_that_goes_away_is_one_clear_error_and_leaves_a_model_that_can_be_fitted(
    table, monkeypatch, tmp_path, road, when
):
    def end_of(part, scheduler):
        os.kill(scheduler, signal.SIGKILL)
        time.sleep(5)
        return part

    script = tmp_path / "scheduler.py"
    script.write_text(SCHEDULER)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen([sys.executable, script], **pipes) as process:
        client = distributed.Client(process.stdout.readline().strip())
        try:
            X, y = table
            own = {"engine": "xgboost"} if road == "xgboost" else {"n_jobs": "dask"}
            model = EpiBoostRegressor(**{**SMALL, "n_members": 8, "n_estimators": 300}, **own)
            if road != "members":
                X, y = (dd.from_pandas(part, npartitions=4) for part in table)
            if road == "partitions" and when == "during":
                X = X.map_partitions(end_of, process.pid, meta=table[0].iloc[:0])
            if when == "before":
                process.kill()
                time.sleep(1.5)
            start = time.monotonic()
            with (
                client.as_current(),  # the cluster of the other tests may be there too
                at_the_first_member(monkeypatch, process.kill),
                pytest.raises(ClusterError, match="the scheduler of the Dask cluster has gone"),
            ):
                model.fit(X, y)
            assert time.monotonic() - start < 60
        finally:
            with suppress(TimeoutError):  # it still looks for the scheduler
                client.close(timeout=2)
            process.kill()
    assert not hasattr(model, "forest_")
    model.set_params(engine="native", n_jobs=1, n_estimators=5).fit(*table).predict(table[0])
