"""Sample weights: which are refused, and which give a sound model."""

import numpy as np
import pytest

from tests.support.models import every_ensemble, every_estimator, small_estimator, small_regressor
from tests.support.tables import TARGETS, X, Y, with_first

ONES = np.ones(60)


@every_estimator
@pytest.mark.parametrize(
    ("weight", "fault"),
    [
        (with_first(ONES, -1.0), r"sample_weight must not be negative; got -1\.0"),
        (-1.0, r"sample_weight must not be negative; got -1\.0"),
        (np.zeros(60), "sample_weight is zero for every row"),
        (with_first(ONES, np.nan), "Input sample_weight contains NaN"),
        (with_first(ONES, np.inf), "Input sample_weight contains infinity"),
        (with_first(ONES, 2.2e9), r"must not differ by more than a factor of 1e\+09; got weights of 2.2e\+09 and 1"),
        (ONES[:59], r"shape \(60,\); got shape \(59,\)"),
        (np.ones((60, 1)), r"shape \(60,\); got shape \(60, 1\)"),
        (np.ones((60, 2)), r"shape \(60,\); got shape \(60, 2\)"),
        (ONES + 1j, "Complex data not supported"),
        (["a"] * 60, "sample_weight must hold numbers; could not convert string to float"),
    ],
)
def test_invalid_weights_are_refused(estimator, weight, fault):
    with pytest.raises(ValueError, match=fault):
        small_estimator(estimator).fit(X, TARGETS[estimator], sample_weight=weight)


@every_estimator
def test_a_single_weight_applies_to_every_row(estimator):
    each = (
        small_estimator(estimator)
        .fit(X, TARGETS[estimator], sample_weight=np.full(60, 2))
        .predict_posterior(X)
        .parameters
    )
    once = small_estimator(estimator).fit(X, TARGETS[estimator], sample_weight=2).predict_posterior(X).parameters
    np.testing.assert_array_equal(once, each)


@every_ensemble
@every_estimator
@pytest.mark.parametrize("weight", [1e-300, 1e-30, 1e-6, 1e-4, 1.0 / 60, 1e20, 1e38, 1e300])
def test_weights_of_any_size_give_a_sound_model_or_are_refused(ensemble, estimator, weight):
    model = small_estimator(estimator, ensemble=ensemble)
    try:
        model.fit(X, TARGETS[estimator], sample_weight=np.full(60, weight))
    except ValueError as error:
        assert "sample_weight" in str(error)  # noqa: PT017 (either end is right, so there may be no error)
        return
    if estimator == "regressor":
        reach = 2.0 * np.ptp(Y)
        assert np.abs(model.predict(X) - Y.mean()).max() < reach
        assert model.predict_uncertainty(X).total.max() < reach**2
    else:
        assert np.isfinite(model.predict_proba(X)).all()
    if weight >= 1.0:  # enough weight for the model to learn
        assert model.score(X, TARGETS[estimator]) > 0.3


def test_a_single_row_of_positive_weight_is_refused():
    with pytest.raises(ValueError, match=r"Found 1 sample\(s\) of positive weight while a minimum of 2 is required"):
        small_regressor().fit(X, Y, sample_weight=with_first(np.zeros(60), 1.0))


def test_rows_far_outside_that_weigh_next_to_nothing_are_no_reason_for_a_warning():
    weight = np.full(len(Y), 1e-300)
    weight[:2] = 1.0
    y = np.where(weight == 1.0, 1e-30 * np.arange(len(Y)), 1e30)
    model = small_regressor().fit(X, y, sample_weight=weight)  # warnings are errors in tests
    assert np.isfinite(model.predict_uncertainty(X).total).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_whose_rows_weigh_next_to_nothing_have_finite_probabilities(classes):
    y = np.arange(len(Y)) % classes
    model = small_estimator("classifier").fit(X, y, sample_weight=np.where(y == 0, 1e-300, 1e-20))
    assert np.isfinite(model.predict_proba(X)).all()
