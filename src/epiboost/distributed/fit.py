"""From a table in Dask's partitions to what an engine learns from.

An engine declares by ``capabilities.partitions`` how it takes them: ``"bins"``, as one table of bytes on this machine,
or ``"rows"``, where they are.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._inputs.columns import Vocabularies
from epiboost._inputs.dask_collections import kind_of
from epiboost._inputs.table import (
    Dataset,
    KnownColumns,
    check_classification_target,
    check_regression_target,
    check_table,
    check_weight,
)
from epiboost._typing import AnyArray, Floats
from epiboost.distributed.partitions import aligned_partitions, in_memory, some_rows
from epiboost.distributed.rows import checked_parts, distinct_labels_of, partitioned_rows
from epiboost.distributed.stream import stream_table


class PartitionedFit:
    """The part of an estimator that reads tables in partitions."""

    def _read_partitions(
        self,
        engine: Any,  # noqa: ANN401 (an Engine, which is not known here)
        X: Any,  # noqa: ANN401 (a collection of Dask)
        y: Any,  # noqa: ANN401 (anything a user may pass)
        weight: Any,  # noqa: ANN401 (anything a user may pass)
        watched: tuple[Any, Any, Any] | None,
    ) -> Dataset:
        """Return the training rows, and those that are watched."""
        takes = engine.capabilities.partitions
        if takes is None:
            message = f"engine={self.engine!r} needs X in memory; 'native' and 'xgboost' take Dask collections"
            raise TypeError(message)
        check_table(self, some_rows(X), y=y, reset=True)
        if self.vocabularies_:
            names = [place for place, known in enumerate(self.vocabularies_) if known is not None]
            message = (
                f"X has columns of categories, at the positions {names}; those of a Dask collection cannot be learned "
                "from: turn them into numbers, or compute X"
            )
            raise ValueError(message)
        if takes == "bins":
            return self._bins(engine.given_bins(self.max_bins), X, y, weight, watched)
        if watched is not None:
            message = f"engine={self.engine!r} does not watch an eval_set while it learns from a Dask collection"
            raise ValueError(message)
        return self._rows_in_place(X, y, weight)

    def _bins(self, given: Bins | None, X: Any, y: Any, weight: Any, watched: tuple[Any, Any, Any] | None) -> Dataset:  # noqa: ANN401
        """Return all rows as bins; targets and weights are collected."""
        read = KnownColumns(self)
        table, y, weight = self._stream(X, y, weight, read, given)
        data = self._learn_target(table, y, weight)
        evaluation = None
        if watched is not None and kind_of(watched[0]) is None:
            evaluation = self._evaluation(*watched)
        elif watched is not None:
            evaluation = self._read_target(*self._stream(*watched, read, table.bins))
        return Dataset(data.X, data.y, data.weight, data.n_classes, evaluation)

    def _stream(
        self,
        X: Any,  # noqa: ANN401 (a collection of Dask)
        y: Any,  # noqa: ANN401 (anything a user may pass)
        weight: Any,  # noqa: ANN401 (anything a user may pass)
        read: KnownColumns,
        given: Bins | None,
    ) -> tuple[Any, AnyArray, Floats]:
        """Return bins, targets and weights of the rows that count."""
        y = self._check_target(in_memory(y))
        weight = in_memory(weight)
        weight = np.broadcast_to(1.0, len(y)) if weight is None else check_weight(weight, len(y))
        table = stream_table(X, read, weight, bins=given, n_features=self.n_features_in_, max_bins=self.max_bins)
        counts = weight > 0
        return (table, y, weight) if counts.all() else (table, y[counts], weight[counts])

    def _rows_in_place(self, X: Any, y: Any, weight: Any) -> Dataset:  # noqa: ANN401 (collections of Dask)
        """Return rows that stay in their partitions, with a summary of their targets."""
        parts = aligned_partitions(X, y, weight)
        check = check_classification_target if self._family == "categorical" else check_regression_target
        checked = checked_parts(parts, KnownColumns(self), check, self.n_features_in_)
        classes, n_classes = None, 0
        if self._family == "categorical":
            labels = distinct_labels_of(checked)
            n_classes = self._learn_target(np.empty((0, 0)), labels, np.ones(len(labels))).n_classes
            classes = self.classes_
        rows = partitioned_rows(checked, n_features=self.n_features_in_, max_bins=self.max_bins, classes=classes)
        return Dataset(rows, np.empty(0), np.empty(0), n_classes)

    # What the estimator has.
    engine: Any
    max_bins: int
    n_features_in_: int
    vocabularies_: Vocabularies
    classes_: AnyArray
    _family: Any
    _check_target: Callable[[Any], AnyArray]
    _learn_target: Callable[[Any, AnyArray, Floats], Dataset]
    _read_target: Callable[[Any, AnyArray, Floats], Dataset]
    _evaluation: Callable[[Any, Any, Any], Dataset]
