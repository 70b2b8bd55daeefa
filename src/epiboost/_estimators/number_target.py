"""The target of a regressor for the family of distributions that it was asked for.

>>> numbers_of("poisson", np.array([0.0, 3.0]), np.ones(2)).n_outputs
1
"""

from epiboost._boosting.objectives import DISTRIBUTIONS, OBJECTIVES, NumberObjective, distribution_named
from epiboost._inputs.target import Numbers, Target
from epiboost._typing import Floats

FAMILIES = ("normal", *DISTRIBUTIONS)


def numbers_of(distribution: str, y: Floats, weight: Floats) -> Numbers:
    """Return the target of finite numbers that members predict by a family of distributions.

    Parameters
    ----------
    distribution : str
    y, weight : arrays of shape (n,)

    Raises
    ------
    ValueError
        For an unknown family, and targets that it cannot have.
    """
    if distribution not in FAMILIES:
        message = f"distribution must be one of {', '.join(map(repr, FAMILIES))}, got {distribution!r}"
        raise ValueError(message)
    if distribution == "normal":
        return Numbers()
    objective = _objective(distribution)
    objective.check_target(y)
    settings = objective.settings_for(y, weight)
    return Numbers(distribution, distribution_named(distribution, settings).n_parameters, settings)


def check_support(target: Target, y: Floats, *, name: str) -> None:
    """Raise a ValueError that begins with the name of the argument, if a family cannot have these targets."""
    if target.family not in DISTRIBUTIONS:
        return
    try:
        _objective(target.family).check_target(y)
    except ValueError as error:
        message = f"{name}: {error}"
        raise ValueError(message) from error


def _objective(distribution: str) -> type[NumberObjective]:
    objective = OBJECTIVES[distribution]
    if not issubclass(objective, NumberObjective):
        message = f"{distribution!r} is no family of numbers"
        raise TypeError(message)
    return objective
