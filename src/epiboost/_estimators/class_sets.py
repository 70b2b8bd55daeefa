"""Prediction sets of a classifier."""

import numpy as np
import numpy.typing as npt

from epiboost._estimators.conformal import conformal_quantile
from epiboost._estimators.staged_predictions import StagedClasses
from epiboost._estimators.uncertainty_model import takes_remote_tables
from epiboost._inputs.target import Classes
from epiboost._posterior.levels import check_coverage
from epiboost._typing import AnyArray, Column, Table


class ClassSets(StagedClasses):
    """Labels and prediction sets of a classifier, beside its staged predictions."""

    target_: Classes

    @property
    def classes_(self) -> AnyArray:
        """Labels, in the order of the probabilities."""
        return self.target_.labels

    @takes_remote_tables
    def predict_set(
        self, X: Table, coverage: float | npt.ArrayLike = 0.9, *, guarantee: bool = False, offset: Column = None
    ) -> npt.NDArray[np.bool_]:
        """Predict sets of classes that contain the true class with about the given probability.

        They need out-of-fold chains: classes belong to a set whose probability is not below that of the true class of
        the given share of rows, each predicted by a chain that has not seen it.

        Parameters
        ----------
        X : table of shape (n, features)
        coverage : float or sequence of shape (k,), default=0.9
            Strictly between 0 and 1. A set of a larger coverage contains those of smaller ones.
        guarantee : bool, default=False
            Whether the sets shall be cross-conformal, made by the out-of-fold chains alone. For rows of the same
            distribution they contain the true class with a probability of at least ``1 - 2 * (1 - coverage)``, less a
            term that vanishes with the number of rows. Needs ``keep_folds=True``.
        offset : number or array of shape (n,), or (n, classes) for three classes or more, optional
            For a model that was trained with one.

        Returns
        -------
        array of bool, of shape (n, classes), or (n, k, classes) for k coverages
            Which classes belong to the set, in the order of ``classes_``; at least the most probable one.
        """
        self._require_fitted()
        measured, levels = self._measured, check_coverage(coverage)
        probability = self.predict_proba(X, offset=offset)
        most_probable = probability == probability.max(axis=1, keepdims=True)
        if guarantee:
            chains, table = measured.kept_chains, self.schema_.transform(X)
            known = self._known_offset(offset, len(table))
            sets = [chains.sets(table, float(level), known) | most_probable for level in np.atleast_1d(levels)]
        else:
            limits = [conformal_quantile(measured.scores, float(level)) for level in np.atleast_1d(levels)]
            sets = [(1.0 - probability <= limit) | most_probable for limit in limits]
        return sets[0] if levels.ndim == 0 else np.stack(sets, axis=1)
