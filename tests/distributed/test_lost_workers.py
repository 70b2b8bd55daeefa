"""Workers, data and schedulers that are lost during training, and training that is interrupted."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from types import SimpleNamespace

import pytest

from epiboost.distributed import cluster as cluster_module
from epiboost.distributed.cluster import ClusterError, cluster_errors
from tests.support.compare import assert_same_trees
from tests.support.dask_tables import dd, quadratic_frame
from tests.support.models import small_regressor
from tests.support.training import at_the_first_report

distributed = pytest.importorskip("distributed")

SIZE = {"n_members": 4, "n_estimators": 15, "max_depth": 4, "out_of_fold": 0}


@pytest.fixture(scope="module")
def table():
    return quadratic_frame(2000)


def worker_ids(client):
    """Return the process ids of the workers."""
    return set(client.run(os.getpid).values())


@pytest.mark.parametrize("lost", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_worker_killed_in_training_does_not_change_the_model(client, table, monkeypatch, lost):
    X, y = table
    options = {**SIZE, "n_members": 6, "n_estimators": 300}
    local = small_regressor(**options).fit(X, y)
    before = worker_ids(client)

    def kill():
        for worker in sorted(before)[:lost]:
            os.kill(worker, signal.SIGKILL)

    with at_the_first_report(monkeypatch, kill) as reports:
        model = small_regressor(**options, n_jobs="dask").fit(X, y)
    assert reports[-1] == (1800, 1800)
    assert_same_trees(model, local)
    client.wait_for_workers(2)
    assert len(before - worker_ids(client)) == lost, "the workers must be killed"


def test_a_worker_killed_while_reading_the_table_does_not_change_the_model(client, table, tmp_path):
    X, y = table
    before, flag = worker_ids(client), tmp_path / "killed"

    def kill_once(part, place):
        if len(part) and place == part.index[0] and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    frame = dd.from_pandas(X, npartitions=5)
    killing = frame.map_partitions(kill_once, 1200, meta=X.iloc[:0])
    lazy_y = dd.from_pandas(y, npartitions=5)
    model = small_regressor(**SIZE).fit(killing, lazy_y, sample_weight=lazy_y**2)
    assert flag.exists()
    assert_same_trees(model, small_regressor(**SIZE).fit(X, y, sample_weight=y**2))
    client.wait_for_workers(2)
    assert len(before - worker_ids(client)) == 1


def test_an_interrupted_fit_leaves_no_pending_tasks(client, table, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    with at_the_first_report(monkeypatch, interrupt), pytest.raises(KeyboardInterrupt):
        small_regressor(**{**SIZE, "n_estimators": 400}, n_jobs="dask").fit(*table)
    assert not any("_train_chain" in str(key) and future.status == "pending" for key, future in client.futures.items())


def test_an_error_of_a_task_is_not_reported_as_an_error_of_the_cluster(client, table, monkeypatch):  # noqa: ARG001
    def full(_table, _member, *, threads):  # noqa: ARG001
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("epiboost.engines.native.training._train_chain", full)
    with pytest.raises(OSError, match="No space left on device"):
        small_regressor(**SIZE, n_jobs="dask").fit(*table)


def test_lost_scattered_data_raises_a_cluster_error(client, table):
    X, y = table
    pieces = client.scatter([X[:1000], X[1000:]])
    lazy = dd.from_delayed(pieces, meta=X[:0], verify_meta=False)
    client.cancel(pieces, force=True)
    with pytest.raises(ClusterError, match="was lost with its worker"):
        small_regressor(**SIZE).fit(lazy, dd.from_pandas(y, npartitions=2))


@pytest.mark.parametrize("way", ["members", "partitions"])
def test_a_cluster_without_workers_raises_a_cluster_error(table, monkeypatch, way):
    monkeypatch.setattr(cluster_module, "_WORKER_TIMEOUT", 0.5)
    options = {"n_workers": 0, "dashboard_address": ":0", "silence_logs": 50}
    X, y = table
    rows = (X, y) if way == "members" else (dd.from_pandas(X, npartitions=2), dd.from_pandas(y, npartitions=2))
    with (
        distributed.LocalCluster(**options) as empty,
        distributed.Client(empty) as client,
        client.as_current(),
        pytest.raises(ClusterError, match=r"has no workers; waited 0.5 s"),
    ):
        small_regressor(**SIZE, n_jobs="dask").fit(*rows)


class UnawareClient:
    """A client that has not noticed yet whether its connection is lost."""

    status = "running"
    scheduler = SimpleNamespace(identity=None)

    def __init__(self, answer):
        self.answer = answer

    def sync(self, call, *, callback_timeout):
        assert call is self.scheduler.identity
        assert callback_timeout > 0
        return self.answer()


def fail(error):
    raise error


CONNECTION_ERRORS = [
    distributed.comm.CommClosedError("in <TCP>: Stream is closed"),
    OSError("Timed out trying to connect"),
    TimeoutError(),
]


@pytest.mark.parametrize("silence", CONNECTION_ERRORS, ids=repr)
@pytest.mark.parametrize("error", CONNECTION_ERRORS, ids=repr)
def test_a_scheduler_that_does_not_answer_is_lost_before_its_client_knows(error, silence):
    client = UnawareClient(lambda: fail(silence))
    with pytest.raises(ClusterError, match="the scheduler of the Dask cluster has gone"), cluster_errors(client):
        raise error


@pytest.mark.parametrize("error", [*CONNECTION_ERRORS, FileNotFoundError("part.parquet")], ids=repr)
def test_an_error_while_the_scheduler_answers_passes_unchanged(error):
    with pytest.raises(type(error)) as raised, cluster_errors(UnawareClient(dict)):
        raise error
    assert raised.value is error


def test_a_closed_client_raises_a_cluster_error(table):
    options = {"n_workers": 0, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as empty:
        client = distributed.Client(empty)
        client.close()
        with client.as_current(), pytest.raises(ClusterError, match="the scheduler of the Dask cluster has gone"):
            small_regressor(**SIZE, n_jobs="dask").fit(*table)


SCHEDULER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""

WAYS = ["members", pytest.param("partitions", marks=pytest.mark.slow), pytest.param("xgboost", marks=pytest.mark.slow)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("when", [pytest.param("before", marks=pytest.mark.slow), "during"])
def test_a_lost_scheduler_raises_one_clear_error_and_the_model_can_be_fitted_again(
    table, monkeypatch, tmp_path, way, when
):
    def kill_scheduler(part, scheduler):
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
            options = {"engine": "xgboost"} if way == "xgboost" else {"n_jobs": "dask"}
            model = small_regressor(**{**SIZE, "n_members": 8, "n_estimators": 300}, **options)
            if way != "members":
                X, y = (dd.from_pandas(part, npartitions=4) for part in table)
            if way == "partitions" and when == "during":
                X = X.map_partitions(kill_scheduler, process.pid, meta=table[0].iloc[:0])
            if when == "before":
                process.kill()
                time.sleep(1.5)
            start = time.monotonic()
            with (
                client.as_current(),  # the cluster of other tests may be running too
                at_the_first_report(monkeypatch, process.kill),
                pytest.raises(ClusterError, match="the scheduler of the Dask cluster has gone"),
            ):
                model.fit(X, y)
            assert time.monotonic() - start < 60
        finally:
            with suppress(TimeoutError):  # the client still looks for the scheduler
                client.close(timeout=2)
            process.kill()
    assert not hasattr(model, "forest_")
    model.set_params(engine="native", n_jobs=1, n_estimators=5).fit(*table).predict(table[0])
