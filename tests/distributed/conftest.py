"""Fixtures of the tests of Dask."""

import pytest


@pytest.fixture(scope="module")
def client():
    """Start a cluster of two worker processes with one thread each."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client
