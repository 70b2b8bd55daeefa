"""Generated tables whose target has a known distribution per row, one for each family.

Targets are drawn by NumPy, whose generators share nothing with the distributions of the models.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import expit

from epiboost._display import short_repr
from epiboost._typing import Floats

Seed: TypeAlias = int | np.random.Generator | None
_N_FEATURES = 5
_FREEDOM = 3.0  # of Student's t: heavy tails
_Parameters: TypeAlias = Callable[[Floats, Floats], tuple[Floats, ...]]
_Draw: TypeAlias = Callable[..., Floats]


def _mixture(rng: np.random.Generator, lower: Floats, upper: Floats, std: Floats) -> Floats:
    return rng.normal(np.where(rng.uniform(size=len(std)) < 0.5, lower, upper), std)  # noqa: PLR2004 (a half)


def _negative_binomial(rng: np.random.Generator, mean: Floats, dispersion: Floats) -> Floats:
    return rng.poisson(mean * rng.gamma(1.0 / dispersion, dispersion)).astype(np.float64)


_FAMILIES: Mapping[str, tuple[_Parameters, _Draw]] = {
    "normal": (lambda a, b: (2.0 * a, 0.25 * np.exp(2.0 * b)), lambda rng, m, v: rng.normal(m, np.sqrt(v))),
    "student": (
        lambda a, b: (2.0 * a, 0.5 * np.exp(b), np.full_like(a, _FREEDOM)),
        lambda rng, location, scale, freedom: location + scale * rng.standard_t(freedom),
    ),
    "laplace": (lambda a, b: (2.0 * a, 0.5 * np.exp(b)), lambda rng, m, scale: rng.laplace(m, scale)),
    "lognormal": (
        lambda a, b: (1.0 + a, 0.36 * np.exp(2.0 * b)),
        lambda rng, m, v: np.exp(rng.normal(m, np.sqrt(v))),
    ),
    "gamma": (lambda a, b: (np.exp(1.0 + a), 1.5 * np.exp(-2.0 * b)), lambda rng, m, k: rng.gamma(k, m / k)),
    "weibull": (lambda a, b: (np.exp(1.0 + a), 2.5 * np.exp(-b)), lambda rng, s, k: s * rng.weibull(k)),
    "poisson": (lambda a, _: (np.exp(1.0 + a),), lambda rng, m: rng.poisson(m).astype(np.float64)),
    "negative_binomial": (lambda a, b: (np.exp(1.5 + a), 0.5 * np.exp(b)), _negative_binomial),
    "beta": (
        lambda a, b: (expit(1.2 * a), 8.0 * np.exp(-2.0 * b)),
        lambda rng, m, precision: rng.beta(m * precision, (1.0 - m) * precision),
    ),
    "histogram": (lambda a, b: (a - 1.5, a + 1.5, 0.3 * np.exp(b)), _mixture),
}

FAMILY_NAMES = tuple(_FAMILIES)
"""Families that `make_family` knows."""


@dataclass(frozen=True, slots=True, eq=False)
class FamilyTable:
    """Rows, and the distributions that their targets were drawn from.

    Attributes
    ----------
    X : array of shape (n, 5)
        Uniform between 0 and 1; the last two columns tell nothing.
    y : array of shape (n,)
    parameters : array of shape (n, outputs)
        True parameters of each row, in the order of the family; for "histogram", which has no parameters of its own,
        the means of two Normals of equal probability and their standard deviation.
    """

    X: Floats
    y: Floats
    parameters: Floats

    __repr__ = short_repr


def make_family(n_samples: int = 1000, *, distribution: str = "poisson", random_state: Seed = None) -> FamilyTable:
    """Generate a table whose target has a known distribution per row, with location and dispersion that depend on it.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    distribution : str, default="poisson"
        One of the families of `EpiBoostRegressor`. "histogram" has two peaks, which no other family has.
    random_state : int, numpy.random.Generator or None, default=None
        Seed; the same int gives the same table.

    Returns
    -------
    FamilyTable

    Examples
    --------
    >>> from epiboost.datasets import make_family
    >>> table = make_family(4, distribution="poisson", random_state=0)
    >>> table.X.shape, table.y.tolist()
    ((4, 5), [0.0, 0.0, 3.0, 9.0])
    """
    if distribution not in _FAMILIES:
        message = f"distribution must be one of {', '.join(map(repr, FAMILY_NAMES))}; got {distribution!r}"
        raise ValueError(message)
    rng = np.random.default_rng(random_state)
    X = rng.uniform(size=(n_samples, _N_FEATURES))
    location = np.sin(2.0 * np.pi * X[:, 0]) * (0.4 + 0.6 * X[:, 1])
    dispersion = 1.2 * (X[:, 2] - 0.5)
    parameters_of, draw = _FAMILIES[distribution]
    parameters = parameters_of(location, dispersion)
    return FamilyTable(X, draw(rng, *parameters), np.column_stack(parameters))
