"""Predictions that plain and calibrated models have in common: numbers with a spread, classes with probabilities."""

from abc import abstractmethod
from typing import Literal, overload

import numpy as np

from epiboost._estimators.uncertainty_model import UncertaintyModel, takes_remote_tables
from epiboost._inputs.device_arrays import on_host
from epiboost._inputs.target import Target
from epiboost._typing import AnyArray, Column, Floats, Table


class NumberPredictions(UncertaintyModel):
    """Predictions of a regressor."""

    @overload
    def predict(self, X: Table, *, return_std: Literal[False] = False, offset: Column = None) -> Floats: ...
    @overload
    def predict(self, X: Table, *, return_std: Literal[True], offset: Column = None) -> tuple[Floats, Floats]: ...
    @takes_remote_tables
    def predict(self, X: Table, *, return_std: bool = False, offset: Column = None) -> Floats | tuple[Floats, Floats]:
        """Predict the mean of the posterior.

        Parameters
        ----------
        X : table of shape (n, features)
            Arrays of CuPy and PyTorch on a GPU are predicted there, and the results are of their library.
        return_std : bool, default=False
            Whether to return the square root of the total variance as well.
        offset : number or array of shape (n,), optional
            For a model that was trained with one.

        Returns
        -------
        mean : array of shape (n,)
            Calibration does not change it.
        std : array of shape (n,)
            Only if ``return_std``.
        """
        posterior = self._summary(X, offset)
        return (posterior.mean, posterior.std) if return_std else posterior.mean

    def _offset_of_uncertainty(self, offset: Column) -> Column:
        """Return any offset: the uncertainty of a regression does not depend on it."""
        return 0.0 if offset is None and self.trained_with_offset_ else offset


class ClassPredictions(UncertaintyModel):
    """Predictions of a classifier."""

    target_: Target

    @property
    @abstractmethod
    def classes_(self) -> AnyArray:
        """Labels, in the order of the probabilities."""

    @takes_remote_tables
    def predict(self, X: Table, *, offset: Column = None) -> AnyArray:
        """Predict the most probable label of each row; returns an array of shape (n,)."""
        most_probable = on_host(self.predict_proba(X, offset=offset).argmax(axis=1))
        return self.target_.decode(most_probable)

    @takes_remote_tables
    def predict_proba(self, X: Table, *, offset: Column = None) -> Floats:
        """Predict class probabilities, the mean over members: shape (n, classes), in the order of ``classes_``."""
        mean: Floats = self._summary(X, offset).mean
        return mean

    @takes_remote_tables
    def predict_log_proba(self, X: Table, *, offset: Column = None) -> Floats:
        """Predict the logarithms of `predict_proba`; minus infinity for a class of probability zero."""
        with np.errstate(divide="ignore"):
            logarithms: Floats = np.log(on_host(self.predict_proba(X, offset=offset)))
        return logarithms
