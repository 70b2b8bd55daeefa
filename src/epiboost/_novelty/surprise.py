"""Surprise of a score: minus the logarithm of the probability that a row of the domain has as large a score.

Within the sample of the domain it is the rank. Beyond its largest twentieth the probability falls as a power of the
score (a Pareto tail, fitted by Hill's estimator), so that scores that no row of the domain has are still ordered.

>>> surprise = Surprise.of(np.arange(1.0, 1001.0))
>>> surprise([1.0, 501.0, 2000.0]).round(2)
array([ 0.  ,  0.69, 17.87])

References
----------
B. Hill: A simple general approach to inference about the tail of a distribution. Annals of Statistics, 1975.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from epiboost._typing import Floats

_LARGEST, _SMALLEST = float(np.finfo(np.float64).max), float(np.finfo(np.float64).tiny)
_TAIL_SHARE = 0.05
_MIN_TAIL_ROWS = 5
_MIN_TAIL_INDEX = 0.05  # samples that end abruptly would make the next larger score infinitely surprising


@dataclass(frozen=True, slots=True, eq=False)
class Surprise:
    """Surprise of scores that are at least 0.

    Attributes
    ----------
    sample : array of shape (n,)
        Scores of rows of the domain, ascending.
    tail_start : float
        Score from which the tail is used.
    tail_share : float
        Probability of a score in the tail.
    tail_index : float
        The tail's probability is proportional to the score to the power of minus one over the index.
    unit : float
        A large score, if nearly all scores of the sample are 0; the tail then starts at 0.
    """

    sample: Floats
    tail_start: float
    tail_share: float
    tail_index: float
    unit: float

    @classmethod
    def of(cls, scores: npt.ArrayLike, *, unit: float = 1.0) -> Self:
        """Return the surprise of scores, from those of rows of the domain.

        Parameters
        ----------
        scores : array of shape (n,)
            At least one.
        unit : float
            A large score, for samples in which nearly all are 0.
        """
        sample = np.sort(np.asarray(scores, dtype=np.float64))
        n = len(sample)
        n_tail = min(max(int(_TAIL_SHARE * n), _MIN_TAIL_ROWS), n - 1)
        start = float(sample[n - 1 - n_tail])
        share = (n_tail + 1) / (n + 1)
        if start > 0.0 and n_tail:
            with np.errstate(over="ignore"):
                index = float(np.log(np.minimum(sample[n - n_tail :] / start, _LARGEST)).mean())
            return cls(sample, start, share, max(index, _MIN_TAIL_INDEX), unit)
        positive = sample[sample > 0.0]
        return cls(sample, 0.0, share, 1.0, float(positive.mean()) if len(positive) else unit)

    def __call__(self, scores: npt.ArrayLike) -> Floats:
        """Return the surprise of each score, in nats; 0 if all rows of the domain have as large a score."""
        values = np.asarray(scores, dtype=np.float64)
        n = len(self.sample)
        rank = n - np.searchsorted(self.sample, values, side="left")
        surprise = np.log((n + 1) / (rank + 1))
        beyond = values > self.tail_start
        if self.tail_start > 0.0:
            with np.errstate(over="ignore"):
                multiple = np.minimum(np.maximum(values, self.tail_start) / self.tail_start, _LARGEST)
            tail = np.log(multiple) / self.tail_index
            return np.where(beyond, tail - np.log(self.tail_share), surprise)
        with np.errstate(over="ignore"):
            multiple = np.minimum(np.maximum(values, 0.0) / self.unit, _LARGEST)
        return np.where(beyond, surprise + np.log1p(multiple), surprise)

    def left_out(self, scores: npt.ArrayLike) -> Floats:
        """Return the surprise of scores of the sample, each as if the sample did not hold it.

        With few rows a score in the tail has much to say about the tail.
        """
        values = np.asarray(scores, dtype=np.float64)
        n = len(self.sample)
        others = n - 1 - np.searchsorted(self.sample, values, side="left")
        surprise = np.log(n / (others + 1))
        beyond = values > self.tail_start
        if self.tail_start > 0.0:
            n_tail = round(self.tail_share * (n + 1)) - 1
            excess = np.log(np.minimum(np.maximum(values, self.tail_start) / self.tail_start, _LARGEST))
            index = (self._raw_index * n_tail - excess) / max(n_tail - 1, 1)
            return np.where(beyond, excess / np.maximum(index, _MIN_TAIL_INDEX) - np.log(n_tail / n), surprise)
        positive = self.sample[self.sample > 0.0]
        unit = (positive.sum() - values) / (len(positive) - 1) if len(positive) > 1 else self.unit
        with np.errstate(over="ignore", divide="ignore"):
            multiple = np.minimum(np.maximum(values, 0.0) / np.maximum(unit, _SMALLEST), _LARGEST)
        return np.where(beyond, surprise + np.log1p(multiple), surprise)

    @property
    def _raw_index(self) -> float:
        """Hill's estimate of the tail index, without its limit."""
        with np.errstate(over="ignore"):
            tail = self.sample[len(self.sample) - round(self.tail_share * (len(self.sample) + 1)) + 1 :]
            return float(np.log(np.minimum(tail / self.tail_start, _LARGEST)).mean())
