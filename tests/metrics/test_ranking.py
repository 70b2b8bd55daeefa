"""Rejection curves and the prediction–rejection ratio, against the definition of the paper and a slow twin."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epiboost.metrics import (
    UndefinedScoreError,
    prediction_errors,
    prediction_rejection_score,
    rejection_curve,
)

cases = st.integers(2, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(lambda errors: len(set(errors)) > 1),
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
        st.lists(st.integers(1, 3), min_size=n, max_size=n),
        st.permutations(range(n)),
    )
)


def area_by_hand(errors, uncertainty):
    """Return the area under the removed share of the error, rejecting one sample at a time."""
    order = sorted(range(len(errors)), key=lambda row: -uncertainty[row])
    removed = [0.0]
    for row in order:
        removed.append(removed[-1] + errors[row])
    steps = [(before + after) / 2 for before, after in itertools.pairwise(removed)]
    return sum(steps) / len(errors) / removed[-1]


def score_by_hand(errors, uncertainty):
    return (area_by_hand(errors, uncertainty) - 0.5) / (area_by_hand(errors, errors) - 0.5)


def score_over_all_tie_orders(errors, uncertainty, weight):
    """Return the score with the mean error of each group of ties, repeating samples by weight: O(n²), no sorting."""
    errors, uncertainty = np.repeat(errors, weight), np.repeat(uncertainty, weight)
    smoothed = [errors[uncertainty == value].mean() for value in uncertainty]
    return (area_by_hand(smoothed, uncertainty) - 0.5) / (area_by_hand(errors, errors) - 0.5)


def test_without_ties_the_score_equals_the_definition_of_the_paper():
    generator = np.random.default_rng(0)
    errors = generator.gamma(0.5, size=50)
    uncertainty = errors + generator.normal(size=50)
    assert prediction_rejection_score(errors=errors, uncertainty=uncertainty) == pytest.approx(
        score_by_hand(errors, uncertainty), rel=1e-12
    )


def test_the_score_of_four_samples_equals_one_computed_by_hand():
    # Four samples, errors 1, 0, 1, 0 from the most to the least uncertain. Removed: 0, 1/2, 1/2, 1, 1.
    # Area (1/4 + 1/2 + 3/4 + 1) / 4 = 5/8; oracle 0, 1/2, 1, 1, 1: (1/4 + 3/4 + 1 + 1) / 4 = 3/4.
    assert prediction_rejection_score(errors=[0, 1, 0, 1], uncertainty=[1, 2, 3, 4]) == pytest.approx(0.125 / 0.25)


@given(cases)
def test_ties_and_weights_agree_with_the_slow_twin(case):
    errors, uncertainty, weight, _ = case
    found = prediction_rejection_score(errors=errors, uncertainty=uncertainty, sample_weight=weight)
    assert found == pytest.approx(score_over_all_tie_orders(errors, uncertainty, weight), abs=1e-12)


@given(cases)
def test_the_order_of_rows_changes_no_bit(case):
    errors, uncertainty, weight, order = (np.array(part) for part in case)
    one = rejection_curve(errors=errors, uncertainty=uncertainty, sample_weight=weight / 3)
    other = rejection_curve(errors=errors[order], uncertainty=uncertainty[order], sample_weight=weight[order] / 3)
    np.testing.assert_array_equal(one.error, other.error)
    np.testing.assert_array_equal(one.rejected, other.rejected)
    assert one.score == other.score


@given(cases)
def test_the_oracle_scores_one_its_reverse_minus_one_and_a_constant_zero(case):
    errors, uncertainty, weight, _ = (np.array(part) for part in case)
    score = lambda measure: prediction_rejection_score(errors=errors, uncertainty=measure, sample_weight=weight)  # noqa: E731
    assert score(errors) == pytest.approx(1.0)
    assert score(-errors) == pytest.approx(-1.0)
    assert score(np.zeros(len(errors))) == 0.0
    assert score(-errors) - 1e-12 <= score(uncertainty) <= score(errors) + 1e-12


@given(cases)
def test_only_the_order_of_uncertainties_matters(case):
    errors, uncertainty, *_ = (np.array(part) for part in case)
    assert prediction_rejection_score(errors=errors, uncertainty=uncertainty) == prediction_rejection_score(
        errors=errors, uncertainty=np.exp(uncertainty) - 7
    )


def test_a_sample_without_weight_does_not_count():
    weighted = prediction_rejection_score(errors=[1, 0, 3, 9], uncertainty=[3, 2, 1, 9], sample_weight=[1, 1, 1, 0])
    assert weighted == prediction_rejection_score(errors=[1, 0, 3], uncertainty=[3, 2, 1])


def test_an_infinite_uncertainty_is_the_largest():
    infinite = prediction_rejection_score(errors=[5, 0, 3], uncertainty=[np.inf, -np.inf, 1])
    assert infinite == prediction_rejection_score(errors=[5, 0, 3], uncertainty=[2, 0, 1])


def test_errors_are_squared_for_numbers_and_zero_or_one_for_labels():
    assert prediction_errors([1, 2], [1.5, 4.0]).tolist() == [0.25, 4.0]
    assert prediction_errors([1, 2], [1, 4]).tolist() == [0.0, 1.0]
    assert prediction_errors(["a", "b"], ["a", "c"]).tolist() == [0.0, 1.0]
    assert prediction_errors([1, 2], [1, 4], loss="squared").tolist() == [0.0, 4.0]
    assert prediction_errors([1.0, 2.0], [1.0, 4.0], loss="absolute").tolist() == [0.0, 2.0]


def test_targets_and_predictions_give_the_score_of_their_errors():
    y, predicted, uncertainty = np.random.default_rng(0).normal(size=(3, 20))
    assert prediction_rejection_score(y, predicted, uncertainty) == prediction_rejection_score(
        errors=(y - predicted) ** 2, uncertainty=uncertainty
    )


def test_the_curve_falls_from_the_error_of_the_model_to_zero():
    curve = rejection_curve(errors=[1, 0, 3, 0], uncertainty=[1, 1, 2, 3])
    assert curve.rejected.tolist() == [0.0, 0.25, 0.5, 1.0]
    assert curve.error.tolist() == [1.0, 1.0, 0.25, 0.0]
    assert curve.oracle_rejected.tolist() == [0.0, 0.25, 0.5, 1.0]
    assert curve.oracle_error.tolist() == [1.0, 0.25, 0.0, 0.0]


def test_a_model_without_errors_has_a_flat_curve_and_no_score():
    curve = rejection_curve(errors=[0, 0, 0], uncertainty=[1, 2, 3])
    assert not curve.error.any()
    with pytest.raises(UndefinedScoreError, match="all errors are equal: the model makes none"):
        prediction_rejection_score(errors=[0, 0, 0], uncertainty=[1, 2, 3])


def test_equal_errors_have_no_score():
    with pytest.raises(UndefinedScoreError, match="not defined when all errors are equal; no order"):
        prediction_rejection_score(errors=[0.1, 0.1, 0.1], uncertainty=[1, 2, 3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"errors": [], "uncertainty": []}, "errors is empty"),
        ({"y_true": [], "y_pred": [], "uncertainty": []}, "n at least 1"),
        ({"errors": [1, 0], "uncertainty": [np.nan, 1]}, "uncertainty must not be NaN, got 1"),
        ({"errors": [np.nan, 0], "uncertainty": [0, 1]}, "errors must be finite"),
        ({"errors": [-1, 0], "uncertainty": [0, 1]}, "errors must not be negative, got -1"),
        ({"errors": [1, 0], "uncertainty": [0, 1, 2]}, "one entry per sample, 2, got 3"),
        ({"errors": [1, 0], "uncertainty": [0, 1], "sample_weight": [-1, 1]}, "must not be negative, got -1"),
        ({"errors": [1, 0], "uncertainty": [0, 1], "sample_weight": [0, 0]}, "zero for every sample"),
        ({"errors": [1, 0], "uncertainty": [0, 1], "sample_weight": [1, np.nan]}, "sample_weight must be finite"),
        ({"errors": [1, 0], "y_true": [1, 0], "uncertainty": [0, 1]}, "not both"),
        ({"uncertainty": [0, 1]}, "give y_true and y_pred, or errors"),
        ({"errors": [1, 0]}, "uncertainty is missing"),
        ({"errors": [[1, 0]], "uncertainty": [0, 1]}, r"shape \(n,\), got \(1, 2\)"),
        ({"y_true": [1, 0], "y_pred": [1, 0], "uncertainty": [0, 1], "loss": "log"}, "loss must be one of"),
        ({"y_true": [1.0, np.nan], "y_pred": [1.0, 0.0], "uncertainty": [0, 1]}, "y_true must be finite"),
    ],
)
def test_arguments_that_cannot_be_ranked_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        prediction_rejection_score(**arguments)


def test_errors_near_the_largest_number_do_not_overflow():
    errors = np.array([1.0, 0.5, 0.25, 0.0])
    for order in ([4, 3, 2, 1], [1, 3, 2, 4]):
        huge = prediction_rejection_score(errors=1.6e308 * errors, uncertainty=order)
        assert huge == pytest.approx(prediction_rejection_score(errors=errors, uncertainty=order))


def test_errors_that_overflow_are_refused():
    with pytest.raises(ValueError, match="squared errors must be finite, got 1 that are too large"):
        prediction_rejection_score([1e200, 0.0], [0.0, 1.0], [1, 2])
    assert prediction_rejection_score([1e200, 0.0], [0.0, 1.0], [2, 1], loss="absolute") == 1.0
    with pytest.raises(ValueError, match="absolute errors must be finite"):
        prediction_rejection_score([1e308, 0.0], [-1e308, 1.0], [1, 2], loss="absolute")


def test_labels_of_different_kinds_are_refused():
    with pytest.raises(ValueError, match="y_true holds <U1 and y_pred int64; give labels of the same kind"):
        prediction_rejection_score(["a", "b"], [1, 2], [1, 2])
