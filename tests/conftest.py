"""Fixtures that several rooms share."""

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None)  # a busy machine is no failure
settings.load_profile("default")


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
