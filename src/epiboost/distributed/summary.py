"""What is to be known of targets and weights that are in partitions, the same however they are cut.

Sums are exact (see `exact`) and rounded once, when all partitions are joined.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from epiboost._boosting.objectives import BINARY, Bernoulli, Categorical, Normal, Objective
from epiboost._typing import Floats
from epiboost.distributed.exact_sums import UNIT, exact_sum


@dataclass(frozen=True, slots=True)
class Summary:
    """Facts about some rows.

    Attributes
    ----------
    rows, counting : int
        All rows, and those of positive weight.
    weight : int
        Of all rows, an exact sum.
    lightest, heaviest : float
        The least and the greatest of the positive weights.
    least, most : float
        Of the values that count, or class numbers.
    classes : tuple of int
        The weight of each class number, an exact sum; none for values.
    """

    rows: int
    counting: int
    weight: int
    lightest: float
    heaviest: float
    least: float
    most: float
    classes: tuple[int, ...]

    @classmethod
    def of(cls, y: Floats, weight: Floats, rows: int, n_classes: int) -> "Summary":
        """Sum up the rows that count."""
        return cls(
            rows,
            len(y),
            exact_sum(weight),
            float(weight.min(initial=np.inf)),
            float(weight.max(initial=0.0)),
            float(y.min(initial=np.inf)),
            float(y.max(initial=-np.inf)),
            tuple(exact_sum(weight[y == number]) for number in range(n_classes)),
        )

    def joined(self, other: "Summary") -> "Summary":
        """Return the summary of both.

        >>> halves = [Summary.of(np.array([value, value + 2.0]), np.ones(2), 2, 0) for value in (0.0, 4.0)]
        >>> both = halves[0].joined(halves[1])
        >>> both.rows, both.least, both.most, both.total
        (4, 0.0, 6.0, 4.0)
        """
        return Summary(
            self.rows + other.rows,
            self.counting + other.counting,
            self.weight + other.weight,
            min(self.lightest, other.lightest),
            max(self.heaviest, other.heaviest),
            min(self.least, other.least),
            max(self.most, other.most),
            tuple(own + others for own, others in zip(self.classes, other.classes, strict=True)),
        )

    @property
    def total(self) -> float:
        """What all rows count for."""
        return float(self.weight * UNIT)

    @property
    def ruler(self) -> tuple[float, float]:
        """Return the middle of the values and how far they reach from it."""
        return self.least / 2 + self.most / 2, self.most / 2 - self.least / 2

    def objective(self, moments: "Moments | None") -> Objective:
        """Return the loss whose start these targets say; moments are for values."""
        if moments is not None:
            return Normal.constant(self.least) if self.least == self.most else moments.normal(self)
        shares = [float(Fraction(own, self.weight)) for own in self.classes]
        if len(shares) == BINARY:
            return Bernoulli(float(np.log(shares[1]) - np.log(shares[0])))
        return Categorical(tuple(np.log(shares).tolist()))


@dataclass(frozen=True, slots=True)
class Moments:
    """Weighted sums, exact, of values that are measured by a ruler, and of their squares.

    >>> y = np.array([0.0, 2.0, 4.0, 6.0])
    >>> summary = Summary.of(y, np.ones(4), 4, 0)
    >>> Moments.of(y, np.ones(4), summary.ruler).normal(summary)
    Normal(location=3.0, scale=2.23606797749979)
    """

    first: int
    second: int

    @classmethod
    def of(cls, y: Floats, weight: Floats, ruler: tuple[float, float]) -> "Moments":
        """Sum up the rows that count."""
        middle, reach = ruler
        measured = (y - middle) / reach if reach > 0 else np.zeros(len(y))
        return cls(exact_sum(weight * measured), exact_sum(weight * measured**2))

    def joined(self, other: "Moments") -> "Moments":
        """Return the sums of both."""
        return Moments(self.first + other.first, self.second + other.second)

    def normal(self, summary: Summary) -> Normal:
        """Return the loss that starts from mean and spread."""
        middle, reach = summary.ruler
        mean, square = Fraction(self.first, summary.weight), Fraction(self.second, summary.weight)
        spread = float(np.sqrt(max(float(square - mean**2), 0.0))) * reach
        return Normal.around(middle + float(mean) * reach, spread)
