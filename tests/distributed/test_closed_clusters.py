"""Collections whose cluster is closed, restarted or lost between two calls."""

import os
import signal

import pytest

from epiboost.distributed.cluster import ClusterError
from tests.support.compare import assert_same_trees
from tests.support.dask_tables import in_partitions, quadratic_frame
from tests.support.models import small_regressor

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

TABLE = quadratic_frame(300)
MODEL = {"n_members": 2, "n_estimators": 5, "out_of_fold": 0}
THREADS = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
CALLS = {
    "fit": lambda _, X, y: small_regressor(**MODEL).fit(X, y),
    "fit of xgboost": lambda _, X, y: small_regressor(**MODEL, engine="xgboost").fit(X, y),
    "a target alone": lambda _, __, y: small_regressor(**MODEL).fit(in_partitions(TABLE)[0], y),
    "weights": lambda _, __, y: small_regressor(**MODEL).fit(*in_partitions(TABLE), sample_weight=y**2),
    "eval_set": lambda _, X, y: small_regressor(**MODEL).fit(*in_partitions(TABLE), eval_set=(X, y)),
    "predict": lambda model, X, _: model.predict(X),
    "predict_uncertainty": lambda model, X, _: model.predict_uncertainty(X),
    "predict_interval": lambda model, X, _: model.predict_interval(X, 0.9),
    "predict_quantile": lambda model, X, _: model.predict_quantile(X, 0.5),
    "score": lambda model, X, y: model.score(X, y),
    "calibrate": lambda model, _, y: model.calibrate(TABLE[0], y),
}


@pytest.fixture(scope="module")
def model():
    return small_regressor(**MODEL).fit(*TABLE)


@pytest.fixture(scope="module", params=["client", "cluster", "Dask still set to a cluster"])
def lost(request):
    """A persisted table and target whose client, or whose cluster, is closed."""
    cluster = distributed.LocalCluster(**THREADS)
    client = distributed.Client(cluster)
    X, y = (client.persist(part) for part in in_partitions(TABLE))
    distributed.wait([X, y])
    (cluster if request.param == "cluster" else client).close()
    with dask.config.set(scheduler="threads" if request.param != "Dask still set to a cluster" else "dask.distributed"):
        yield X, y
    cluster.close()


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_persisted_data_of_a_closed_cluster_raises_a_cluster_error(call, model, lost):
    with pytest.raises(ClusterError, match=r"of a cluster that is closed.*Connect to a cluster"):
        call(model, *lost)


def test_training_with_dask_set_to_a_cluster_that_is_closed_raises_a_cluster_error():
    with dask.config.set(scheduler="dask.distributed"), pytest.raises(ClusterError, match="no client is connected"):
        small_regressor(**MODEL).fit(*in_partitions(TABLE))


def test_a_lazy_collection_is_computed_here_when_its_cluster_is_closed(model):
    with distributed.LocalCluster(**THREADS) as cluster, distributed.Client(cluster):
        X, y = in_partitions(TABLE)
    with dask.config.set(scheduler="threads"):
        assert_same_trees(small_regressor(**MODEL).fit(X, y), model)
        assert (model.predict(X).compute() == model.predict(TABLE[0])).all()


def test_calibration_asks_for_a_collection_to_be_computed(model):
    with pytest.raises(TypeError, match=r"X is a Dask frame.*compute it first"):
        model.calibrate(*in_partitions(TABLE))


@pytest.mark.slow
class TestFaultsOfProcesses:
    def test_a_restart_of_the_cluster_loses_persisted_data_and_no_lazy_data(self, client, model):
        lazy = in_partitions(TABLE)
        persisted = [client.persist(part) for part in lazy]
        distributed.wait(persisted)
        client.restart()
        with pytest.raises(ClusterError, match=r"was lost with its worker|of a cluster that is closed"):
            small_regressor(**MODEL).fit(*persisted)
        assert_same_trees(small_regressor(**MODEL).fit(*lazy), model)
        assert_same_trees(small_regressor(**MODEL, n_jobs="dask").fit(*TABLE), model)

    def test_persisted_partitions_of_a_killed_worker_are_computed_again(self, client, model):
        X, y = (client.persist(part) for part in in_partitions(TABLE))
        distributed.wait([X, y])
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        assert_same_trees(small_regressor(**MODEL).fit(X, y), model)
        assert (model.predict(X).compute() == model.predict(TABLE[0])).all()

    def test_a_new_scheduler_at_the_same_address_serves_lazy_data(self, model):
        lazy = in_partitions(TABLE)
        with distributed.LocalCluster(**{**THREADS, "processes": True}) as first:
            port = int(first.scheduler_address.rpartition(":")[2])
            with distributed.Client(first):
                assert_same_trees(small_regressor(**MODEL).fit(*lazy), model)
        with (
            distributed.LocalCluster(**{**THREADS, "processes": True}, scheduler_port=port) as second,
            distributed.Client(second.scheduler_address) as client,
        ):
            assert second.scheduler_address.endswith(f":{port}")
            assert_same_trees(small_regressor(**MODEL).fit(*lazy), model)
            assert_same_trees(small_regressor(**MODEL, n_jobs="dask").fit(*TABLE), model)
            assert (client.compute(model.predict(lazy[0])).result() == model.predict(TABLE[0])).all()
