"""The native recalibration of a Normal equals its formulas in NumPy, on every instruction set and thread count."""

import numpy as np
import pytest

from epiboost._estimators.out_of_fold.normal import NormalRecalibration
from epiboost._native import available_instruction_sets
from epiboost._posterior.uncertainty import decompose_normal

RNG = np.random.default_rng(0)
PARAMETERS = np.stack([1e3 * RNG.normal(size=(3, 700)), np.exp(5 * RNG.normal(size=(3, 700)))], axis=2)


def twin(recalibration, parameters):
    """Return the recalibrated parameters, by NumPy."""
    center = parameters[..., 0].mean(axis=0)
    deviation = parameters[..., 0] - center
    share = recalibration.knowledge / recalibration.limit
    scale = np.sqrt(recalibration.knowledge / (1 + share * np.square(deviation).mean(axis=0)))
    return np.stack([scale * deviation + center, recalibration.data_variance(parameters[..., 1])], axis=2)


@pytest.mark.parametrize("power", [0.0, 0.3, 1.0, 1.13, 2.0])
@pytest.mark.usefixtures("core")
def test_it_equals_its_formulas_in_numpy(power):
    recalibration = NormalRecalibration(0.7, 1.3, power, 2.5, 1e7)
    changed = recalibration.apply(PARAMETERS)
    expected = twin(recalibration, PARAMETERS)
    np.testing.assert_array_equal(changed[..., 0], expected[..., 0])
    np.testing.assert_allclose(changed[..., 1], expected[..., 1], rtol=1e-13)


@pytest.mark.usefixtures("core")
def test_extreme_variances_are_powered_as_numpy_powers_them():
    extremes = np.array([0.0, 5e-324, 1e-308, 1e-200, 1e-30, 1.0, 1e30, 1e200, 1e308, np.inf])
    parameters = np.stack([np.zeros(10), extremes], axis=1)[np.newaxis]
    for reference in (1e-6, 1.0, 3e5):
        for power in (0.1, 0.9, 2.0):
            recalibration = NormalRecalibration(0.7, reference, power, 2.5, 1.0)
            with np.errstate(over="ignore", under="ignore"):
                expected = recalibration.data_variance(extremes)
            changed = recalibration.apply(parameters)[0, :, 1]
            normal = (expected > 1e-300) & np.isfinite(expected)
            np.testing.assert_allclose(changed[normal], expected[normal], rtol=2e-13)
            np.testing.assert_array_equal(np.isinf(changed), np.isinf(expected))
            assert (changed[expected <= 1e-300] <= 1e-300).all()


def test_instruction_sets_and_threads_do_not_change_the_bits(use_instructions):
    recalibration = NormalRecalibration(0.7, 1.3, 1.13, 2.5, 1e7)
    use_instructions("portable")
    expected = recalibration.apply(PARAMETERS)
    for instructions in available_instruction_sets():
        use_instructions(instructions)
        for threads in (1, 2, 5):
            np.testing.assert_array_equal(recalibration.apply(PARAMETERS, threads=threads), expected)
            uncertainty = recalibration.uncertainty(PARAMETERS, threads=threads)
            np.testing.assert_array_equal(uncertainty.data, decompose_normal(expected).data)
            np.testing.assert_array_equal(uncertainty.knowledge, decompose_normal(expected).knowledge)


@pytest.mark.usefixtures("core")
def test_a_variance_that_is_not_a_number_stays_so():
    recalibration = NormalRecalibration(0.7, 1.3, 0.9, 2.5, 1e7)
    assert np.isnan(recalibration.apply(np.array([[[0.0, np.nan]]]))[0, 0, 1])


@pytest.mark.usefixtures("core")
def test_no_rows_stay_no_rows():
    recalibration = NormalRecalibration(0.7, 1.3, 1.13, 2.5, 1e7)
    assert recalibration.apply(np.empty((3, 0, 2))).shape == (3, 0, 2)
    assert len(recalibration.uncertainty(np.empty((3, 0, 2)))) == 0
