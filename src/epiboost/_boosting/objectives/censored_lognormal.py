"""Censored durations whose logarithm is a Normal.

>>> import numpy as np
>>> objective = CensoredLogNormal(location=0.0, scale=1.0)
>>> objective.gradient(np.zeros((3, 2)), np.array([[0.0, 0.0], [0.0, np.inf], [-np.inf, 0.0]])).round(3)
array([[-0.   ,  0.5  ],
       [-0.798, -0.   ],
       [ 0.798, -0.   ]])
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import erfcx, ndtr

from epiboost._boosting.objectives.censored import CensoredObjective
from epiboost._boosting.objectives.distribution import Distribution
from epiboost._boosting.objectives.lognormal import LogNormalDistribution
from epiboost._typing import AnyArray, Family, Floats

_ROOT_TWO = float(np.sqrt(2.0))
_ROOT_HALF_PI = float(np.sqrt(0.5 * np.pi))
_DENSITY = float(1.0 / np.sqrt(2.0 * np.pi))


@dataclass(frozen=True, slots=True)
class CensoredLogNormal(CensoredObjective):
    """A Normal on the standardised logarithm; scores are its mean and its log standard deviation.

    Attributes
    ----------
    location, scale : float
        Mean and standard deviation of the logarithm.
    """

    location: float
    scale: float

    name: ClassVar[str] = "censored_lognormal"
    family: ClassVar[Family] = "lognormal"
    distribution_type: ClassVar[type[Distribution]] = LogNormalDistribution
    max_log_scale: ClassVar[float] = 8.0
    deviation_range: ClassVar[tuple[float, float]] = (-1e9, 1e9)
    shift: ClassVar[float] = 0.0
    inverse_information: ClassVar[float] = 0.5

    def parameters(self, scores: Floats) -> Floats:
        """Return mean and variance of the logarithm, shape (n, 2)."""
        variance = np.square(self.scale * np.exp(self.log_scale(scores)))
        return np.stack([self.location + self.scale * scores[:, 0], variance], axis=1)

    @staticmethod
    def slopes(lower: Floats, upper: Floats, kinds: Mapping[str, AnyArray]) -> tuple[Floats, Floats]:
        """Return the slopes by the mean, in deviations, and by the log deviation."""
        at_lower, at_upper = _end_weights(lower, upper)
        at_lower = np.select([kinds["right"], kinds["interval"]], [_hazard(lower), at_lower])
        at_upper = np.select([kinds["left"], kinds["interval"]], [_hazard(-upper), at_upper])
        observed = kinds["observed"]
        of_scale = np.where(at_lower > 0.0, at_lower * lower, 0.0) - np.where(at_upper > 0.0, at_upper * upper, 0.0)
        return np.where(observed, lower, at_lower - at_upper), np.where(observed, np.square(lower) - 1.0, of_scale)


def _hazard(x: Floats) -> Floats:
    """Return the Normal's density over its upper tail."""
    return np.asarray(1.0 / (_ROOT_HALF_PI * erfcx(x / _ROOT_TWO)))


def _end_weights(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Return the Normal's densities at both ends over the probability between them."""
    mirrored = lower + upper < 0.0  # to the upper tail
    low, high = np.where(mirrored, -upper, lower), np.where(mirrored, -lower, upper)
    fall = np.exp(-0.5 * (high - low) * (high + low))
    tail_low, tail_high = (_ROOT_HALF_PI * erfcx(np.maximum(one, 0.0) / _ROOT_TWO) for one in (low, high))
    in_tail = 1.0 / (tail_low - tail_high * fall)
    inside = ndtr(high) - ndtr(low)
    at_low = np.where(low >= 0.0, in_tail, _DENSITY * np.exp(-0.5 * np.square(low)) / inside)
    at_high = np.where(low >= 0.0, in_tail * fall, _DENSITY * np.exp(-0.5 * np.square(high)) / inside)
    return np.where(mirrored, at_high, at_low), np.where(mirrored, at_low, at_high)
