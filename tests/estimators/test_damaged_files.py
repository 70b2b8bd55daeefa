"""Model files with random damage are refused."""

import numpy as np
import pytest

from epiboost import EpiBoostClassifier
from epiboost._files.model_file import ModelFileError
from tests.support.damage import DAMAGES, flip_bit
from tests.support.saved_models import fitted


@pytest.fixture(scope="module")
def model_bytes(tmp_path_factory):
    """Return the bytes of a small saved classifier."""
    path = tmp_path_factory.mktemp("model") / "model.epib"
    fitted("text labels", max_depth=2, n_members=2, n_estimators=3, max_bins=8).save(path)
    return path.read_bytes()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused(path, model_bytes, damage):
    random = np.random.default_rng(7)
    for _ in range(500 if damage is flip_bit else 200):
        damaged = damage(model_bytes, random)
        if damaged == model_bytes:
            continue
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError, match=r"model\.epib"):
            EpiBoostClassifier.load(path)


def test_a_file_cut_off_near_either_end_is_refused(path, model_bytes):
    for length in [*range(80), *range(len(model_bytes) - 80, len(model_bytes))]:
        path.write_bytes(model_bytes[:length])
        with pytest.raises(ModelFileError, match=r"model\.epib"):
            EpiBoostClassifier.load(path)
