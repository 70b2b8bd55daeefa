"""Censored durations with a Weibull distribution; scores are those of `Weibull`, of the standardised logarithm.

>>> import numpy as np
>>> objective = CensoredWeibull(location=0.0, scale=1.0)
>>> objective.gradient(np.zeros((2, 2)), np.array([[0.0, 0.0], [0.0, np.inf]])).round(3)
array([[-0.526,  0.608],
       [-1.526, -0.   ]])
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epiboost._boosting.objectives.censored import CensoredObjective
from epiboost._boosting.objectives.distribution import Distribution
from epiboost._boosting.objectives.weibull import WeibullDistribution
from epiboost._typing import AnyArray, Family, Floats

_SHIFT = 1.0 - float(np.euler_gamma)
_MAX_LOG = 700.0  # its exponential is finite


@dataclass(frozen=True, slots=True)
class CensoredWeibull(CensoredObjective):
    """A Weibull; see the head of weibull.py for the scores.

    Attributes
    ----------
    location, scale : float
        First score, and inverse shape, of all rows.
    """

    location: float
    scale: float

    name: ClassVar[str] = "censored_weibull"
    family: ClassVar[Family] = "weibull"
    distribution_type: ClassVar[type[Distribution]] = WeibullDistribution
    max_log_scale: ClassVar[float] = 4.0
    deviation_range: ClassVar[tuple[float, float]] = (-1e9, 2.5)  # as in the native core, which says why
    shift: ClassVar[float] = _SHIFT
    inverse_information: ClassVar[float] = 6.0 / float(np.pi) ** 2

    def parameters(self, scores: Floats) -> Floats:
        """Return scale and shape, shape (n, 2)."""
        inverse_shape = np.exp(self.log_scale(scores))
        log_scale = self.location + self.scale * (scores[:, 0] - _SHIFT * inverse_shape)
        return np.stack([np.exp(np.clip(log_scale, -_MAX_LOG, _MAX_LOG)), 1.0 / (self.scale * inverse_shape)], axis=1)

    @staticmethod
    def slopes(lower: Floats, upper: Floats, kinds: Mapping[str, AnyArray]) -> tuple[Floats, Floats]:
        """Return the slopes by the location, in units of the scale, and by the log scale at the same first score."""
        hazard, upper_hazard = np.exp(lower), np.exp(upper)
        at_end = _over_expm1(upper_hazard - hazard) / -np.expm1(lower - upper)
        at_lower = np.select([kinds["right"], kinds["interval"]], [hazard, hazard + at_end * np.exp(lower - upper)])
        at_upper = np.select([kinds["left"], kinds["interval"]], [_over_expm1(upper_hazard), at_end])
        observed, excess = kinds["observed"], np.expm1(lower)
        of_scale = (lower - _SHIFT) * at_lower - (upper - _SHIFT) * at_upper
        return (
            np.where(observed, excess, at_lower - at_upper),
            np.where(observed, (lower - _SHIFT) * excess - 1.0, of_scale),
        )


def _over_expm1(x: Floats) -> Floats:
    """Return x / (exp(x) - 1), which is 1 at 0."""
    return np.where(x > 0.0, x / np.expm1(np.maximum(x, 1e-300)), 1.0)
