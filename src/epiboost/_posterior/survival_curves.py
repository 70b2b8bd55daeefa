"""Survival curves of the members of an ensemble, and how much they agree."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from epiboost._boosting.objectives import Distribution
from epiboost._display import short_repr
from epiboost._posterior.levels import interval_ends
from epiboost._typing import Floats

_SMALLEST, _LARGEST = 1e-300, 1.0 - 1e-15  # of a probability of which logarithms are taken


@dataclass(frozen=True, slots=True, eq=False)
class SurvivalCurves:
    """The probability of lasting longer than each time, by each member.

    Attributes
    ----------
    times : array of shape (k,)
    members : array of shape (members, samples, k)

    Examples
    --------
    >>> curves = SurvivalCurves(np.array([1.0, 2.0]), np.array([[[0.8, 0.5]], [[0.9, 0.7]]]))
    >>> curves.survival.round(2), curves.knowledge.round(2)
    (array([[0.85, 0.6 ]]), array([[0.05, 0.1 ]]))
    """

    times: Floats
    members: Floats

    __repr__ = short_repr

    @classmethod
    def of(cls, distribution: Distribution, parameters: Floats, times: npt.ArrayLike) -> "SurvivalCurves":
        """Return the curves of a posterior's parameters, shape (members, samples, outputs)."""
        checked = check_times(times)
        return cls(checked, np.stack([distribution.sf(member[:, np.newaxis], checked) for member in parameters]))

    @property
    def survival(self) -> Floats:
        """Probability of lasting longer than each time, the mean over members, shape (samples, k)."""
        survival: Floats = self.members.mean(axis=0)
        return survival

    @property
    def knowledge(self) -> Floats:
        """Standard deviation of that probability between members, shape (samples, k): what training did not settle."""
        deviation: Floats = self.members.std(axis=0)
        return deviation

    def band(self, coverage: float = 0.9) -> Floats:
        """Return where the curves of further members lie with a probability, shape (samples, k, 2).

        The band is that of a Normal on the scale of the logarithm of the cumulative hazard, on which curves of members
        differ evenly. It says how well the curve is known, not when a row ends.

        Parameters
        ----------
        coverage : float, default=0.9
            Between 0 and 1.
        """
        lower, upper = ndtri(interval_ends(coverage))
        log_hazard = np.log(-np.log(np.clip(self.members, _SMALLEST, _LARGEST)))
        center, spread = log_hazard.mean(axis=0), log_hazard.std(axis=0)
        ends: Floats = np.exp(-np.exp(center[..., np.newaxis] + spread[..., np.newaxis] * np.array([upper, lower])))
        return ends


def check_times(times: npt.ArrayLike) -> Floats:
    """Return times as an array of shape (k,); a ValueError unless they are finite numbers of at least 0 that ascend.

    >>> check_times([1, 2])
    array([1., 2.])
    """
    checked = np.atleast_1d(np.asarray(times, dtype=np.float64))
    if checked.ndim != 1 or not checked.size or not np.isfinite(checked).all() or (checked < 0.0).any():
        message = f"times must be finite numbers of at least 0, of shape (k,); got shape {np.shape(times)}"
        raise ValueError(message)
    if (np.diff(checked) <= 0.0).any():
        message = "times must ascend without repetitions"
        raise ValueError(message)
    return checked
