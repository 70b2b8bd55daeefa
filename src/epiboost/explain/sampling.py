"""How many background rows and coalitions the Shapley values are estimated from."""

from dataclasses import dataclass

import numpy as np

from epiboost._typing import AnyArray

_N_BACKGROUND = 50
_N_EXACT_BACKGROUND = 1000  # trees are explained at once for all background rows
_MIN_COALITIONS = 512
_COALITIONS_PER_FEATURE = 20


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sizes and seed of the samples; see `epiboost.explain.attribute`.

    >>> Sampling().coalitions(4), Sampling(n_coalitions=100).coalitions(4)
    (512, 100)
    """

    n_background: int | None = None
    n_coalitions: int | None = None
    random_state: int | None = 0

    def background(self, rows: AnyArray, *, exact: bool = False) -> AnyArray:
        """Return at most ``n_background`` of the rows, drawn at random, in their order.

        Parameters
        ----------
        rows : array of shape (m, features)
        exact : bool, default=False
            Whether the rows are for the exact values of trees; more are used by default.
        """
        usual = _N_EXACT_BACKGROUND if exact else _N_BACKGROUND
        n_rows = usual if self.n_background is None else _check_integer("n_background", self.n_background, 1)
        if len(rows) <= n_rows:
            return rows
        drawn = np.random.default_rng(self.random_state).choice(len(rows), n_rows, replace=False)
        return rows[np.sort(drawn)]

    def coalitions(self, n_features: int) -> int:
        """Return the number of coalitions to evaluate."""
        if self.n_coalitions is None:
            return max(_MIN_COALITIONS, _COALITIONS_PER_FEATURE * n_features)
        return _check_integer("n_coalitions", self.n_coalitions, 2 * n_features)


def _check_integer(name: str, value: object, minimum: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < minimum:
        message = f"{name} must be an integer of at least {minimum}; got {value!r}"
        raise ValueError(message)
    return int(value)
