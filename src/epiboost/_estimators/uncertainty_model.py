"""Base class of every model with a posterior, calibrated or not."""

import functools
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from epiboost._estimators.saving import SavedModel
from epiboost._estimators.training_rows import is_collection
from epiboost._inputs.device_arrays import is_on_device, like, on_host, options_on_host
from epiboost._inputs.schema import CheckedTable
from epiboost._posterior.posterior import Posterior
from epiboost._posterior.summary import Summary
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import AnyArray, Column, Floats, Table
from epiboost.distributed.scoring import score_lazily

Method = TypeVar("Method", bound=Callable[..., Any])


def takes_remote_tables(method: Method) -> Method:
    """Let a method of a fitted model, ``method(X, ...)``, take Dask collections and tables on a GPU.

    The result is lazy for a Dask collection, and in the library of the table for one on a GPU.
    """

    @functools.wraps(method)
    def called(model: "UncertaintyModel", X: Table, *arguments: object, **options: object) -> object:
        if is_collection(X):
            _refuse_beside_dask(options)
            return score_lazily(method.__name__, model, X, arguments, options)
        if is_on_device(X):
            return _of_library(X, method(model, model._near(X), *map(on_host, arguments), **options_on_host(options)))  # noqa: SLF001
        return method(model, X, *arguments, **options)

    return called  # type: ignore[return-value]  # it has the method's own signature


def _refuse_beside_dask(options: Mapping[str, object]) -> None:
    """Raise an error for options that do not go with a Dask collection."""
    if options.get("groups") is not None:
        message = "groups beside a Dask collection are not supported; calibrate with groups that are a column of X"
        raise ValueError(message)
    if options.get("offset") is not None:
        message = "offset is for tables in memory, not for Dask collections; predict their partitions one by one"
        raise ValueError(message)


def _of_library(X: Table, result: object) -> object:
    """Return a result of a method with its arrays in the library of the table."""
    if isinstance(result, tuple):
        return tuple(_of_library(X, part) for part in result)
    if isinstance(result, Uncertainty):
        return result.in_library_of(X)
    return like(X, result)


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

    def _near(self, X: Table) -> Table:
        """Return a table on a GPU as a method shall take it: where it is, if the model can use it there."""
        return on_host(X)

    def _summary(self, X: Table, offset: Column) -> Posterior | Summary:
        """Return what has the mean of each row, and for a regressor the spread."""
        return self.predict_posterior(X, offset=offset)

    @abstractmethod
    def _novelty(self, X: Table) -> Floats:
        """Return the novelty of each row."""

    @takes_remote_tables
    def predict_uncertainty(self, X: Table, *, novelty: bool = False, offset: Column = None) -> Uncertainty:
        """Split the uncertainty of each row into data and knowledge uncertainty.

        Parameters
        ----------
        X : table of shape (n, features)
            On a GPU or not; the arrays of the result are where X is.
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
