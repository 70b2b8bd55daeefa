"""The decompositions: laws, hand-made computations, and the edges where a probability or a variance is zero."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from epiboost._posterior.decomposition import decompose_categorical, decompose_normal
from epiboost._posterior.divergences import expected_pairwise_kl, reverse_mutual_information
from epiboost._posterior.uncertainty import Uncertainty

DECOMPOSITIONS = {"normal": decompose_normal, "categorical": decompose_categorical}
FAMILIES = sorted(DECOMPOSITIONS)

law = settings(deadline=None, max_examples=50)
every_family = pytest.mark.parametrize("family", FAMILIES)


@st.composite
def normal_parameters(draw, smallest_variance=0.0):
    members, samples = draw(array_shapes(min_dims=2, max_dims=2, max_side=5))
    mean = draw(arrays(np.float64, (members, samples), elements=st.floats(-1e3, 1e3)))
    variance = draw(arrays(np.float64, (members, samples), elements=st.floats(smallest_variance, 1e3)))
    return np.stack([mean, variance], axis=2)


@st.composite
def categorical_parameters(draw, smallest_weight=0.0):
    members, samples = draw(array_shapes(min_dims=2, max_dims=2, max_side=5))
    classes = draw(st.integers(2, 4))
    weights = draw(arrays(np.float64, (members, samples, classes), elements=st.floats(smallest_weight, 1.0)))
    weights[weights.sum(axis=2) < 1e-3] = 1.0
    return weights / weights.sum(axis=2, keepdims=True)


PARAMETERS = {"normal": normal_parameters(), "categorical": categorical_parameters()}


def kl_of_normals(one, other):
    (mean, variance), (other_mean, other_variance) = one, other
    return 0.5 * (math.log(other_variance / variance) + (variance + (mean - other_mean) ** 2) / other_variance - 1.0)


def kl_of_classes(one, other):
    terms = []
    for p, q in zip(one, other, strict=True):
        if p > 0.0:
            terms.append(p * (math.log(p) - math.log(q)) if q > 0.0 else math.inf)
    return sum(terms)


def entropy(probabilities):
    return -sum(p * math.log(p) for p in probabilities if p > 0.0)


def per_sample(parameters, compute):
    return np.array([compute(parameters[:, sample]) for sample in range(parameters.shape[1])])


def mean_over_pairs(kl):
    return lambda members: sum(kl(one, other) for one in members for other in members) / len(members) ** 2


def mean_from_average(members):
    average = members.mean(axis=0)
    return sum(kl_of_classes(average, member) for member in members) / len(members)


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
    straight, shuffled = DECOMPOSITIONS[family](parameters), DECOMPOSITIONS[family](parameters[order])
    for part in ("total", "data", "knowledge"):
        np.testing.assert_allclose(getattr(shuffled, part), getattr(straight, part), rtol=1e-9, atol=1e-9)


@every_family
@law
@given(data=st.data(), n_members=st.integers(1, 11))
def test_equal_members_know_everything(family, data, n_members):
    member = data.draw(PARAMETERS[family])[:1]
    parameters = np.repeat(member, n_members, axis=0)
    uncertainty = DECOMPOSITIONS[family](parameters)
    assert (uncertainty.knowledge == 0.0).all()
    np.testing.assert_allclose(uncertainty.data, DECOMPOSITIONS[family](member).total, rtol=1e-12)
    assert (expected_pairwise_kl(parameters, family) == 0.0).all()


@every_family
@law
@given(data=st.data())
def test_members_told_twice_say_the_same(family, data):
    parameters = data.draw(PARAMETERS[family])
    once, twice = DECOMPOSITIONS[family](parameters), DECOMPOSITIONS[family](np.repeat(parameters, 2, axis=0))
    np.testing.assert_allclose(twice.knowledge, once.knowledge, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(twice.total, once.total, rtol=1e-9, atol=1e-9)


@every_family
def test_a_row_does_not_depend_on_the_length_of_the_table(family):
    random = np.random.default_rng(0)
    parameters = random.uniform(0.1, 1.0, size=(3, 40_000, 2))
    if family == "categorical":
        parameters /= parameters.sum(axis=2, keepdims=True)
    rows = [0, 16_383, 16_384, 16_385, 32_768, 39_999]
    whole, few = DECOMPOSITIONS[family](parameters), DECOMPOSITIONS[family](parameters[:, rows])
    np.testing.assert_array_equal(whole.knowledge[rows], few.knowledge)
    np.testing.assert_array_equal(whole.data[rows], few.data)
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
def test_the_parameters_are_left_alone(family):
    parameters = np.full((2, 3, 2), 0.5)
    parameters.flags.writeable = False
    DECOMPOSITIONS[family](parameters)
    expected_pairwise_kl(parameters, family)


@law
@given(normal_parameters())
def test_variances_of_normals_equal_numpys(parameters):
    uncertainty = decompose_normal(parameters)
    np.testing.assert_allclose(uncertainty.knowledge, parameters[:, :, 0].var(axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(uncertainty.data, parameters[:, :, 1].mean(axis=0), rtol=1e-12, atol=1e-12)
    assert uncertainty.unit == "variance"


def test_the_total_variance_is_that_of_draws_from_the_members():
    random = np.random.default_rng(0)
    parameters = np.array([[[0.0, 1.0]], [[3.0, 4.0]], [[-1.0, 0.25]]])
    draws = random.normal(parameters[:, :, 0], np.sqrt(parameters[:, :, 1]), size=(200_000, 3, 1))
    np.testing.assert_allclose(decompose_normal(parameters).total, draws.var(), rtol=0.01)


@law
@given(normal_parameters(), st.floats(-100.0, 100.0), st.floats(-100.0, 100.0))
def test_variances_ignore_a_shift_and_scale_squared(parameters, scale, shift):
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


def test_members_sure_of_different_classes_lack_knowledge_only():
    uncertainty = decompose_categorical(np.eye(3)[:, np.newaxis, :])
    np.testing.assert_allclose(uncertainty.knowledge, [math.log(3)], rtol=1e-15)
    assert uncertainty.data == [0.0]


def test_a_tiny_disagreement_keeps_its_digits():
    shift = 1e-9
    parameters = np.array([[[0.5 + shift, 0.5 - shift]], [[0.5 - shift, 0.5 + shift]]])
    np.testing.assert_allclose(decompose_categorical(parameters).knowledge, [2 * shift**2], rtol=0, atol=1e-16)


def test_knowledge_of_a_distant_target_keeps_its_digits():
    parameters = np.array([[[1e9, 1.0]], [[1e9 + 1.0, 1.0]]])
    np.testing.assert_allclose(decompose_normal(parameters).knowledge, [0.25], rtol=1e-12)


@law
@given(normal_parameters(smallest_variance=1e-3))
def test_pairwise_divergence_of_normals_equals_a_loop_over_pairs(parameters):
    expected = per_sample(parameters, mean_over_pairs(kl_of_normals))
    np.testing.assert_allclose(expected_pairwise_kl(parameters, "normal"), expected, rtol=1e-9, atol=1e-9)


@law
@given(categorical_parameters())
def test_pairwise_divergence_of_classes_equals_a_loop_over_pairs(parameters):
    expected = per_sample(parameters, mean_over_pairs(kl_of_classes))
    np.testing.assert_allclose(expected_pairwise_kl(parameters, "categorical"), expected, rtol=1e-9, atol=1e-12)


@law
@given(categorical_parameters())
def test_reverse_information_of_classes_equals_a_loop(parameters):
    expected = per_sample(parameters, mean_from_average)
    np.testing.assert_allclose(reverse_mutual_information(parameters, "categorical"), expected, rtol=1e-9, atol=1e-12)


@law
@given(categorical_parameters(smallest_weight=1e-3))
def test_pairwise_divergence_is_mutual_plus_reverse_information(parameters):
    mutual = decompose_categorical(parameters).knowledge
    reverse = reverse_mutual_information(parameters, "categorical")
    pairwise = per_sample(parameters, mean_over_pairs(kl_of_classes))
    np.testing.assert_allclose(pairwise, mutual + reverse, rtol=0, atol=1e-12)


def test_a_class_that_one_member_rules_out_is_infinitely_far():
    parameters = np.array([[[1.0, 0.0]], [[0.5, 0.5]]])
    assert expected_pairwise_kl(parameters, "categorical") == [np.inf]
    assert reverse_mutual_information(parameters, "categorical") == [np.inf]
    assert np.isfinite(decompose_categorical(parameters).knowledge).all()


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ([[1.0, 0.0], [1.0, 0.0]], 0.0),
        ([[1.0, 0.0], [2.0, 0.0]], np.inf),
        ([[1.0, 0.0], [1.0, 1.0]], np.inf),
        ([[1.0, 0.0]], 0.0),
    ],
    ids=["equal points", "two points", "a point and a Normal", "one point"],
)
def test_a_point_mass_is_infinitely_far_from_all_but_itself(members, expected):
    assert expected_pairwise_kl(np.array(members)[:, np.newaxis], "normal") == [expected]


def test_reverse_information_of_normals_is_refused_with_a_way_out():
    with pytest.raises(ValueError, match="no closed form; use expected_pairwise_kl"):
        reverse_mutual_information(np.ones((2, 3, 2)), "normal")


@pytest.mark.parametrize(
    ("shape", "family", "fault"),
    [
        ((3, 2), "normal", r"\(members, samples, outputs\), got \(3, 2\)"),
        ((0, 3, 2), "normal", "at least one member"),
        ((2, 3, 3), "normal", "two outputs, mean and variance, got 3"),
        ((2, 3, 1), "categorical", "two or more outputs, one per class, got 1"),
        ((2, 3, 2), "poisson", r"one of \('normal', 'categorical', 'mean'\), got 'poisson'"),
    ],
)
def test_a_wrong_shape_or_family_is_named(shape, family, fault):
    with pytest.raises(ValueError, match=fault):
        expected_pairwise_kl(np.ones(shape), family)


@pytest.fixture
def uncertainty():
    return Uncertainty(np.array([3.0, 1.0]), np.array([1.0, 1.0]), np.array([2.0, 0.0]), unit="variance")


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_one_row_a_sample_and_one_column_a_part(uncertainty, backend):
    library = pytest.importorskip(backend)
    frame = uncertainty.to_frame(backend=backend)
    assert isinstance(frame, library.Table if backend == "pyarrow" else library.DataFrame)
    columns = frame.to_pydict() if backend == "pyarrow" else {name: list(frame[name]) for name in frame.columns}
    assert columns == {"total": [3.0, 1.0], "data": [1.0, 1.0], "knowledge": [2.0, 0.0]}


def test_an_unknown_frame_backend_is_refused(uncertainty):
    with pytest.raises(ValueError, match=r"one of \('pandas', 'polars', 'pyarrow'\), got 'spark'"):
        uncertainty.to_frame(backend="spark")


def test_a_missing_frame_backend_is_named(uncertainty, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="needs the package 'polars'"):
        uncertainty.to_frame(backend="polars")


def test_an_uncertainty_cannot_be_changed(uncertainty):
    with pytest.raises(AttributeError):
        uncertainty.total = np.zeros(2)


@pytest.mark.parametrize("knowledge", [np.zeros(3), np.zeros((2, 1))])
def test_parts_of_different_shapes_are_refused(knowledge):
    with pytest.raises(ValueError, match="must have the same shape"):
        Uncertainty(np.zeros(2), np.zeros(2), knowledge, unit="nats")


def test_an_unknown_unit_is_refused():
    with pytest.raises(ValueError, match="got 'bits'"):
        Uncertainty(np.zeros(2), np.zeros(2), np.zeros(2), unit="bits")
