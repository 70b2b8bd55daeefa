"""The decomposition of uncertainty: laws of both families, and comparison with loops and with NumPy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epiboost._posterior.divergences import expected_pairwise_kl
from epiboost._posterior.uncertainty import decompose_categorical, decompose_normal
from tests.support.posteriors import categorical_parameters, law, normal_parameters

DECOMPOSITIONS = {"normal": decompose_normal, "categorical": decompose_categorical}
PARAMETERS = {"normal": normal_parameters(), "categorical": categorical_parameters()}
every_family = pytest.mark.parametrize("family", sorted(DECOMPOSITIONS))


def entropy(probabilities):
    return -sum(p * math.log(p) for p in probabilities if p > 0.0)


def per_sample(parameters, compute):
    return np.array([compute(parameters[:, sample]) for sample in range(parameters.shape[1])])


@every_family
@law
@given(data=st.data())
def test_total_is_data_plus_knowledge(family, data):
    uncertainty = DECOMPOSITIONS[family](data.draw(PARAMETERS[family]))
    np.testing.assert_allclose(uncertainty.total, uncertainty.data + uncertainty.knowledge, rtol=1e-12, atol=1e-12)


@every_family
@law
@given(data=st.data())
def test_no_part_is_negative(family, data):
    uncertainty = DECOMPOSITIONS[family](data.draw(PARAMETERS[family]))
    assert (uncertainty.knowledge >= 0.0).all()
    assert (uncertainty.data >= 0.0).all()


@every_family
@law
@given(data=st.data())
def test_the_order_of_members_is_irrelevant(family, data):
    parameters = data.draw(PARAMETERS[family])
    order = data.draw(st.permutations(range(len(parameters))))
    original, shuffled = DECOMPOSITIONS[family](parameters), DECOMPOSITIONS[family](parameters[order])
    for part in ("total", "data", "knowledge"):
        np.testing.assert_allclose(getattr(shuffled, part), getattr(original, part), rtol=1e-9, atol=1e-9)


def test_subnormal_probabilities_add_no_knowledge_in_any_order():
    parameters = np.array([[[1.0, 5e-324]], [[1.0, 0.0]]])
    for members in (parameters, parameters[::-1]):
        assert DECOMPOSITIONS["categorical"](members).knowledge == 0.0


@every_family
@law
@given(data=st.data(), n_members=st.integers(1, 11))
def test_equal_members_have_no_knowledge_uncertainty(family, data, n_members):
    member = data.draw(PARAMETERS[family])[:1]
    parameters = np.repeat(member, n_members, axis=0)
    uncertainty = DECOMPOSITIONS[family](parameters)
    assert (uncertainty.knowledge == 0.0).all()
    np.testing.assert_allclose(uncertainty.data, DECOMPOSITIONS[family](member).total, rtol=1e-12)
    assert (expected_pairwise_kl(parameters, family) == 0.0).all()


@every_family
@law
@given(data=st.data())
def test_doubling_every_member_changes_nothing(family, data):
    parameters = data.draw(PARAMETERS[family])
    once, twice = DECOMPOSITIONS[family](parameters), DECOMPOSITIONS[family](np.repeat(parameters, 2, axis=0))
    np.testing.assert_allclose(twice.knowledge, once.knowledge, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(twice.total, once.total, rtol=1e-9, atol=1e-9)


@every_family
def test_a_row_does_not_depend_on_the_length_of_the_table(family):
    generator = np.random.default_rng(0)
    parameters = generator.uniform(0.1, 1.0, size=(3, 40_000, 2))
    if family == "categorical":
        parameters /= parameters.sum(axis=2, keepdims=True)
    rows = [0, 16_383, 16_384, 16_385, 32_768, 39_999]
    all_rows, few = DECOMPOSITIONS[family](parameters), DECOMPOSITIONS[family](parameters[:, rows])
    np.testing.assert_array_equal(all_rows.knowledge[rows], few.knowledge)
    np.testing.assert_array_equal(all_rows.data[rows], few.data)
    divergence = expected_pairwise_kl(parameters, family)
    np.testing.assert_array_equal(divergence[rows], expected_pairwise_kl(parameters[:, rows], family))


@every_family
def test_an_empty_table_has_no_uncertainty(family):
    assert len(DECOMPOSITIONS[family](np.empty((3, 0, 2)))) == 0


@every_family
def test_single_precision_becomes_double(family):
    uncertainty = DECOMPOSITIONS[family](np.full((2, 3, 2), 0.5, dtype=np.float32))
    assert uncertainty.total.dtype == np.float64


@every_family
def test_the_parameters_are_not_written_to(family):
    parameters = np.full((2, 3, 2), 0.5)
    parameters.flags.writeable = False
    DECOMPOSITIONS[family](parameters)
    expected_pairwise_kl(parameters, family)


@law
@given(normal_parameters())
def test_variances_of_normals_equal_those_of_numpy(parameters):
    uncertainty = decompose_normal(parameters)
    np.testing.assert_allclose(uncertainty.knowledge, parameters[:, :, 0].var(axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(uncertainty.data, parameters[:, :, 1].mean(axis=0), rtol=1e-12, atol=1e-12)
    assert uncertainty.unit == "variance"


def test_the_total_variance_is_that_of_draws_from_the_members():
    generator = np.random.default_rng(0)
    parameters = np.array([[[0.0, 1.0]], [[3.0, 4.0]], [[-1.0, 0.25]]])
    draws = generator.normal(parameters[:, :, 0], np.sqrt(parameters[:, :, 1]), size=(200_000, 3, 1))
    np.testing.assert_allclose(decompose_normal(parameters).total, draws.var(), rtol=0.01)


@law
@given(normal_parameters(), st.floats(-100.0, 100.0), st.floats(-100.0, 100.0))
def test_variances_ignore_a_shift_and_scale_with_the_square(parameters, scale, shift):
    moved = np.stack([scale * parameters[:, :, 0] + shift, scale**2 * parameters[:, :, 1]], axis=2)
    before, after = decompose_normal(parameters), decompose_normal(moved)
    np.testing.assert_allclose(after.knowledge, scale**2 * before.knowledge, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(after.data, scale**2 * before.data, rtol=1e-9, atol=1e-9)


@law
@given(categorical_parameters())
def test_entropies_of_classes_equal_a_loop(parameters):
    uncertainty = decompose_categorical(parameters)
    total = per_sample(parameters, lambda members: entropy(members.mean(axis=0)))
    data = per_sample(parameters, lambda members: sum(map(entropy, members)) / len(members))
    np.testing.assert_allclose(uncertainty.total, total, rtol=0, atol=1e-12)
    np.testing.assert_allclose(uncertainty.data, data, rtol=0, atol=1e-12)
    np.testing.assert_allclose(uncertainty.knowledge, total - data, rtol=0, atol=1e-12)
    assert uncertainty.unit == "nats"


def test_members_certain_of_different_classes_have_knowledge_uncertainty_only():
    uncertainty = decompose_categorical(np.eye(3)[:, np.newaxis, :])
    np.testing.assert_allclose(uncertainty.knowledge, [math.log(3)], rtol=1e-15)
    assert uncertainty.data == [0.0]


def test_a_tiny_disagreement_is_not_lost_to_rounding():
    shift = 1e-9
    parameters = np.array([[[0.5 + shift, 0.5 - shift]], [[0.5 - shift, 0.5 + shift]]])
    np.testing.assert_allclose(decompose_categorical(parameters).knowledge, [2 * shift**2], rtol=0, atol=1e-16)


def test_knowledge_of_a_large_target_is_not_lost_to_rounding():
    parameters = np.array([[[1e9, 1.0]], [[1e9 + 1.0, 1.0]]])
    np.testing.assert_allclose(decompose_normal(parameters).knowledge, [0.25], rtol=1e-12)
