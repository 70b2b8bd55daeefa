"""The losses that trees are fitted to: start value and units.

Trees work on a raw score with one number an output. An objective says what the score is before the first tree (that
part is never shrunk) and how targets are written for the native core. The gradients are there (objective.hpp), and so
is the way from scores to distribution parameters (predictor.cpp):

=============  ===========================  =====================================================
objective      score                        gradient
=============  ===========================  =====================================================
`Normal`       (mean, log std), standard    (mean − y, ½ − ½ ((y − mean) / std)²): natural gradient
`Bernoulli`    log-odds                     p − y
`Categorical`  one a class                  p − onehot(y)
=============  ===========================  =====================================================
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from epiboost._typing import Family, Floats

BINARY = 2
_NEAR_ZERO = 1e-9  # the spread of a constant target, as a share of its size: it must not be zero


class Objective(Protocol):
    """What an engine of raw scores needs to know about a loss."""

    family: ClassVar[Family]
    code: ClassVar[int]

    @property
    def start(self) -> Floats:
        """Return the score before the first tree, shape (outputs,)."""

    def encode(self, y: Floats) -> Floats:
        """Return targets in the units of the score, shape (n,)."""

    @property
    def units(self) -> tuple[float, float]:
        """Return location and scale of the target: what a score of 0 and a step of 1 mean."""

    @property
    def curvature(self) -> float:
        """Return how the gradient grows with the score, before the first tree: learning rates are measured by it."""

    def to_header(self) -> dict[str, Any]:
        """Return the numbers that `objective_from_header` needs."""


@dataclass(frozen=True, slots=True)
class Normal:
    """A Normal with mean and log standard deviation, fitted to the standardised target."""

    location: float
    scale: float

    family: ClassVar[Family] = "normal"
    code: ClassVar[int] = 0

    @classmethod
    def of(cls, y: Floats, weight: Floats) -> "Normal":
        """Take location and scale from the weighted target."""
        size = float(np.abs(y).max())
        if y.min() == y.max():
            return cls.constant(float(y[0]))
        shares = weight / weight.sum()
        unit = y / size  # sums of large targets must not overflow
        location = float((shares * unit).sum())
        unit -= location  # in place, as below: of a large target every copy counts
        unit *= unit
        unit *= shares
        scale = float(np.sqrt(unit.sum()))
        spread = scale * size
        _check_spread(spread)
        return cls(location * size, spread)

    @classmethod
    def constant(cls, value: float) -> "Normal":
        """Take a scale that is next to nothing beside the one value."""
        return cls(value, _NEAR_ZERO * (abs(value) or 1.0))

    @classmethod
    def around(cls, mean: float, spread: float) -> "Normal":
        """Take location and scale as they are, if their squares are numbers."""
        _check_spread(spread)
        return cls(mean, spread)

    @property
    def start(self) -> Floats:
        """Return mean and log standard deviation of the standardised target."""
        return np.zeros(2)

    def encode(self, y: Floats) -> Floats:
        """Return the standardised target."""
        return (y - self.location) / self.scale

    @property
    def units(self) -> tuple[float, float]:
        """Return the target's location and scale."""
        return self.location, self.scale

    @property
    def curvature(self) -> float:
        """Return one: the gradient is the natural one."""
        return 1.0

    def to_header(self) -> dict[str, Any]:
        """Return location and scale."""
        return {"name": "normal", "location": self.location, "scale": self.scale}


@dataclass(frozen=True, slots=True)
class Bernoulli:
    """Two classes by the log-odds of the second."""

    log_odds: float

    family: ClassVar[Family] = "categorical"
    code: ClassVar[int] = 1

    @classmethod
    def of(cls, y: Floats, weight: Floats) -> "Bernoulli":
        """Start from the weighted share of the second class."""
        share = float(weight[y > 0].sum() / weight.sum())
        return cls(float(np.log(share) - np.log1p(-share)))

    @property
    def start(self) -> Floats:
        """Return the log-odds."""
        return np.array([self.log_odds])

    def encode(self, y: Floats) -> Floats:
        """Return 0 and 1 as they are."""
        return y

    @property
    def units(self) -> tuple[float, float]:
        """Return zero and one: probabilities have no units."""
        return 0.0, 1.0

    @property
    def curvature(self) -> float:
        """Return p (1 − p) for the share p of the second class."""
        return float(0.25 / np.cosh(0.5 * self.log_odds) ** 2)

    def to_header(self) -> dict[str, Any]:
        """Return the log-odds."""
        return {"name": "bernoulli", "log_odds": self.log_odds}


@dataclass(frozen=True, slots=True)
class Categorical:
    """Three classes or more by a softmax."""

    log_shares: tuple[float, ...]

    family: ClassVar[Family] = "categorical"
    code: ClassVar[int] = 2

    @classmethod
    def of(cls, y: Floats, weight: Floats, n_classes: int) -> "Categorical":
        """Start from the weighted shares of the classes."""
        shares = np.bincount(y.astype(np.int64), weights=weight, minlength=n_classes) / weight.sum()
        return cls(tuple(np.log(shares).tolist()))

    @property
    def start(self) -> Floats:
        """Return the logarithm of each class's share."""
        return np.array(self.log_shares)

    def encode(self, y: Floats) -> Floats:
        """Return class numbers as they are."""
        return y

    @property
    def units(self) -> tuple[float, float]:
        """Return zero and one: probabilities have no units."""
        return 0.0, 1.0

    @property
    def curvature(self) -> float:
        """Return the sum of p (1 − p) over the shares p of the classes, by one less than their number.

        A step on K scores whose sum is bound moves them as far as one on K − 1 free ones.
        """
        shares = np.exp(self.log_shares)
        return float((shares * (1.0 - shares)).sum() / (len(shares) - 1))

    def to_header(self) -> dict[str, Any]:
        """Return the logarithms of the shares."""
        return {"name": "categorical", "log_shares": list(self.log_shares)}


def _check_spread(spread: float) -> None:
    if not (np.isfinite(spread * spread) and spread * spread > np.finfo(np.float64).tiny):
        message = f"y has a standard deviation of {spread:.3g}, whose square is no number; rescale y"
        raise ValueError(message)


def objective_of(y: Floats, weight: Floats, n_classes: int) -> Objective:
    """Return the objective for a target: Normal for regression (``n_classes=0``), else by the number of classes."""
    if n_classes == 0:
        return Normal.of(y, weight)
    if n_classes == BINARY:
        return Bernoulli.of(y, weight)
    return Categorical.of(y, weight, n_classes)


def objective_from_header(header: Mapping[str, Any]) -> Objective:
    """Return the objective that `Objective.to_header` described; finite numbers only."""
    values = {key: value for key, value in header.items() if key != "name"}
    numbers = np.concatenate([np.atleast_1d(np.asarray(value, dtype=np.float64)) for value in values.values()])
    if not np.isfinite(numbers).all():
        message = f"the objective holds a number that is not finite: {dict(header)}"
        raise ValueError(message)
    if header["name"] == "normal":
        if not values["scale"] > 0:
            message = f"the scale must be positive, got {values['scale']}"
            raise ValueError(message)
        return Normal(float(values["location"]), float(values["scale"]))
    if header["name"] == "bernoulli":
        return Bernoulli(float(values["log_odds"]))
    if header["name"] == "categorical":
        return Categorical(tuple(float(value) for value in values["log_shares"]))
    message = f"unknown objective {header['name']!r}"
    raise ValueError(message)
