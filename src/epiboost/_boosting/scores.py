"""From raw scores to gradients, distribution parameters and losses, for engines that leave those to us.

Scores have the shape (n, outputs), one output for two classes. The native core has the same functions in C++.

>>> import numpy as np
>>> from epiboost._boosting.objectives import Bernoulli
>>> parameters_of(Bernoulli(0.0), np.zeros((1, 1)))
array([[0.5, 0.5]])
"""

from collections.abc import Callable

import numpy as np
from scipy.special import expit, log_expit, logsumexp, softmax

from epiboost._boosting.objectives import Bernoulli, Categorical, Normal, Objective
from epiboost._typing import AnyArray, Floats

_LEAST_LOG_STD, _MOST_LOG_STD = -10.0, 5.0  # in units of the target's own
_HALF_LOG_TAU = 0.5 * np.log(2.0 * np.pi)


def gradient_of(objective: Objective, scores: Floats, y: Floats, pull: Floats | float = 0.0) -> Floats:
    """Return the gradient of the loss at the scores, shape (n, outputs); the natural one of a Normal.

    Parameters
    ----------
    scores : array of shape (n, outputs)
    y : array of shape (n,)
        In the units of the score.
    pull : array of shape (n,), optional
        What the residuals of a Normal have lost by being learned from; its standard deviation sees them without.
    """
    return _GRADIENTS[type(objective)](scores, y, pull)


def parameters_of(objective: Objective, scores: Floats) -> Floats:
    """Return mean and variance in the target's units, or class probabilities: shape (n, 2) or (n, classes)."""
    return _PARAMETERS[type(objective)](objective, scores)


def loss_of(objective: Objective, scores: Floats, y: Floats, weight: Floats) -> float:
    """Return the mean negative log-likelihood of rows, in the target's units."""
    losses = _LOSSES[type(objective)](scores, y)
    return float((weight * losses).sum() / weight.sum() + np.log(objective.units[1]))


def _log_std(scores: Floats) -> Floats:
    return np.clip(scores[:, 1], _LEAST_LOG_STD, _MOST_LOG_STD)


def _normal_gradient(scores: Floats, y: Floats, pull: Floats | float) -> Floats:
    residual = y - scores[:, 0]
    return np.stack([-residual, 0.5 - 0.5 * np.square((residual + pull) * np.exp(-_log_std(scores)))], axis=1)


def _categorical_gradient(scores: Floats, y: Floats, _: Floats | float) -> Floats:
    gradient: Floats = softmax(scores, axis=1)
    gradient[np.arange(len(y)), y.astype(np.int64)] -= 1.0
    return gradient


def _normal_parameters(objective: Objective, scores: Floats) -> Floats:
    location, scale = objective.units
    return np.stack([location + scale * scores[:, 0], np.square(scale * np.exp(_log_std(scores)))], axis=1)


def _normal_losses(scores: Floats, y: Floats) -> Floats:
    log_std = _log_std(scores)
    losses: Floats = _HALF_LOG_TAU + log_std + 0.5 * np.square((y - scores[:, 0]) * np.exp(-log_std))
    return losses


def _categorical_losses(scores: Floats, y: Floats) -> Floats:
    losses: Floats = logsumexp(scores, axis=1) - scores[np.arange(len(y)), y.astype(np.int64)]
    return losses


_GRADIENTS: dict[type, Callable[[Floats, Floats, Floats | float], Floats]] = {
    Normal: _normal_gradient,
    Bernoulli: lambda scores, y, _: expit(scores) - y[:, np.newaxis],
    Categorical: _categorical_gradient,
}
_PARAMETERS: dict[type, Callable[[Objective, Floats], AnyArray]] = {
    Normal: _normal_parameters,
    Bernoulli: lambda _, scores: np.concatenate([expit(-scores), expit(scores)], axis=1),
    Categorical: lambda _, scores: softmax(scores, axis=1),
}
_LOSSES: dict[type, Callable[[Floats, Floats], Floats]] = {
    Normal: _normal_losses,
    Bernoulli: lambda scores, y: -log_expit(np.where(y > 0, scores[:, 0], -scores[:, 0])),
    Categorical: _categorical_losses,
}
