"""Every objective's gradient, parameters, loss and header agree with each other."""

import numpy as np
import pytest
from scipy.stats import norm

from epiboost._boosting.objectives import OBJECTIVES, Bernoulli, Categorical, Normal, Objective, objective_from_header

SCORES = np.random.default_rng(0).normal(size=(20, 3))
CASES = {
    "normal": (Normal(10.0, 2.0), SCORES[:, :2], np.linspace(-2, 2, 20)),
    "bernoulli": (Bernoulli(0.3), SCORES[:, :1], np.arange(20) % 2.0),
    "categorical": (Categorical((-1.0, -0.9, -1.3)), SCORES, np.arange(20) % 3.0),
}


@pytest.fixture(params=CASES)
def case(request):
    """An objective, scores and encoded targets."""
    return CASES[request.param]


def slopes(objective, scores, y):
    """Return the numerical derivative of each row's loss by each of its scores."""
    step = 1e-5 * np.eye(scores.shape[1])
    up, down = ([objective.row_losses(scores + sign * one, y) for one in step] for sign in (1, -1))
    return (np.stack(up, axis=1) - np.stack(down, axis=1)) / 2e-5


def test_the_gradient_is_the_slope_of_the_loss_by_the_inverse_fisher_matrix(case):
    objective, scores, y = case
    expected = slopes(objective, scores, y)
    if objective.family == "normal":  # the Fisher matrix of (mean, log std) is diag(1 / std², 2)
        expected *= np.stack([np.exp(2 * scores[:, 1]), np.full(20, 0.5)], axis=1)
    np.testing.assert_allclose(objective.gradient(scores, y), expected, atol=1e-8)


def test_the_loss_is_the_likelihood_of_the_parameters(case):
    objective, scores, y = case
    weight = np.arange(1.0, 21.0)
    parameters = objective.parameters(scores)
    if objective.family == "normal":
        target = objective.location + objective.scale * y
        np.testing.assert_allclose(objective.encode(target), y, atol=1e-12)
        losses = -norm.logpdf(target, parameters[:, 0], np.sqrt(parameters[:, 1]))
    else:
        losses = -np.log(parameters[np.arange(20), y.astype(int)])
    assert objective.loss(scores, y, weight) == pytest.approx(np.average(losses, weights=weight))


def test_a_correction_changes_the_deviation_of_a_normal_alone(case):
    objective, scores, y = case
    plain, corrected = (objective.gradient(scores, y, correction) for correction in (0.0, np.ones(20)))
    changed = (plain != corrected).any(axis=0).tolist()
    assert changed == ([False, True] if objective.family == "normal" else [False] * scores.shape[1])


def test_an_objective_is_the_same_after_a_file(case):
    objective, _, _ = case
    again = objective_from_header(objective.to_header())
    assert again == objective
    assert isinstance(again, Objective)


@pytest.mark.parametrize(("n_classes", "family"), [(0, Normal), (2, Bernoulli), (3, Categorical)])
def test_the_start_is_that_of_the_weighted_target(n_classes, family):
    y = np.arange(12.0) if n_classes == 0 else np.arange(12) % n_classes * 1.0
    weight = np.arange(1.0, 13.0)
    objective = OBJECTIVES[family.name].of(y, weight, n_classes)
    assert isinstance(objective, family)
    parameters = objective.parameters(objective.start[np.newaxis])[0]
    mean = np.average(y, weights=weight)
    expected = [np.average(y == label, weights=weight) for label in range(n_classes)]
    np.testing.assert_allclose(parameters, expected or [mean, np.average((y - mean) ** 2, weights=weight)])


@pytest.mark.parametrize(("header", "fault"), [
    ({"name": "cauchy", "rate": 1.0}, "unknown objective 'cauchy'; known are 'normal', 'bernoulli', 'categorical'"),
    ({"name": "normal", "location": 0.0, "scale": 0.0}, "the scale must be positive"),
    ({"name": "bernoulli", "log_odds": float("nan")}, "not finite"),
])  # fmt: skip
def test_an_impossible_header_is_refused(header, fault):
    with pytest.raises(ValueError, match=fault):
        objective_from_header(header)
