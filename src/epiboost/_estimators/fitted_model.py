"""Predictions of a trained ensemble."""

from sklearn.utils.validation import check_is_fitted

from epiboost._boosting.class_offset import add_to_scores
from epiboost._boosting.recipe import thread_count
from epiboost._estimators.device_tables import near_table, on_device, read_table, summary_of
from epiboost._estimators.fitted import FittedAttributes
from epiboost._estimators.out_of_fold.recalibration import Recalibration
from epiboost._estimators.uncertainty_model import UncertaintyModel
from epiboost._inputs.device_arrays import on_host
from epiboost._inputs.schema import CheckedTable, row_index
from epiboost._posterior.posterior import Posterior
from epiboost._posterior.summary import Summary
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._threads import shared_threads
from epiboost._typing import AnyArray, Column, Device, Floats, LibraryObject, Table
from epiboost.engines.base import Engine, predict_table

_ROWS_OF_ONE_THREAD = 256  # for fewer, one thread is faster


class FittedModel(FittedAttributes, UncertaintyModel):
    """Posterior, novelty and importances of a trained ensemble."""

    engine: str | Engine
    n_jobs: int | str | None
    device: Device

    def predict_posterior(self, X: Table, *, offset: Column = None) -> Posterior:
        """Return the predictive distribution of every member for every row.

        Parameters
        ----------
        X : table of shape (n, features)
        offset : number or array of shape (n,), optional
            For a model that was trained with one.

        Returns
        -------
        Posterior
            ``parameters`` has shape (members, n, outputs): mean and variance, or class probabilities.
        """
        self._require_fitted()
        table = self.schema_.transform(X)
        return self._posterior_of(table, row_index(X), self._known_offset(offset, len(table)))

    def _posterior_of(self, table: AnyArray, index: LibraryObject = None, offset: Floats | None = None) -> Posterior:
        """Return the posterior of a table that the schema has read."""
        return self._posterior(self._parameters(table), index, offset)

    def _parameters(self, table: AnyArray) -> Floats:
        """Return what the members predict for a table that the schema has read."""
        return predict_table(on_device(self.forest_, self.device), table, prefixes=self.prefixes_)

    @property
    def _has_own_posterior(self) -> bool:
        """Whether a subclass predicts another posterior: then no forest can summarise it."""
        return type(self).predict_posterior is not FittedModel.predict_posterior

    def _near(self, X: Table) -> Table:
        self._require_fitted()
        if self._has_own_posterior:
            return on_host(X)
        return near_table(X, self.schema_, self.forest_, self.device)

    def _summary(self, X: Table, offset: Column) -> Posterior | Summary:
        self._require_fitted()
        if self._has_own_posterior:
            return super()._summary(X, offset)
        table, index = self._table_of(X), row_index(X)
        known = self._known_offset(offset, len(table))
        summary = self._summary_of(table, index, known)
        return self._posterior_of(on_host(table), index, known) if summary is None else summary

    def _table_of(self, X: Table) -> LibraryObject:
        """Return a table as the schema reads it, where it is."""
        if self.device == "cpu":
            return self.schema_.transform(X)
        return X.values if isinstance(X, CheckedTable) else read_table(X, self.schema_, thread_count(self.n_jobs))

    def _summary_of(self, table: LibraryObject, index: LibraryObject, offset: Floats | None) -> Summary | None:
        """Return the summary of a table that the schema has read, if the forest can compute it."""
        if self.device == "cpu" and offset is not None:  # the posterior adds it to each member: other last bits
            return None
        return summary_of(
            self.forest_,
            table,
            device=self.device,
            prefixes=self.prefixes_,
            recalibration=self._recalibration(),
            offset=offset,
            index=index,
        )

    def _posterior(self, parameters: Floats, index: LibraryObject = None, offset: Floats | None = None) -> Posterior:
        """Return the posterior for the parameters of the members, recalibrated."""
        if offset is not None and self.target_.n_classes:
            parameters = add_to_scores(parameters, offset)
        recalibration = self._recalibration()
        if recalibration is not None:
            with self._threads_for(parameters) as threads:
                parameters = recalibration.apply(parameters, threads=threads)
        if offset is not None and not self.target_.n_classes:
            parameters[:, :, 0] += offset
        classes = getattr(self, "classes_", None)
        return Posterior(parameters, self.forest_.family, classes, index, self._distribution)

    def _uncertainty(self, X: Table, offset: Column) -> Uncertainty:
        """Return the uncertainty of each row; recalibrated parameters that nobody asked for are not written."""
        self._require_fitted()
        if self._has_own_posterior:
            return super()._uncertainty(X, offset)
        table, index = self._table_of(X), row_index(X)
        known = self._known_offset(offset, len(table))
        summary = self._summary_of(table, index, known) if self.forest_.family == "normal" else None
        if summary is not None:
            return summary.uncertainty()
        table = on_host(table)
        recalibration = self._recalibration()
        if recalibration is None or known is not None or self.forest_.family == "normal":
            posterior = self._posterior_of(table, index, known)
            with self._threads_for(posterior.parameters) as threads:
                return posterior.uncertainty(n_jobs=threads)
        parameters = self._parameters(table)
        with self._threads_for(parameters) as threads:
            return recalibration.uncertainty(parameters, index=index, threads=threads)

    def _recalibration(self) -> Recalibration | None:
        return None if self.out_of_fold_ is None else self.out_of_fold_.recalibration

    def _threads_for(self, parameters: Floats) -> shared_threads:
        """Return a context with the threads that recalibrate or decompose these parameters."""
        return shared_threads(1 if parameters.shape[1] <= _ROWS_OF_ONE_THREAD else thread_count(self.n_jobs))

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each column for the prediction, shape (features,); the sum is one."""
        from epiboost._estimators.importances import feature_importances  # noqa: PLC0415 (imports an engine)

        self._require_fitted()
        return feature_importances(self.forest_, self.reference_rows_, self.prefixes_, str(self.engine))

    def _uncertainty_of(self, table: AnyArray) -> Uncertainty:
        """Return the uncertainty of a table that the schema has read."""
        return self._posterior_of(table).uncertainty()

    def _read(self, X: Table) -> CheckedTable:
        self._require_fitted()
        return self.schema_.read(X)

    def _novelty(self, X: Table) -> Floats:
        self._require_fitted()
        if self.reference_rows_ is None:
            message = (
                "this model keeps no training rows to tell what is novel: it was trained on a Dask collection or with "
                "reference_rows=0, or its file is of an earlier version"
            )
            raise ValueError(message)
        return self.reference_rows_.novelty_of(self.schema_.transform(X))

    def _require_fitted(self) -> None:
        if not hasattr(self, "forest_"):  # scikit-learn's own check takes as long as a prediction of one row
            check_is_fitted(self, "forest_")
