"""Early stopping: when an ensemble has enough trees. Not in the paper.

The members stop together, because the average of ten is best later than each of them. Their loss is measured after
every round of some trees. Training stops when the best loss lies so many trees back as the patience says.

>>> stopping = EarlyStopping(patience=20)
>>> [stopping.add(trees, loss) for trees, loss in ((10, 3.0), (20, 2.0), (30, 2.5), (40, 2.2))]
[False, False, False, True]
>>> stopping.best
20
"""

import math

_LEAST_PATIENCE = 50  # trees
_SHARE = 2  # the patience is half of the best number of trees: losses of a few hundred rows wander
_ROUNDING = 1e-9  # the order of rows must not decide between losses that are equal
_ROUNDS_PER_PATIENCE = 5
_MAX_ROUND = 10  # trees between two measurements


class EarlyStopping:
    """The loss of an ensemble by number of trees, and where to stop.

    Parameters
    ----------
    patience : int or None
        Trees without a better loss before training stops; None for half of the best number, at least 50.
    """

    def __init__(self, patience: int | None) -> None:
        self.patience = patience
        self.best = 0
        self._lowest = math.inf

    def add(self, n_trees: int, loss: float) -> bool:
        """Record the loss after so many trees; return whether to stop."""
        if not math.isfinite(self._lowest) or loss < self._lowest - _ROUNDING * abs(self._lowest):
            self.best, self._lowest = n_trees, loss
        patience = max(_LEAST_PATIENCE, self.best // _SHARE) if self.patience is None else self.patience
        return n_trees - self.best >= patience


def round_length(patience: int | None) -> int:
    """Return the number of trees between two measurements.

    >>> round_length(None), round_length(30), round_length(3)
    (10, 6, 1)
    """
    return _MAX_ROUND if patience is None else max(1, min(_MAX_ROUND, patience // _ROUNDS_PER_PATIENCE))
