"""Fixtures of the tests of model files."""

import numpy as np
import pytest

from epiboost._files.model_file import write


@pytest.fixture
def path(tmp_path):
    """Return the path of a model file that is not there yet."""
    return tmp_path / "model.epiboost"


@pytest.fixture
def content(path):
    """Return the bytes of a small model file with arrays of several types, one of them empty."""
    arrays = {
        "borders": np.linspace(0.0, 1.0, 13),
        "splits": np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
        "nothing": np.empty((0, 4), dtype=np.float32),
        "classes": np.array(["no", "yes", "perhaps"]),
        "used": np.array([True, False, True]),
    }
    write(path, {"kind": "classifier", "trees": 3, "rates": [0.1, 0.2], "nested": {"seed": None}}, arrays)
    return path.read_bytes()
