"""Native recalibration and entropies of classes equal their formulas in NumPy, on all instruction sets and threads."""

import numpy as np
import pytest
from scipy.special import entr, rel_entr, softmax

from epiboost._estimators.out_of_fold.categorical import CategoricalRecalibration
from epiboost._native import available_instruction_sets
from epiboost._posterior.uncertainty import decompose_categorical
from tests.support.class_recalibration import recalibrated

SHAPES = [(1, 5, 3), (2, 33, 2), (10, 700, 10), (3, 40, 200)]
SETTINGS = [(1.0, 1.0, 1e-3), (1.0, 4.0, 1e-3), (1.7, 1.0, 1e-3), (1.3, 0.3, 0.0), (1.1, 30.0, 1e-3)]


def members_of(shape, scale):
    rng = np.random.default_rng(len(shape) + shape[2])
    rows = scale * rng.normal(size=(1, *shape[1:]))
    return softmax(rows + 0.3 * scale * rng.normal(size=shape), axis=2)


@pytest.mark.parametrize("scale", [0.5, 3.0, 40.0])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.usefixtures("core")
def test_it_equals_its_formulas_in_numpy(settings, shape, scale):
    recalibration, members = CategoricalRecalibration(*settings), members_of(shape, scale)
    changed = recalibration.apply(members, threads=2)
    # Without an error of the mean, rounding decides whether a shift reaches below zero.
    atol = 1e-13 if recalibration.max_mean_error else 1e-6
    np.testing.assert_allclose(changed, recalibrated(recalibration, members), rtol=1e-10, atol=atol)
    uncertainty, expected = recalibration.uncertainty(members, threads=2), decompose_categorical(changed)
    np.testing.assert_array_equal(uncertainty.data, expected.data)
    np.testing.assert_array_equal(uncertainty.knowledge, expected.knowledge)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1e-4, 1.0, 40.0])
@pytest.mark.usefixtures("core")
def test_entropies_equal_those_of_scipy(shape, scale):
    members = members_of(shape, scale)
    uncertainty = decompose_categorical(members, threads=2)
    np.testing.assert_allclose(uncertainty.data, entr(members).sum(axis=2).mean(axis=0), rtol=1e-12, atol=1e-14)
    divergence = rel_entr(members, members.mean(axis=0)).sum(axis=2).mean(axis=0)
    np.testing.assert_allclose(uncertainty.knowledge, divergence, rtol=1e-10, atol=1e-14)


@pytest.mark.usefixtures("core")
def test_certain_members_keep_their_zeros_and_have_no_data_uncertainty():
    members = np.array([[[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]])
    np.testing.assert_array_equal(CategoricalRecalibration(2.0, 1.0).apply(members), members)
    uncertainty = decompose_categorical(members)
    assert uncertainty.data == 0.0
    assert uncertainty.knowledge == pytest.approx(np.log(2.0), rel=1e-15)


def test_instruction_sets_and_threads_do_not_change_the_bits(use_instructions):
    members = members_of((10, 700, 10), 3.0)
    recalibration = CategoricalRecalibration(1.3, 4.0)
    use_instructions("portable")
    expected = recalibration.apply(members)
    parts = decompose_categorical(expected)
    for instructions in available_instruction_sets():
        use_instructions(instructions)
        for threads in (1, 2, 5):
            np.testing.assert_array_equal(recalibration.apply(members, threads=threads), expected)
            uncertainty = recalibration.uncertainty(members, threads=threads)
            np.testing.assert_array_equal(uncertainty.data, parts.data)
            np.testing.assert_array_equal(uncertainty.knowledge, parts.knowledge)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.usefixtures("core")
def test_a_probability_that_is_not_a_number_stays_so(settings):
    members = np.full((3, 1, 2), 0.5)
    members[1, 0] = np.nan
    recalibration = CategoricalRecalibration(*settings)
    assert np.isnan(recalibration.apply(members)[1]).all()
    assert np.isnan(recalibration.uncertainty(members).data).all()


@pytest.mark.usefixtures("core")
def test_no_rows_stay_no_rows():
    recalibration = CategoricalRecalibration(1.3, 4.0)
    assert recalibration.apply(np.empty((3, 0, 2))).shape == (3, 0, 2)
    assert len(recalibration.uncertainty(np.empty((3, 0, 2)))) == 0
