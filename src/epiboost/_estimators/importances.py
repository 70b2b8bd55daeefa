"""Importance of each column for the prediction, as scikit-learn's selectors read it.

For the native engine it is the mean absolute Shapley value of the score over kept training rows: how much a column
moves the prediction. It is computed from the trees and the kept rows, so a loaded model has it too. Langevin noise is
in the trees and cancels in part in their sum; sums of gains, which cannot cancel, would count all of it. Other engines
have the gains of their libraries.
"""

import numpy as np

from epiboost._estimators.reference_rows import ReferenceRows
from epiboost._typing import Floats
from epiboost.engines.base import Forest, GainForest
from epiboost.engines.native.forest import NativeForest
from epiboost.engines.native.shapley import shapley_values

_MAX_EXPLAINED, _MAX_BACKGROUND = 500, 1000  # kept rows, which are in random order


def feature_importances(
    forest: Forest, kept: ReferenceRows | None, prefixes: tuple[int, ...] | None, engine: str
) -> Floats:
    """Return the importance of each column, shape (features,); the sum is one, or zero if no tree has a split.

    Parameters
    ----------
    forest : Forest
    kept : ReferenceRows or None
    prefixes : tuple of int or None
        Of a virtual ensemble.
    engine : str
        Its name, for errors.

    Raises
    ------
    AttributeError
        If the engine has no importances, or they need training rows and the model keeps none.
    """
    if isinstance(forest, NativeForest):
        importances = _mean_absolute_values(forest, kept, prefixes)
    elif isinstance(forest, GainForest):
        importances = _shares(forest.gains()).mean(axis=0)
    else:
        message = (
            f"engine={engine!r} has no feature importances; sklearn.inspection.permutation_importance measures them "
            "for any model"
        )
        raise AttributeError(message)  # noqa: TRY004 (an attribute of the model is asked for)
    shares: Floats = _shares(importances[np.newaxis])[0]
    return shares


def _mean_absolute_values(forest: NativeForest, kept: ReferenceRows | None, prefixes: tuple[int, ...] | None) -> Floats:
    """Return the mean absolute Shapley value of each column, shape (features,), summed over the classes."""
    if kept is None:
        message = (
            "feature importances are mean absolute Shapley values of training rows, and this model keeps none: it was "
            "trained on a Dask collection or with reference_rows=0, or its file is of an earlier version; "
            "sklearn.inspection.permutation_importance measures them on any table"
        )
        raise AttributeError(message)
    table = kept.table
    n_outputs = len(forest.objective.start)
    outputs = range(n_outputs) if forest.family == "categorical" else (0,)  # of a Normal, the mean alone
    importances = np.zeros(forest.n_features)
    for output in outputs:
        values, _ = shapley_values(
            forest,
            table[:_MAX_EXPLAINED],
            table[:_MAX_BACKGROUND],
            players=np.arange(forest.n_features),
            coefficients=np.eye(n_outputs)[output],
            prefixes=prefixes,
        )
        importances += np.abs(values).mean(axis=0)
    return importances


def _shares(amounts: Floats) -> Floats:
    """Return the share of each column in the sum of its row; zeros if that is zero."""
    total = amounts.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(amounts, total, out=np.zeros_like(amounts), where=total > 0.0)
    return shares
