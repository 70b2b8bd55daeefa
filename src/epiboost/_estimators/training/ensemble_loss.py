"""The loss of an ensemble: on rows that no member has seen, or as estimated from its out-of-fold chains."""

from collections.abc import Sequence

import numpy as np

from epiboost._boosting.objectives import distribution_of, is_censored, is_of_numbers
from epiboost._boosting.out_of_fold import OutOfFoldPlan
from epiboost._estimators.out_of_fold.categorical import fit_temperature_above_one
from epiboost._estimators.out_of_fold.censored import averaging_gain, censored_mixture, least_loss
from epiboost._inputs.dataset import Dataset
from epiboost._posterior.mixture import mixture_logpdf
from epiboost._posterior.numbers import mixtures
from epiboost._typing import Floats

_TINY = float(np.finfo(np.float64).tiny)


def mixture_loss(parameters: Floats, data: Dataset) -> float:
    """Return the mean negative log-likelihood of rows by the mixture of the members.

    Parameters
    ----------
    parameters : array of shape (members, n, outputs)
        Class probabilities, means and variances, or means alone, whose loss is the mean squared error.
    data : Dataset
        The rows.
    """
    if data.n_classes:
        probability = parameters.mean(axis=0)[np.arange(len(data.y)), data.y.astype(np.int64)]
        losses = -np.log(np.maximum(probability, _TINY))
    elif is_censored(data.objective):
        losses = -censored_mixture(data.objective, parameters, data.y)
    elif is_of_numbers(data.objective):
        distribution = distribution_of(data.objective, data.settings)
        losses = -mixtures.logpdf(distribution, parameters, data.y)
    elif parameters.shape[2] == 1:
        losses = np.square(parameters[:, :, 0].mean(axis=0) - data.y)
    else:
        losses = -mixture_logpdf(parameters, data.y)
    return float(np.average(losses, weights=data.weight))


def out_of_fold_loss(predicted: Sequence[Floats], plan: OutOfFoldPlan, data: Dataset, n_members: int) -> float:
    """Return the loss of an ensemble as estimated from its out-of-fold chains.

    For classes, and for censored durations, it is the negative log-likelihood at the best temperature or dispersion, by
    which the number of trees is chosen, too. For numbers it is the mean squared error less what averaging gains: the
    variance between two seeds, (1 - 1/M) times. Likelihood would not do: the variance of a single chain is too small
    from an early tree on, that of the recalibrated ensemble is not.

    Parameters
    ----------
    predicted : sequence of arrays of shape (n, outputs)
        Predictions of each fold's rows by its chain, then those of the first fold by the chain with another seed.
    plan : OutOfFoldPlan
    data : Dataset
        All training rows.
    n_members : int
    """
    tested = np.concatenate(plan.tests)
    y, weight = data.y[tested], data.weight[tested]
    *folds, repeated = predicted
    together = np.concatenate(folds)
    if data.n_classes:
        return fit_temperature_above_one(together, y.astype(np.int64), weight)[1]
    if is_censored(data.objective):
        of_repeated = data.y[plan.tests[0]], data.weight[plan.tests[0]]
        gain = averaging_gain(data.objective, folds[0], repeated, *of_repeated)
        return least_loss(data.objective, together, y, weight) - (1.0 - 1.0 / n_members) * gain
    if is_of_numbers(data.objective):
        mean = distribution_of(data.objective, data.settings).mean
        together, first, repeated = mean(together), mean(folds[0]), mean(repeated)
    else:
        together, first, repeated = together[:, 0], folds[0][:, 0], repeated[:, 0]
    error = np.average(np.square(together - y), weights=weight)
    between = 0.5 * np.average(np.square(first - repeated), weights=data.weight[plan.tests[0]])
    return float(error - (1.0 - 1.0 / n_members) * between)
