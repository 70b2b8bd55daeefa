"""Fixtures that several rooms share."""

import os

import pytest
from hypothesis import settings

# A busy machine is no failure. All else is Hypothesis' own profile, which draws the same examples in every run of CI.
settings.register_profile("project", settings.default, deadline=None)
settings.load_profile("project")


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
