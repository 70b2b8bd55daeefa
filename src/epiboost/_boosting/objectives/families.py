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
from epiboost._boosting.objectives.categorical import Categorical
from epiboost._boosting.objectives.distribution import Distribution
from epiboost._boosting.objectives.normal import Normal
from epiboost._boosting.objectives.number_objective import NumberObjective
from epiboost._boosting.objectives.poisson import Poisson
from epiboost._boosting.objectives.student import Student

BINARY = 2
"""Number of classes for which one score per row is enough."""

OBJECTIVES: dict[str, type[Objective]] = {
    objective.name: objective
    for objective in (
        Normal,
        Bernoulli,
        Categorical,
        Student,
        Poisson,
    )
}
"""The objectives by name; a target names its own."""

DISTRIBUTIONS: dict[str, type[Distribution]] = {
    name: objective.distribution_type
    for name, objective in OBJECTIVES.items()
    if issubclass(objective, NumberObjective)
}
"""Distributions of numbers other than the Normal, by name."""


def distribution_named(name: str, settings: tuple[float, ...] = ()) -> Distribution:
    """Return the distribution of a family of numbers other than the Normal; a ValueError if there is none of that name.

    >>> distribution_named("poisson").parameter_names
    ('mean',)
    """
    if name not in DISTRIBUTIONS:
        message = f"unknown distribution {name!r}; known are {', '.join(map(repr, ('normal', *DISTRIBUTIONS)))}"
        raise ValueError(message)
    return DISTRIBUTIONS[name].of(settings)


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
