"""Shapley values of a game, computed by the package `shap`.

The Shapley value of a feature is what it adds to the measure, averaged over all orders in which the features of a row
become known. Features that are not known yet take the values of background rows (see `game`). The values of a row add
up exactly to its measure less the mean over the background.

Of the estimators of `shap`, KernelExplainer is used: a weighted least-squares fit to the values of coalitions. At the
same number of predictions it was more accurate than sampling of permutations, it is exact where all coalitions can be
evaluated (up to nine features by default), and it needs no compilation. It is called once for all rows: the value of a
coalition is a vector with an entry for each row, and the predictions of all rows are made together.
"""

import warnings
from collections.abc import Callable
from functools import cache
from threading import Lock
from types import ModuleType

import numpy as np

from epiboost._optional import require
from epiboost._progress import Progress
from epiboost._typing import Floats, LibraryObject
from epiboost.explain.game import Game

_ROWS_PER_CALL = 1000
"""Rows per call of the explainer: their coalition values take a few megabytes."""
_GLOBAL_GENERATOR = Lock()
"""Held while shap draws from NumPy's global generator, which threads share."""


def import_shap() -> ModuleType:
    """Return the package `shap`, without the warnings of its import."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return require("shap", extra="explain", purpose="explaining uncertainty")


def shapley_values(game: Game, n_coalitions: int, seed: int | None, progress: Progress) -> tuple[Floats, Floats]:
    """Return the Shapley values of all rows and measures of a game.

    Parameters
    ----------
    game : Game
    n_coalitions : int
        Coalitions that are evaluated, at most.
    seed : int or None
    progress : Progress
        Is called with the number of coalitions evaluated so far and the number expected.

    Returns
    -------
    values : array of shape (n, players, measures)
    base : array of shape (measures,)
        Values of the empty coalition.
    """
    n_rows, n_players = len(game.rows), game.n_players
    starts = range(0, n_rows, _ROWS_PER_CALL)
    n_expected = min(n_coalitions, 2 ** min(n_players, 60) - 2) + 2
    parts = []
    for part, start in enumerate(starts):
        callback = _progress_of_part(progress, part * n_expected, n_expected, len(starts) * n_expected)
        rows = game.rows[start : start + _ROWS_PER_CALL]
        parts.append(_kernel_values(game.with_rows(rows, callback), n_coalitions, seed))
    base = game(np.zeros((1, n_players)))[0, : len(game.measures)]
    return np.concatenate(parts), base


def _progress_of_part(progress: Progress, before: int, maximum: int, total: int) -> Callable[[int], None]:
    """Return a callback that adds the coalitions of the parts before this one."""
    return lambda done: progress(before + min(done, maximum), total)


def _kernel_values(game: Game, n_coalitions: int, seed: int | None) -> Floats:
    """Return the values of some rows, shape (rows, players, measures)."""
    n_rows, n_players = len(game.rows), game.n_players
    with _GLOBAL_GENERATOR:
        state = np.random.get_state()  # noqa: NPY002 (shap draws from the global generator)
        np.random.seed(seed)  # noqa: NPY002
        try:
            explainer = _kernel_explainer()(game, np.zeros((1, n_players)))
            values = explainer.shap_values(np.ones(n_players), nsamples=n_coalitions, l1_reg=False, silent=True)
        finally:
            np.random.set_state(state)  # noqa: NPY002
    return np.asarray(values).reshape(n_players, n_rows, -1).transpose(1, 0, 2)


@cache
def _kernel_explainer() -> LibraryObject:
    """Return a subclass of shap's KernelExplainer that solves the least-squares problem once for all outputs.

    All outputs have the same coalitions and weights. shap solves the problem again for each output, writes to a log and
    rounds values below 1e-10 to zero, which is too coarse for uncertainties.
    """

    class JointKernelExplainer(import_shap().KernelExplainer):  # type: ignore[misc]  # shap has no types
        def solve(self, fraction_evaluated: float, dim: int) -> tuple[Floats, Floats]:  # noqa: ARG002 (as shap calls it)
            if dim == 0:
                values, sums = self.ey - self.fnull, self.fx - self.fnull
                self.solution = _weighted_least_squares(self.maskMatrix, self.kernelWeights, values, sums)
            return self.solution[:, dim], np.ones(self.M)

    return JointKernelExplainer


def _weighted_least_squares(coalitions: Floats, weights: Floats, values: Floats, sums: Floats) -> Floats:
    """Fit one value per feature to the values of coalitions, under the constraint that they add up to the sums.

    Parameters
    ----------
    coalitions : array of shape (k, features)
    weights : array of shape (k,)
    values : array of shape (k, outputs)
        Values of the coalitions less that of the empty coalition.
    sums : array of shape (outputs,)
        Value of the coalition of all features less that of the empty coalition.

    Returns
    -------
    array of shape (features, outputs)

    Examples
    --------
    >>> _weighted_least_squares(np.eye(2), np.ones(2), np.array([[1.0], [2.0]]), np.array([4.0])).ravel()
    array([1.5, 2.5])
    """
    last = coalitions[:, -1:]  # the constraint determines the value of the last feature
    design = coalitions[:, :-1] - last
    weighted = weights[:, np.newaxis] * design
    gram, moments = design.T @ weighted, weighted.T @ (values - last * sums)
    try:
        others = np.linalg.solve(gram, moments)
    except np.linalg.LinAlgError:  # in few coalitions some features may always occur together
        others = np.linalg.lstsq(gram, moments, rcond=None)[0]
    return np.vstack([others, sums - others.sum(axis=0)])
