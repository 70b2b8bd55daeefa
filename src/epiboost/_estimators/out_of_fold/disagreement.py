"""How much models differ: by their rows, and by their seed.

Two chains a and b that are trained on n_a and n_b of N rows, s of them common, differ at a row that both have not seen
by a squared difference of

    N (1 / n_a + 1 / n_b - 2 s / (n_a n_b)) V + 2 v

on average, where V is the variance of a model of N rows over samples of rows, and v the variance over seeds. That is
exact for averages, where V falls with 1 / N. The first chain and its repetition have the same rows, and give v; the
chain without the first two folds then gives V.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from epiboost._boosting.out_of_fold import OutOfFoldPlan
from epiboost._typing import Floats, Integers

_MAX_RATIO = 1e6  # chains that differ less by their seed differ by rounding

Distance = Callable[[Floats, Floats], Floats]
"""Maps the predictions of two chains to the squared difference at each row."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """How much models differ at rows that they have not seen, averaged over rows.

    Attributes
    ----------
    rows : float
        V, the variance over samples of the rows.
    seeds : float
        v, the variance over seeds.
    """

    rows: float
    seeds: float

    @property
    def knowledge_factor(self) -> float:
        """Factor on the variance between members that makes it the variance between ensembles of ten on other rows.

        Members differ by v. Ensembles on other rows differ by V, and by a tenth of v.
        """
        return 0.1 + (min(self.rows / self.seeds, _MAX_RATIO) if self.seeds > 0.0 else 0.0)

    def of_virtual(self) -> "Disagreement":
        """Return what leaves the knowledge of a virtual ensemble as it is: its members are stages of one chain."""
        return Disagreement(0.9 * self.seeds, self.seeds)

    def excess(self, share: float) -> float:
        """Return the variance of one chain on a share of the rows, beyond that of an ensemble of ten on all rows."""
        return self.rows * (1.0 / share - 1.0) + 0.9 * self.seeds


def measure_disagreement(
    plan: OutOfFoldPlan, predictions: Sequence[Floats], weight: Floats, distance: Distance
) -> Disagreement:
    """Return the disagreement between the first two chains and the two extra ones.

    Parameters
    ----------
    plan : OutOfFoldPlan
    predictions : sequence of arrays of shape (n, ...)
        Predictions of all rows by the first chain, the second, the repeated and the reduced one. Only rows that a chain
        has not seen are used.
    weight : array of shape (n,)
    distance : callable
    """
    first, second, repeated, reduced = predictions
    train_0, train_1 = plan.trains[:2]
    reduced_train = plan.extra_trains[1]

    def squares(one: Floats, other: Floats, rows: Integers) -> tuple[float, float]:
        """Return the weighted sum of squared differences, and the weight."""
        return float((weight[rows] * distance(one[rows], other[rows])).sum()), float(weight[rows].sum())

    by_seed, seed_weight = squares(first, repeated, plan.tests[0])
    seeds = 0.5 * by_seed / seed_weight
    total, coefficient = 0.0, 0.0
    for one, train, test in (
        (first, train_0, plan.tests[0]),
        (repeated, train_0, plan.tests[0]),
        (second, train_1, plan.tests[1]),
    ):
        by_rows, row_weight = squares(one, reduced, np.setdiff1d(test, reduced_train, assume_unique=True))
        total += by_rows - 2.0 * seeds * row_weight
        coefficient += row_weight * _row_coefficient(train, reduced_train, len(weight))
    if coefficient == 0.0:  # no chains of other rows: the members' differences stay as they are
        return Disagreement(0.9 * seeds, seeds)
    return Disagreement(max(total / coefficient, 0.0), seeds)


def _row_coefficient(train: Integers, other: Integers, n_rows: int) -> float:
    """Return N (1 / n_a + 1 / n_b - 2 s / (n_a n_b))."""
    if not other.size:
        return 0.0
    common = len(np.intersect1d(train, other, assume_unique=True))
    return n_rows * (1.0 / len(train) + 1.0 / len(other) - 2.0 * common / (len(train) * len(other)))
