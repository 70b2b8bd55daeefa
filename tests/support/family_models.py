"""Examples of every family of distributions of numbers: with an entry here, the tests of distributions cover it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from epiboost._boosting.objectives import OBJECTIVES, distribution_named


@dataclass(frozen=True)
class FamilyExample:
    """Distributions, and scores of an objective.

    Attributes
    ----------
    parameters : list
        Parameters of one distribution per entry.
    impossible : list
        Parameters that `Distribution.check` refuses.
    frozen : callable or None
        Makes a distribution of scipy.stats from arrays of parameters; None if scipy has none.
    outside : list
        Numbers of no density.
    scores : callable or None
        Makes scores, shape (n, outputs), near the start of an objective; standard Normal steps from it by default.
    has_diagonal_metric : bool
        Whether the gradient is the slope of the loss times the squared noise scale.
    has_exact_metric : bool
        Whether the noise scale is the root of the inverse Fisher information.
    settings : tuple
        Those of the family.
    """

    parameters: list[Any]
    impossible: list[Any] = field(default_factory=list)
    frozen: Callable[..., Any] | None = None
    outside: list[float] = field(default_factory=list)
    scores: Callable[..., Any] | None = None
    has_diagonal_metric: bool = True
    has_exact_metric: bool = True
    settings: tuple[float, ...] = ()


FAMILIES = {
    "normal": FamilyExample(
        parameters=[[0.0, 1.0], [-3.0, 0.01], [1e6, 1e8], [1e-8, 1e-20]],
        impossible=[0.0, -1.0],
        frozen=lambda mean, variance: stats.norm(mean, np.sqrt(variance)),
    ),
    "lognormal": FamilyExample(
        parameters=[[0.0, 1.0], [5.0, 0.04], [-10.0, 1e-8], [60.0, 2.0]],
        impossible=[0.0, -1.0],
        frozen=lambda mean, variance: stats.lognorm(np.sqrt(variance), scale=np.exp(mean)),
        outside=[0.0, -1.0],
    ),
    "student": FamilyExample(
        parameters=[[0.0, 1.0, 5.0], [-3.0, 0.01, 2.5], [1e6, 1e4, 50.0], [1e-8, 1e-10, 4.0]],
        impossible=[0.0, 1.0, 2.0],
        frozen=lambda location, scale, freedom: stats.t(freedom, location, scale),
        settings=(5.0,),
    ),
    "laplace": FamilyExample(
        parameters=[[0.0, 1.0], [-3.0, 0.01], [1e6, 1e4], [1e-8, 1e-10]],
        impossible=[0.0, 0.0],
        frozen=stats.laplace,
    ),
    "gamma": FamilyExample(
        parameters=[[1.0, 1.0], [300.0, 0.2], [1e-12, 40.0], [1e12, 3e3], [2.0, 9.9e3], [2.0, 1e6]],
        impossible=[1.0, 0.0],
        frozen=lambda mean, shape: stats.gamma(shape, scale=mean / shape),
        outside=[0.0, -1.0],
    ),
    "weibull": FamilyExample(
        parameters=[[1.0, 1.0], [300.0, 0.3], [1e-12, 40.0], [1e12, 2.0], [1.0, 900.0], [1.0, 1100.0]],
        impossible=[1.0, 0.0],
        frozen=lambda scale, shape: stats.weibull_min(shape, scale=scale),
        outside=[0.0, -1.0],
    ),
}

LEARNED = [name for name in FAMILIES if name != "normal"]
"""Families whose objective is a `NumberObjective`."""


def parameters_of(name):
    """Return the example parameters of a family, shape (n, outputs)."""
    return np.array(FAMILIES[name].parameters, dtype=np.float64)


def frozen_of(name, parameters):
    """Return the distributions of scipy.stats for parameters of shape (..., outputs)."""
    return FAMILIES[name].frozen(*np.moveaxis(parameters, -1, 0))


def targets_of(name, n, seed=0):
    """Return n draws from the first example."""
    example = FAMILIES[name]
    parameters = np.broadcast_to(np.array(example.parameters[0], dtype=np.float64), (n, len(example.parameters[0])))
    return distribution_named(name, example.settings).sample(parameters, np.random.default_rng(seed))


def objective_of(name, y, weight=None):
    """Return the objective of a target."""
    return OBJECTIVES[name].of(y, np.ones(len(y)) if weight is None else weight, 0, FAMILIES[name].settings)


def scores_of(name, objective, n, seed=0):
    """Return scores around the start of an objective, which single precision holds exactly; shape (n, outputs)."""
    rng = np.random.default_rng(seed)
    if FAMILIES[name].scores is not None:
        return FAMILIES[name].scores(objective, n, rng)
    scores = objective.start + 0.7 * rng.normal(size=(n, len(objective.start)))
    return scores.astype(np.float32).astype(np.float64)
