"""Kaplan-Meier curves of right-censored durations."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from epiboost._typing import AnyArray, Floats


@dataclass(frozen=True, slots=True, eq=False)
class KaplanMeier:
    """A step function: the probability of lasting longer.

    Attributes
    ----------
    times : array of shape (k,)
        In ascending order.
    survival : array of shape (k,)
        From each time on; 1 before the first.

    Examples
    --------
    >>> curve = KaplanMeier.of(np.array([1.0, 2.0, 3.0]), np.array([True, False, True]), np.ones(3))
    >>> curve(np.array([0.5, 1.0, 2.5, 3.0])).round(3)
    array([1.   , 0.667, 0.667, 0.   ])
    """

    times: Floats
    survival: Floats

    @classmethod
    def of(cls, time: Floats, event: AnyArray, weight: Floats) -> Self:
        """Return the curve of durations; those without an event last longer than their time."""
        return cls._of(time, event, weight, np.zeros_like(weight))

    @classmethod
    def of_censoring(cls, time: Floats, event: AnyArray, weight: Floats) -> Self:
        """Return the probability of being observed longer than a time; rows that end then are not at risk any more."""
        return cls._of(time, ~event, weight, weight * event)

    @classmethod
    def _of(cls, time: Floats, ends: AnyArray, weight: Floats, gone_first: Floats) -> Self:
        times, position = np.unique(time, return_inverse=True)
        leaving = np.bincount(position, weight)
        at_risk = leaving[::-1].cumsum()[::-1] - np.bincount(position, gone_first)
        died = np.bincount(position, weight * ends)
        share = np.divide(died, at_risk, out=np.zeros_like(died), where=died > 0.0)
        return cls(times, np.cumprod(np.clip(1.0 - share, 0.0, 1.0)).astype(np.float64))

    def __call__(self, time: Floats) -> Floats:
        """Return the probability of lasting longer than each time."""
        steps = np.concatenate([[1.0], self.survival])
        return np.asarray(steps[np.searchsorted(self.times, time, side="right")])
