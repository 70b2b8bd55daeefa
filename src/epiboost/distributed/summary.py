"""Summaries of targets and weights in partitions, which do not depend on the partitioning.

Sums are exact (see `exact_sums`) and rounded once, after the summaries of all partitions are merged.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from epiboost._boosting.objectives import BINARY, Bernoulli, Categorical, Normal, Objective
from epiboost._typing import Floats
from epiboost.distributed.exact_sums import UNIT, exact_sum


@dataclass(frozen=True, slots=True)
class TargetSummary:
    """Extremes and sums of targets and weights.

    Targets are numbers or the positions of class labels. Rows of weight zero are left out, except from ``n_rows``.

    Attributes
    ----------
    n_rows, n_positive : int
        Number of rows, and number of rows of positive weight.
    weight_sum : int
        Exact sum of the weights, in units of `exact_sums.UNIT`.
    smallest_weight, largest_weight : float
    smallest, largest : float
        Of the targets.
    class_weights : tuple of int
        Exact sum of the weights per class; empty for numbers.
    """

    n_rows: int
    n_positive: int
    weight_sum: int
    smallest_weight: float
    largest_weight: float
    smallest: float
    largest: float
    class_weights: tuple[int, ...]

    @classmethod
    def from_rows(cls, y: Floats, weight: Floats, n_rows: int, n_classes: int) -> "TargetSummary":
        """Summarise the rows of positive weight, out of ``n_rows`` rows.

        Parameters
        ----------
        y, weight : arrays of shape (n,)
        n_rows : int
        n_classes : int
            0 for numbers.
        """
        return cls(
            n_rows,
            len(y),
            exact_sum(weight),
            float(weight.min(initial=np.inf)),
            float(weight.max(initial=0.0)),
            float(y.min(initial=np.inf)),
            float(y.max(initial=-np.inf)),
            tuple(exact_sum(weight[y == position]) for position in range(n_classes)),
        )

    def merge(self, other: "TargetSummary") -> "TargetSummary":
        """Return the summary of the rows of both.

        >>> halves = [TargetSummary.from_rows(np.array([low, low + 2.0]), np.ones(2), 2, 0) for low in (0.0, 4.0)]
        >>> both = halves[0].merge(halves[1])
        >>> both.n_rows, both.smallest, both.largest, both.total_weight
        (4, 0.0, 6.0, 4.0)
        """
        return TargetSummary(
            self.n_rows + other.n_rows,
            self.n_positive + other.n_positive,
            self.weight_sum + other.weight_sum,
            min(self.smallest_weight, other.smallest_weight),
            max(self.largest_weight, other.largest_weight),
            min(self.smallest, other.smallest),
            max(self.largest, other.largest),
            tuple(map(sum, zip(self.class_weights, other.class_weights, strict=True))),
        )

    @property
    def total_weight(self) -> float:
        """Sum of the weights, rounded."""
        return float(self.weight_sum * UNIT)

    @property
    def midpoint(self) -> float:
        """Midpoint of the range of the targets."""
        return self.smallest / 2 + self.largest / 2

    @property
    def half_range(self) -> float:
        """Half the range of the targets."""
        return self.largest / 2 - self.smallest / 2

    def objective(self, moments: "Moments | None") -> Objective:
        """Return the objective with the start values of these targets.

        Parameters
        ----------
        moments : Moments or None
            Of numbers; None for classes.
        """
        if moments is not None:
            return Normal.constant(self.smallest) if self.smallest == self.largest else moments.normal(self)
        shares = [float(Fraction(weight, self.weight_sum)) for weight in self.class_weights]
        if len(shares) == BINARY:
            return Bernoulli(float(np.log(shares[1]) - np.log(shares[0])))
        return Categorical(tuple(np.log(shares).tolist()))


@dataclass(frozen=True, slots=True)
class Moments:
    """Exact weighted sums of targets (``first``) and of their squares (``second``), in units of `exact_sums.UNIT`.

    Targets are scaled to the range from -1 to 1 before, so that squares of large targets do not overflow, and the
    variance of targets far from zero is not lost to rounding.

    >>> y = np.array([0.0, 2.0, 4.0, 6.0])
    >>> summary = TargetSummary.from_rows(y, np.ones(4), 4, 0)
    >>> Moments.from_rows(y, np.ones(4), summary.midpoint, summary.half_range).normal(summary)
    Normal(location=3.0, scale=2.23606797749979)
    """

    first: int
    second: int

    @classmethod
    def from_rows(cls, y: Floats, weight: Floats, midpoint: float, half_range: float) -> "Moments":
        """Sum the rows of positive weight, shapes (n,); the range is that of the targets of the whole table."""
        scaled = (y - midpoint) / half_range if half_range > 0 else np.zeros(len(y))
        return cls(exact_sum(weight * scaled), exact_sum(weight * scaled**2))

    def merge(self, other: "Moments") -> "Moments":
        """Return the sums over the rows of both."""
        return Moments(self.first + other.first, self.second + other.second)

    def normal(self, summary: TargetSummary) -> Normal:
        """Return the Normal objective that starts from the mean and the standard deviation of the targets."""
        mean = Fraction(self.first, summary.weight_sum)
        square = Fraction(self.second, summary.weight_sum)
        std = float(np.sqrt(max(float(square - mean**2), 0.0))) * summary.half_range
        return Normal.with_checked_scale(summary.midpoint + float(mean) * summary.half_range, std)
