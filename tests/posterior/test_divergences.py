"""Divergences between members equal loops over pairs, and are infinite where a member rules an outcome out."""

import math

import numpy as np
import pytest
from hypothesis import given

from epiboost._posterior.divergences import expected_pairwise_kl, reverse_mutual_information
from epiboost._posterior.uncertainty import decompose_categorical
from tests.support.posteriors import categorical_parameters, law, normal_parameters

SMALLEST = float(np.finfo(np.float64).smallest_subnormal)


def kl_of_normals(one, other):
    (mean, variance), (other_mean, other_variance) = one, other
    return 0.5 * (math.log(other_variance / variance) + (variance + (mean - other_mean) ** 2) / other_variance - 1.0)


def kl_of_classes(one, other):
    terms = []
    for p, q in zip(one, other, strict=True):
        if p > 0.0:
            terms.append(p * (math.log(p) - math.log(q)) if q > 0.0 else math.inf)
    return sum(terms)


def per_sample(parameters, compute):
    return np.array([compute(parameters[:, sample]) for sample in range(parameters.shape[1])])


def mean_over_pairs(kl):
    return lambda members: sum(kl(one, other) for one in members for other in members) / len(members) ** 2


def mean_from_average(members):
    average = np.where(members.any(axis=0), np.maximum(members.mean(axis=0), SMALLEST), 0.0)  # a mean may round to zero
    return sum(kl_of_classes(average, member) for member in members) / len(members)


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


@pytest.mark.parametrize("probability", [0.5, 1e-300, 1e-308, SMALLEST])
def test_a_class_of_probability_zero_makes_divergences_infinite(probability):
    parameters = np.array([[[1.0, 0.0]], [[1.0 - probability, probability]]])
    assert expected_pairwise_kl(parameters, "categorical") == [np.inf]
    assert reverse_mutual_information(parameters, "categorical") == [np.inf]
    assert np.isfinite(decompose_categorical(parameters).knowledge).all()


def test_subnormal_probabilities_of_all_members_add_no_divergence():
    parameters = np.array([[[1.0, 1e-310]], [[1.0, SMALLEST]]])
    assert expected_pairwise_kl(parameters, "categorical") == [0.0]
    assert reverse_mutual_information(parameters, "categorical") == [0.0]


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
def test_a_point_mass_diverges_infinitely_from_everything_but_itself(members, expected):
    assert expected_pairwise_kl(np.array(members)[:, np.newaxis], "normal") == [expected]


def test_reverse_information_of_normals_is_refused_and_names_an_alternative():
    with pytest.raises(ValueError, match="no closed form; use expected_pairwise_kl"):
        reverse_mutual_information(np.ones((2, 3, 2)), "normal")


@pytest.mark.parametrize(
    ("shape", "family", "message"),
    [
        ((3, 2), "normal", r"\(members, samples, outputs\), got \(3, 2\)"),
        ((0, 3, 2), "normal", "at least one member"),
        ((2, 3, 3), "normal", "two outputs, mean and variance, got 3"),
        ((2, 3, 1), "categorical", "two or more outputs, one per class, got 1"),
        ((2, 3, 2), "cauchy", r"one of \('normal', .*, 'categorical', 'mean'\), got 'cauchy'"),
    ],
)
def test_a_wrong_shape_or_family_is_refused(shape, family, message):
    with pytest.raises(ValueError, match=message):
        expected_pairwise_kl(np.ones(shape), family)
