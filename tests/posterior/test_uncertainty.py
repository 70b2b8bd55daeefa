"""The Uncertainty value: its frames, and the arrays and units that it refuses."""

import pickle
import sys

import numpy as np
import pytest

from epiboost import Posterior, Uncertainty


@pytest.fixture
def uncertainty():
    return Uncertainty(np.array([3.0, 1.0]), np.array([1.0, 1.0]), np.array([2.0, 0.0]), unit="variance")


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_one_row_per_sample_and_one_column_per_part(uncertainty, backend):
    library = pytest.importorskip(backend)
    frame = uncertainty.to_frame(backend=backend)
    assert isinstance(frame, library.Table if backend == "pyarrow" else library.DataFrame)
    columns = frame.to_pydict() if backend == "pyarrow" else {name: list(frame[name]) for name in frame.columns}
    assert columns == {"total": [3.0, 1.0], "data": [1.0, 1.0], "knowledge": [2.0, 0.0]}


def test_an_unknown_frame_backend_is_refused(uncertainty):
    with pytest.raises(ValueError, match=r"one of \('pandas', 'polars', 'pyarrow'\), got 'spark'"):
        uncertainty.to_frame(backend="spark")


def test_the_error_for_a_missing_frame_backend_names_it(uncertainty, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="needs the package 'polars'"):
        uncertainty.to_frame(backend="polars")


def test_an_uncertainty_is_immutable(uncertainty):
    with pytest.raises(AttributeError):
        uncertainty.total = np.zeros(2)


@pytest.mark.parametrize("knowledge", [np.zeros(3), np.zeros((2, 1))])
def test_parts_of_different_shapes_are_refused(knowledge):
    with pytest.raises(ValueError, match="must have the same shape"):
        Uncertainty(np.zeros(2), np.zeros(2), knowledge, unit="nats")


def test_an_unknown_unit_is_refused():
    with pytest.raises(ValueError, match="got 'bits'"):
        Uncertainty(np.zeros(2), np.zeros(2), np.zeros(2), unit="bits")


@pytest.fixture
def knowledge_only():
    return Posterior(np.array([[[1.0], [2.0]], [[3.0], [2.0]]]), "mean").uncertainty()


class TestKnowledgeOnly:
    def test_knowledge_is_the_variance_of_the_means(self, knowledge_only):
        assert knowledge_only.knowledge.tolist() == [1.0, 0.0]
        assert len(knowledge_only) == 2

    @pytest.mark.parametrize("part", ["data", "total"])
    def test_the_other_parts_are_refused(self, knowledge_only, part):
        with pytest.raises(ValueError, match=f"{part} uncertainty is not known.*use knowledge uncertainty"):
            getattr(knowledge_only, part)

    def test_a_frame_has_one_column(self, knowledge_only):
        assert knowledge_only.to_frame().to_dict("list") == {"knowledge": [1.0, 0.0]}

    def test_it_can_be_pickled(self, knowledge_only):
        restored = pickle.loads(pickle.dumps(knowledge_only))  # noqa: S301 (pickled one line above)
        assert type(restored) is type(knowledge_only)
        assert restored.knowledge.tolist() == [1.0, 0.0]
