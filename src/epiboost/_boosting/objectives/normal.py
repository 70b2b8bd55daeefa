"""Regression: a Normal distribution with mean and log standard deviation (section 2, equations 9 and 10).

The gradient is the natural gradient (appendix "Our implementation of data uncertainty"). It is taken on the
standardised target, so that noise and regularisation do not depend on the units of the target.

>>> import numpy as np
>>> objective = Normal(location=10.0, scale=2.0)
>>> objective.parameters(np.array([[0.5, 0.0]]))
array([[11.,  4.]])
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import ndtr, ndtri

from epiboost._boosting.objectives.base import Objective
from epiboost._boosting.objectives.distribution import Distribution
from epiboost._typing import Family, Floats

_MIN_LOG_STD, _MAX_LOG_STD = -10.0, 8.0  # of the standardised target; as in the native core
_MAX_DEVIATIONS = 6.0  # a step at a learning rate of 0.1 then ends at the best of a leaf of such rows, not far past it
_HALF_LOG_TAU = 0.5 * np.log(2.0 * np.pi)
_CONSTANT_TARGET_SCALE = 1e-9  # relative to the value: the scale of a constant target must not be zero
_MAX_SIZE = 1e150  # of mean and scale: squares of residuals and variances are finite


class NormalDistribution(Distribution):
    """Mean and variance; a variance of zero is a point.

    Posteriors of Normals have faster functions of their own. This one serves code that is written for any family.

    >>> NormalDistribution().quantile(np.array([[1.0, 4.0]]), 0.975).round(2)
    array([4.92])
    """

    __slots__ = ()
    name: ClassVar[str] = "normal"
    parameter_names: ClassVar[tuple[str, ...]] = ("mean", "variance")

    def check(self, parameters: Floats) -> None:
        """Variances must not be negative."""
        if parameters.size and (smallest := parameters[..., 1].min()) < 0.0:
            message = f"variances must not be negative, got {smallest}"
            raise ValueError(message)

    def mean(self, parameters: Floats) -> Floats:
        """Return the mean."""
        return parameters[..., 0]

    def variance(self, parameters: Floats) -> Floats:
        """Return the variance."""
        return parameters[..., 1]

    def entropy(self, parameters: Floats) -> Floats:
        """Return the differential entropy."""
        entropy: Floats = 0.5 + _HALF_LOG_TAU + _half_log(parameters[..., 1])
        return entropy

    def logpdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the log density."""
        density: Floats = -_HALF_LOG_TAU - _half_log(parameters[..., 1]) - 0.5 * np.square(_deviations(parameters, y))
        return density

    def cdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the distribution function."""
        return np.asarray(ndtr(_deviations(parameters, y)))

    def sf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the distribution function of the mirrored value."""
        return np.asarray(ndtr(-_deviations(parameters, y)))

    def quantile(self, parameters: Floats, q: Floats) -> Floats:
        """Return the quantile."""
        return np.asarray(parameters[..., 0] + np.sqrt(parameters[..., 1]) * ndtri(q))

    def sample(self, parameters: Floats, rng: np.random.Generator) -> Floats:
        """Return one draw per distribution."""
        return np.asarray(rng.normal(parameters[..., 0], np.sqrt(parameters[..., 1])))

    def link(self, parameters: Floats) -> Floats:
        """Return mean and log standard deviation."""
        return np.stack([parameters[..., 0], _half_log(parameters[..., 1])], axis=-1)

    def from_link(self, link: Floats, like: Floats) -> Floats:
        """Return mean and variance."""
        return np.stack([link[..., 0], np.exp(2.0 * link[..., 1])], axis=-1)


@dataclass(frozen=True, slots=True)
class Normal(Objective):
    """A Normal on the standardised target; scores are its mean and its log standard deviation.

    Attributes
    ----------
    location, scale : float
        Mean and standard deviation of the target.
    """

    location: float
    scale: float

    name: ClassVar[str] = "normal"
    family: ClassVar[Family] = "normal"

    @classmethod
    def of(cls, y: Floats, weight: Floats, n_classes: int = 0, settings: tuple[float, ...] = ()) -> Self:
        """Return the objective whose location and scale are those of a weighted target."""
        size = float(np.abs(y).max())
        if y.min() == y.max():
            return cls.constant(float(y[0]))
        shares = weight / weight.sum()
        unit = y / size  # sums of large targets must not overflow
        location = float((shares * unit).sum())
        unit -= location  # in place, as below, to save memory on large targets
        unit *= unit
        unit *= shares
        scale = float(np.sqrt(unit.sum()))
        return cls.with_checked_scale(location * size, scale * size)

    @classmethod
    def constant(cls, value: float) -> Self:
        """Return the objective of a constant target; its scale is tiny relative to the value."""
        _check_location(value)
        scale = _CONSTANT_TARGET_SCALE * (abs(value) or 1.0)
        return cls(value, max(scale, float(np.finfo(np.float64).tiny)))

    @classmethod
    def with_checked_scale(cls, mean: float, spread: float) -> Self:
        """Return the objective with this location and scale; raise a ValueError if its square over- or underflows."""
        square = spread * spread
        if not (spread <= _MAX_SIZE and square > np.finfo(np.float64).tiny):
            message = f"y has a standard deviation of {spread:.3g}, whose square is not representable; rescale y"
            raise ValueError(message)
        _check_location(mean)
        return cls(mean, spread)

    @property
    def code(self) -> int:
        """The number in the native core."""
        return 0

    @property
    def start(self) -> Floats:
        """Mean and log standard deviation of the standardised target."""
        return np.zeros(2)

    @property
    def curvature(self) -> float:
        """One, because the gradient is the natural gradient."""
        return 1.0

    @property
    def units(self) -> tuple[float, float]:
        """Location and scale of the target."""
        return self.location, self.scale

    def encode(self, y: Floats) -> Floats:
        """Return the standardised target."""
        return (y - self.location) / self.scale

    def gradient(self, scores: Floats, y: Floats, correction: Floats | float = 0.0) -> Floats:
        """Return the natural gradient (mean − y, ½ − ½ ((y − mean) / std)²), shape (n, 2).

        Residuals of more than six deviations count as six: libraries divide sums of gradients by sums of weights, which
        for large residuals goes far past the best deviation.
        """
        residual = y - scores[:, 0]
        standardised = np.clip((residual + correction) * np.exp(-_log_std(scores)), -_MAX_DEVIATIONS, _MAX_DEVIATIONS)
        return np.stack([-residual, 0.5 - 0.5 * np.square(standardised)], axis=1)

    def noise_scale(self, scores: Floats) -> Floats:
        """Return (std, √½), as the Fisher information of mean and log std is diag(1 / std², 2); shape (n, 2)."""
        std = np.exp(_log_std(scores))
        return np.stack([std, np.full_like(std, np.sqrt(0.5))], axis=1)

    def parameters(self, scores: Floats) -> Floats:
        """Return mean and variance in the units of the target, shape (n, 2)."""
        variance = np.square(self.scale * np.exp(_log_std(scores)))
        return np.stack([self.location + self.scale * scores[:, 0], variance], axis=1)

    def row_losses(self, scores: Floats, y: Floats) -> Floats:
        """Return the negative log density of each standardised target, shape (n,)."""
        log_std = _log_std(scores)
        losses: Floats = _HALF_LOG_TAU + log_std + 0.5 * np.square((y - scores[:, 0]) * np.exp(-log_std))
        return losses

    def to_header(self) -> dict[str, Any]:
        """Return name, location and scale."""
        return {"name": self.name, "location": self.location, "scale": self.scale}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        """Return the objective that `to_header` described."""
        if not header["scale"] > 0:
            message = f"the scale must be positive, got {header['scale']}"
            raise ValueError(message)
        return cls(float(header["location"]), float(header["scale"]))


def _check_location(mean: float) -> None:
    if not abs(mean) <= _MAX_SIZE:
        message = f"y has a mean of {mean:.3g}; beyond {_MAX_SIZE:g} squares are not representable, so rescale y"
        raise ValueError(message)


def _log_std(scores: Floats) -> Floats:
    return np.clip(scores[:, 1], _MIN_LOG_STD, _MAX_LOG_STD)


def _half_log(variance: Floats) -> Floats:
    """Return the log standard deviation; that of the smallest number for a variance of zero."""
    return 0.5 * np.log(np.maximum(variance, np.finfo(np.float64).tiny))


def _deviations(parameters: Floats, y: Floats) -> Floats:
    """Return (y - mean) / std; 0 or an infinity where the variance is zero."""
    residual, std = np.asarray(y - parameters[..., 0]), np.sqrt(parameters[..., 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(residual == 0.0, 0.0, residual / std)
