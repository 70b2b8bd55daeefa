"""Noise of the native core: bits of the reference, standard Normal, independent."""

import numpy as np
import pytest

from epiboost._native import native
from tests.support import reference_noise


@pytest.mark.parametrize("output", [0, 1, 2])
def test_noise_has_the_bits_of_the_reference(core, output):
    keys = np.random.default_rng(0).integers(0, 2**32, size=10_000, dtype=np.uint32)
    noise = core.langevin_noise(2**63 + 5, 7, keys, output)
    expected = reference_noise.normal_pair(
        reference_noise.noise_key(2**63 + 5, 7, reference_noise.LANGEVIN, output // 2), keys
    )[output % 2]
    np.testing.assert_array_equal(noise, expected)


def test_noise_is_standard_normal_and_independent():
    n = 200_000
    keys = np.arange(n, dtype=np.uint32)
    draws = np.stack([native().langevin_noise(1, tree, keys, output) for tree in (0, 1) for output in (0, 1)])
    error = 5 / np.sqrt(n)
    np.testing.assert_allclose(draws.mean(axis=1), 0, atol=error)
    np.testing.assert_allclose((draws**2).mean(axis=1), 1, atol=np.sqrt(2) * error)
    np.testing.assert_allclose((draws**4).mean(axis=1), 3, atol=np.sqrt(96) * error)
    np.testing.assert_allclose(np.corrcoef(draws) - np.eye(4), 0, atol=error)
    neighbours = (draws[:, 1:] * draws[:, :-1]).mean(axis=1)
    np.testing.assert_allclose(neighbours, 0, atol=error)
