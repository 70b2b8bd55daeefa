"""The objectives by name, and the one that a model file holds.

>>> import numpy as np
>>> OBJECTIVES["normal"].of(np.array([1.0, 3.0]), np.ones(2))
Normal(location=2.0, scale=1.0)
>>> objective_from_header({"name": "bernoulli", "log_odds": 0.5})
Bernoulli(log_odds=0.5)
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from epiboost._boosting.objectives.base import Objective
from epiboost._boosting.objectives.bernoulli import Bernoulli
from epiboost._boosting.objectives.beta import Beta
from epiboost._boosting.objectives.categorical import Categorical
from epiboost._boosting.objectives.censored import CensoredObjective, censored_log_likelihood
from epiboost._boosting.objectives.censored_lognormal import CensoredLogNormal
from epiboost._boosting.objectives.censored_weibull import CensoredWeibull
from epiboost._boosting.objectives.distribution import Distribution
from epiboost._boosting.objectives.gamma import Gamma
from epiboost._boosting.objectives.histogram import Histogram
from epiboost._boosting.objectives.laplace import Laplace
from epiboost._boosting.objectives.lognormal import LogNormal
from epiboost._boosting.objectives.negative_binomial import NegativeBinomial
from epiboost._boosting.objectives.normal import Normal, NormalDistribution
from epiboost._boosting.objectives.number_objective import NumberObjective
from epiboost._boosting.objectives.poisson import Poisson
from epiboost._boosting.objectives.student import Student
from epiboost._boosting.objectives.weibull import Weibull
from epiboost._typing import Floats

BINARY = 2
"""Number of classes for which one score per row is enough."""

OBJECTIVES: dict[str, type[Objective]] = {
    objective.name: objective
    for objective in (
        Normal,
        Bernoulli,
        Categorical,
        LogNormal,
        Student,
        Laplace,
        Gamma,
        Weibull,
        Poisson,
        NegativeBinomial,
        Beta,
        Histogram,
        CensoredLogNormal,
        CensoredWeibull,
    )
}
"""The objectives by name; a target names its own."""

DISTRIBUTIONS: dict[str, type[Distribution]] = {
    name: objective.distribution_type
    for name, objective in OBJECTIVES.items()
    if issubclass(objective, NumberObjective) and not objective.is_censored
}
"""Distributions of numbers other than the Normal, by name."""


_OWN = frozenset(OBJECTIVES)


def distribution_named(name: str, settings: tuple[float, ...] = ()) -> Distribution:
    """Return the distribution of a family of numbers, or a ValueError if there is none of that name.

    >>> distribution_named("poisson").parameter_names
    ('mean',)
    """
    if name == NormalDistribution.name:
        return NormalDistribution()
    if name not in DISTRIBUTIONS:
        message = f"unknown distribution {name!r}; known are {', '.join(map(repr, ('normal', *DISTRIBUTIONS)))}"
        raise ValueError(message)
    return DISTRIBUTIONS[name].of(settings)


def number_families() -> tuple[str, ...]:
    """Return the names of the families of numbers, the Normal first."""
    return (NormalDistribution.name, *DISTRIBUTIONS)


def register_family(objective: type[NumberObjective]) -> None:
    """Make a family of distributions known by its name: ``EpiBoostRegressor(distribution=name)`` then learns it.

    The engines "lightgbm" and "xgboost" train it by its Python gradient. The native engine needs its formulas in C++.

    Parameters
    ----------
    objective : subclass of NumberObjective
        With a name that no family has yet, and its `Distribution` as ``distribution_type``.

    Raises
    ------
    ValueError
        If there is a family of this name.
    """
    if not (isinstance(objective, type) and issubclass(objective, NumberObjective)):
        message = f"a family must be a subclass of NumberObjective; got {objective!r}"
        raise TypeError(message)
    if objective.name in OBJECTIVES:
        message = f"there is a family {objective.name!r} already; give this one another name"
        raise ValueError(message)
    OBJECTIVES[objective.name] = objective
    DISTRIBUTIONS[objective.name] = objective.distribution_type


def unregister_family(name: str) -> None:
    """Forget a family that was registered; models of it can no longer be loaded, nor predict."""
    distribution_named(name)
    if name in _OWN:
        message = f"{name!r} is a family of this package; only families that were registered can be forgotten"
        raise ValueError(message)
    OBJECTIVES.pop(name, None)
    DISTRIBUTIONS.pop(name, None)


CENSORED: dict[str, str] = {
    objective.family: name for name, objective in OBJECTIVES.items() if issubclass(objective, CensoredObjective)
}
"""Objectives of censored durations, by the name of their distribution."""


def is_of_numbers(objective: str) -> bool:
    """Return whether an objective is of numbers, by another distribution than a Normal.

    >>> is_of_numbers("poisson"), is_of_numbers("censored_weibull"), is_of_numbers("normal")
    (True, True, False)
    """
    return OBJECTIVES[objective].family in DISTRIBUTIONS


def is_censored(objective: str) -> bool:
    """Return whether the targets of an objective are pairs of bounds.

    >>> is_censored("censored_weibull"), is_censored("weibull")
    (True, False)
    """
    return objective in CENSORED.values()


def distribution_of(objective: str, settings: tuple[float, ...] = ()) -> Distribution:
    """Return the distribution that an objective of numbers has.

    >>> distribution_of("censored_weibull").name
    'weibull'
    """
    return distribution_named(OBJECTIVES[objective].family, settings)


def log_likelihood(objective: str, distribution: Distribution, parameters: Floats, y: Floats) -> Floats:
    """Return the log-likelihood of targets, shape (...): of bounds (..., 2) if the objective is censored.

    >>> log_likelihood("censored_weibull", distribution_of("censored_weibull"), np.ones(2), np.array([1.0, np.inf]))
    array(-1.)
    """
    if is_censored(objective):
        return censored_log_likelihood(distribution, parameters, y)
    return distribution.logpdf(parameters, y)


def objective_from_header(header: Mapping[str, Any]) -> Objective:
    """Return the objective that `Objective.to_header` described; a ValueError if it is unknown or not finite."""
    values = [value for key, value in header.items() if key != "name"]
    numbers = np.concatenate([np.atleast_1d(np.asarray(value, dtype=np.float64)) for value in values])
    if not np.isfinite(numbers).all():
        message = f"the objective holds a number that is not finite: {dict(header)}"
        raise ValueError(message)
    if header["name"] not in OBJECTIVES:
        message = f"unknown objective {header['name']!r}; known are {', '.join(map(repr, OBJECTIVES))}"
        raise ValueError(message)
    return OBJECTIVES[header["name"]].from_header(header)
