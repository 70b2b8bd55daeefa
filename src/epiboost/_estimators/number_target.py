"""The target of a regressor for the family of distributions that it was asked for.

>>> import numpy as np
>>> numbers_of("poisson", np.array([0.0, 3.0]), np.ones(2)).n_outputs
1
"""

from epiboost._boosting.objectives import (
    CENSORED,
    DISTRIBUTIONS,
    OBJECTIVES,
    NumberObjective,
    distribution_named,
    number_families,
)
from epiboost._estimators.family_choice import AUTO_FAMILY
from epiboost._inputs.durations import Durations
from epiboost._inputs.target import Numbers, Target
from epiboost._typing import Floats


def numbers_of(distribution: str, y: Floats, weight: Floats) -> Numbers:
    """Return the target of finite numbers that members predict by a family of distributions.

    Parameters
    ----------
    distribution : str
        "auto" is a Normal for now: the target is chosen when its rows and folds are known.
    y, weight : arrays of shape (n,)

    Raises
    ------
    ValueError
        For an unknown family, and targets that it cannot have.
    """
    known = (*number_families(), AUTO_FAMILY)
    if distribution not in known:
        message = f"distribution must be one of {', '.join(map(repr, known))}; got {distribution!r}"
        raise ValueError(message)
    if distribution in {"normal", AUTO_FAMILY}:
        return Numbers()
    objective = _objective(distribution)
    objective.check_target(y)
    settings = objective.settings_for(y, weight)
    return Numbers(distribution, distribution_named(distribution, settings).n_parameters, settings)


def durations_with(distribution: str, bounds: Floats) -> Durations:
    """Return the target of censored durations that members predict by a family of distributions.

    Parameters
    ----------
    distribution : str
    bounds : array of shape (n, 2)

    Raises
    ------
    ValueError
        For a family that has no censored likelihood, and for rows of which none is known to end.
    """
    if distribution not in CENSORED:
        message = f"distribution must be one of {', '.join(map(repr, sorted(CENSORED)))}, got {distribution!r}"
        raise ValueError(message)
    return Durations.of(distribution, CENSORED[distribution], distribution_named(distribution).n_parameters, bounds)


def check_support(target: Target, y: Floats, *, name: str) -> None:
    """Raise a ValueError that begins with the name of the argument, if a family cannot have these targets."""
    if target.objective not in DISTRIBUTIONS:
        return
    try:
        _objective(target.family).check_target(y)
    except ValueError as error:
        message = f"{name}: {error}"
        raise ValueError(message) from error


def require_same_family(target: Target, distribution: str) -> None:
    """Raise a ValueError if a model of another family is to be continued; "auto" continues with any."""
    if target.n_classes or distribution in {target.family, AUTO_FAMILY}:
        return
    message = f"warm_start continues a model of distribution={target.family!r}; got distribution={distribution!r}"
    raise ValueError(message)


def _objective(distribution: str) -> type[NumberObjective]:
    objective = OBJECTIVES[distribution]
    if not issubclass(objective, NumberObjective):
        message = f"{distribution!r} is no family of numbers"
        raise TypeError(message)
    return objective
