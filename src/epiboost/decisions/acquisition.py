"""Which rows to label next.

The rows that the model knows least about are often alike, and labels of all of them would tell the same thing over and
over. So they are chosen one at a time, and after each choice the members are asked what its label would settle. Their
predictions are draws from a distribution over functions; a label of row i, noise included, is an observation of that
function at i, and by the rule for Normals takes from the covariance C of the predictions

    C − C_{·i} (C_ii + noise_i)⁻¹ C_{i·}.

What is left of row j's variance, as a share, is what is left of its knowledge uncertainty. For M members C is
DᵀD / M, with D the predictions less their mean, so that the rule becomes a shrinking of D along one direction in the
space of members, at the cost of one pass over the pool a choice.

The same is done for classes, with their probabilities as outputs and their spread as noise.
"""

from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from epiboost._posterior.posterior import Posterior
from epiboost._posterior.unwrap import unwrap
from epiboost._typing import Floats, Integers

Strategy: TypeAlias = Literal["knowledge", "total", "random"]
"""What makes a row worth a label."""

_FEWEST_MEMBERS = 2
_TINY = float(np.finfo(np.float64).tiny)


def acquire(
    model: Any,  # noqa: ANN401 (any model that has a posterior)
    pool: Any,  # noqa: ANN401 (anything the model reads)
    n: int,
    strategy: Strategy = "knowledge",
    *,
    random_state: int | np.random.Generator | None = None,
) -> Integers:
    """Choose the rows of a pool to label next.

    Parameters
    ----------
    model : fitted model
        For ``"knowledge"`` with an ensemble of two or more members; on its own, at the end of a pipeline or inside a
        search.
    pool : table of shape (rows, features)
        Rows without labels.
    n : int
        How many to choose, at most as many as there are.
    strategy : {"knowledge", "total", "random"}, default="knowledge"
        ``"knowledge"``: the row of most knowledge uncertainty, then the one of most that the first would leave, and so
        on. ``"total"``: the same with data uncertainty added, which no label removes. ``"random"``: any.
    random_state : int, Generator or None
        The seed of ``"random"``; the other strategies have no chance in them.

    Returns
    -------
    integer array of shape (n,)
        Positions in the pool, each at most once, the most wanted first.

    Raises
    ------
    TypeError
        If the model has no posterior.
    ValueError
        If n is not between 1 and the size of the pool, or all members agree on all rows, so that none is worth more
        than another.

    References
    ----------
    A. Kirsch, J. van Amersfoort, Y. Gal: BatchBALD. NeurIPS 2019.

    Examples
    --------
    The model was trained between 0 and 1; the pool reaches beyond:

    >>> import numpy as np
    >>> from epiboost import EpiBoostRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, size=(400, 1))
    >>> model = EpiBoostRegressor(n_members=10, n_estimators=50, random_state=0).fit(X, X[:, 0])
    >>> chosen = acquire(model, rng.uniform(-1, 2, size=(50, 1)), n=5)
    >>> chosen.shape
    (5,)
    """
    if strategy not in get_args(Strategy):
        message = f"strategy must be one of {get_args(Strategy)}, got {strategy!r}"
        raise ValueError(message)
    if strategy == "random":
        n_rows = pool.shape[0] if hasattr(pool, "shape") else len(pool)
        _check_n(n, n_rows)
        return np.random.default_rng(random_state).choice(n_rows, size=n, replace=False).astype(np.int64)
    posterior = unwrap(model, "predict_posterior").predict_posterior(pool)
    _check_n(n, posterior.n_samples)
    return choose(posterior, n, with_data=strategy == "total")


def choose(posterior: Posterior, n: int, *, with_data: bool = False) -> Integers:
    """Choose the samples of a posterior to label next, each given the ones before it.

    The second sample has the same disagreement as the first, the third a smaller one of its own:

    >>> means = np.array([[0.0, 0.0, 1.0], [9.0, 9.0, 1.0], [4.5, 4.5, -2.0]])
    >>> choose(Posterior(np.stack([means, np.ones((3, 3))], axis=2), "normal"), 2).tolist()
    [0, 2]
    """
    uncertainty = posterior.uncertainty()
    if not with_data and (posterior.n_members < _FEWEST_MEMBERS or not uncertainty.knowledge.any()):
        message = "all members agree on all rows, so that knowledge uncertainty has nothing to choose by"
        raise ValueError(message)
    deviation, noise = _deviations(posterior)
    variance = np.maximum(np.square(deviation).sum(axis=(0, 2)), _TINY)
    base = uncertainty.data if with_data else np.zeros(posterior.n_samples)
    chosen = np.empty(n, dtype=np.int64)
    free = np.ones(posterior.n_samples, dtype=bool)
    for place in range(n):
        left = np.square(deviation).sum(axis=(0, 2)) / variance
        row = int(np.where(free, base + uncertainty.knowledge * left, -np.inf).argmax())
        chosen[place], free[row] = row, False
        _settle(deviation, row, float(noise[row]))
    return chosen


def _deviations(posterior: Posterior) -> tuple[Floats, Floats]:
    """Return the members' distances from their mean, of shape (members, samples, outputs), and each label's noise."""
    parameters = posterior.parameters
    outputs = parameters[:, :, :1] if posterior.family == "normal" else parameters
    deviation: Floats = outputs - outputs.mean(axis=0)
    if posterior.family == "normal":
        return deviation, parameters[:, :, 1].mean(axis=0)
    return deviation, (parameters * (1.0 - parameters)).mean(axis=(0, 2))


def _settle(deviation: Floats, row: int, noise: float) -> None:
    """Shrink the members' distances, in place, by what the label of one row would settle."""
    n_members = len(deviation)
    directions, size, _ = np.linalg.svd(deviation[:, row], full_matrices=False)
    known = size > 0.0
    directions, size = directions[:, known], size[known]
    shrink = 1.0 - np.sqrt(n_members * noise / (np.square(size) + n_members * noise))
    flat = deviation.reshape(n_members, -1)
    flat -= (directions * shrink) @ (directions.T @ flat)


def _check_n(n: int, n_rows: int) -> None:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= n_rows:
        message = f"n must be a whole number from 1 to the {n_rows} rows of the pool, got {n!r}"
        raise ValueError(message)
