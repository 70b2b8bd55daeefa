"""Fixtures that several rooms share."""

import os
from contextlib import nullcontext

import pytest
from hypothesis import settings

from tests.support.time_limit import time_limit

# A busy machine is no failure. All else is Hypothesis' own profile, which draws the same examples in every run of CI.
settings.register_profile("project", settings.default, deadline=None)
settings.load_profile("project")


@pytest.hookimpl(wrapper=True)
def _limit_dask(item):
    """Limit the time of a test of Dask, and of the start and the end of its cluster, which may wait forever."""
    is_of_dask = "client" in item.fixturenames or "distributed" in item.path.parts
    with time_limit() if is_of_dask else nullcontext():
        return (yield)


pytest_runtest_setup = pytest_runtest_call = pytest_runtest_teardown = _limit_dask

_THREADS = os.environ.get("OMP_NUM_THREADS")


@pytest.fixture(autouse=True)
def _threads_of_this_run(monkeypatch):
    """Undo what a cluster of Dask does to its process: it sets OMP_NUM_THREADS to one, which limits ``n_jobs``."""
    if _THREADS is None:
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    else:
        monkeypatch.setenv("OMP_NUM_THREADS", _THREADS)


@pytest.fixture(scope="session")
def generated(tmp_path_factory):
    """Write small files in the layout of the paper's datasets."""
    paper_files = pytest.importorskip("tests.support.paper_files", reason="the paper's files need pandas")
    return paper_files.write_all(tmp_path_factory.mktemp("data"))


@pytest.fixture
def folder(generated, monkeypatch):
    """Use the generated files as the datasets of the paper."""
    monkeypatch.setenv("EPIBOOST_DATA", str(generated))
    return generated
