"""Base class of every model with a posterior, calibrated or not."""

import functools
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from epiboost._estimators.saving import SavedModel
from epiboost._estimators.training_rows import is_collection
from epiboost._inputs.schema import CheckedTable
from epiboost._posterior.posterior import Posterior
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import AnyArray, Column, Floats, Table
from epiboost.distributed.scoring import score_lazily

Method = TypeVar("Method", bound=Callable[..., Any])


def takes_dask(method: Method) -> Method:
    """Let a method of a fitted model, ``method(X, ...)``, take Dask collections; its result is then lazy."""

    @functools.wraps(method)
    def called(model: "UncertaintyModel", X: Table, *arguments: object, **options: object) -> object:
        if is_collection(X):
            if options.get("groups") is not None:
                message = (
                    "groups beside a Dask collection are not supported; calibrate with groups that are a column of X"
                )
                raise ValueError(message)
            if options.get("offset") is not None:
                message = (
                    "offset is for tables in memory, not for Dask collections; predict their partitions one by one"
                )
                raise ValueError(message)
            return score_lazily(method.__name__, model, X, arguments, options)
        return method(model, X, *arguments, **options)

    return called  # type: ignore[return-value]  # it has the method's own signature


class UncertaintyModel(SavedModel, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A model with a posterior."""

    trained_with_offset_: bool = False

    @abstractmethod
    def predict(self, X: Table, *, offset: Column = None) -> AnyArray:
        """Predict the target of each row."""

    @abstractmethod
    def predict_posterior(self, X: Table, *, offset: Column = None) -> Posterior:
        """Return the predictive distribution of every member for every row."""

    @abstractmethod
    def _read(self, X: Table) -> CheckedTable:
        """Return a table that need not be read again."""

    @abstractmethod
    def _novelty(self, X: Table) -> Floats:
        """Return the novelty of each row."""

    @takes_dask
    def predict_uncertainty(self, X: Table, *, novelty: bool = False, offset: Column = None) -> Uncertainty:
        """Split the uncertainty of each row into data and knowledge uncertainty.

        Parameters
        ----------
        X : table of shape (n, features)
        novelty : bool, default=False
            Whether to measure novelty too.
        offset : number or array of shape (n,), optional
            For a model that was trained with one. The uncertainty of a regression does not depend on it.

        Returns
        -------
        Uncertainty
            ``total``, ``data`` and ``knowledge``, each of shape (n,); ``total = data + knowledge``. Variances for a
            regressor, entropies in nats for a classifier. With ``novelty``, a fourth number that is no part of these:
            how far the columns of the row are from the training rows, as minus the logarithm of the probability that a
            row of the domain is as far; 3 means one row in twenty.
        """
        known = self._offset_of_uncertainty(offset)
        if not novelty:
            return self._uncertainty(X, known)
        rows = self._read(X)
        return self._uncertainty(rows, known).with_novelty(self._novelty(rows))

    def _uncertainty(self, X: Table, offset: Column) -> Uncertainty:
        """Return the uncertainty of the posterior of each row."""
        return self.predict_posterior(X, offset=offset).uncertainty()

    def _offset_of_uncertainty(self, offset: Column) -> Column:
        """Return the offset with which the uncertainty is predicted."""
        return offset

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that values may be missing and tables sparse."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
