"""Training rows of an estimator: what `fit` was given, as schema, target and dataset."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from sklearn.utils.validation import column_or_1d

from epiboost._estimators.number_target import check_support, numbers_of
from epiboost._estimators.warm_start import EarlierFit
from epiboost._inputs.class_weights import ClassWeight, check_class_weight, class_weights
from epiboost._inputs.dask_collections import dask_kind, require_in_memory
from epiboost._inputs.dataset import Dataset
from epiboost._inputs.device_arrays import on_host
from epiboost._inputs.labels import to_array
from epiboost._inputs.offset import known_offset
from epiboost._inputs.schema import ColumnSchema
from epiboost._inputs.sparse_table import SparseZeros
from epiboost._inputs.target import Classes, Target
from epiboost._inputs.weights import check_weight_range, check_weights
from epiboost._typing import AnyArray, Column, Floats, Table
from epiboost.distributed.cluster import require_data
from epiboost.distributed.fit import PartitionReader, partitioned_schema
from epiboost.distributed.rows import PartitionedRows
from epiboost.engines.base import BinnedEngine, Engine
from epiboost.engines.registry import partitions_of


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """What `fit` was given.

    Attributes
    ----------
    schema : ColumnSchema
    target : Target
    data : Dataset
        Rows of positive weight.
    kept : array of bool of shape (n,)
        Which of the given rows these are.
    groups : array of shape (n,) or None
        Groups of the given rows.
    offset : array of shape (m,) or None
        What has been taken off the target of a regression; the offset of classes is part of the data.
    """

    schema: ColumnSchema
    target: Target
    data: Dataset
    kept: AnyArray
    groups: AnyArray | None = None
    offset: Floats | None = None

    @property
    def n_weighted(self) -> float:
        """Number of rows, where a row of weight two counts twice; weights below one on average are no counts."""
        X = self.data.X
        total = X.total_weight if isinstance(X, PartitionedRows) else float(self.data.weight.sum())
        return max(total, len(X))


@dataclass(frozen=True, slots=True, eq=False)
class GivenRows:
    """The arguments of `fit`, unchecked; ``evaluation`` is what `evaluation_parts` returns."""

    X: Table
    y: Column
    sample_weight: Column = None
    evaluation: tuple[Any, Any, Any, Any] | None = None
    groups: Column = None
    offset: Column = None

    def on_host(self) -> "GivenRows":
        """Return the same with arrays on the host in place of those on a GPU."""
        evaluation: Any = None if self.evaluation is None else tuple(map(on_host, self.evaluation))
        X, y, weight, groups, offset = map(on_host, (self.X, self.y, self.sample_weight, self.groups, self.offset))
        return GivenRows(X, y, weight, evaluation, groups, offset)


@dataclass(frozen=True, slots=True, eq=False)
class RowReader:
    """Reads what `fit` is given.

    Parameters
    ----------
    target_type : type of Target
    categorical_features : "auto", None or list
        The parameter of the estimator.
    owner : str
        Name of the estimator, for errors.
    class_weight : None, "balanced" or mapping
        The parameter of a classifier.
    sparse_zeros : {"values", "missing"}
        What entries are that a sparse table does not store.
    earlier : EarlierFit or None
        A model that is continued, whose columns and classes stay.
    distribution : str
        The parameter of a regressor.
    """

    target_type: type[Target]
    categorical_features: str | Sequence[str | int] | None
    owner: str
    class_weight: ClassWeight = None
    sparse_zeros: SparseZeros = "values"
    earlier: EarlierFit | None = None
    distribution: str = "normal"

    def __post_init__(self) -> None:
        """Check the weights of the classes."""
        check_class_weight(self.class_weight)

    def read(self, given: GivenRows) -> TrainingRows:
        """Read a table in memory."""
        if "dask" in sys.modules:
            for name, column in (("y", given.y), ("sample_weight", given.sample_weight)):
                require_in_memory(column, name, "compute it, or give X as a Dask collection too")
        if self.earlier is None:
            schema, table = ColumnSchema.fit(
                given.X,
                categorical_features=self.categorical_features,
                owner=self.owner,
                sparse_zeros=self.sparse_zeros,
            )
        else:
            schema, table = self.earlier.schema, self.earlier.schema.transform(given.X)
        n_rows = len(table)
        table, y, weight, kept = _positive_rows(table, self.target_type.check(given.y), given.sample_weight)
        if len(table) < n_rows and self.earlier is None:
            schema, table = schema.without_unused(table)
        target = self._target(y, weight)
        evaluation = None
        if given.evaluation is not None:
            require_same_offsets(given)
            evaluation = _read_evaluation_rows(schema, target, given.evaluation)
        taken_off, offset = _split_offset(given.offset, target, kept)
        encoded = _without_offset(target.encode(y), taken_off)
        if self.class_weight is not None and isinstance(target, Classes):
            per_class = class_weights(self.class_weight, target.labels, encoded.astype(np.int64), weight)
            weight = _weighted(weight, encoded, per_class)
            if evaluation is not None:
                evaluation = replace(evaluation, weight=_weighted(evaluation.weight, evaluation.y, per_class))
        data = Dataset(
            table,
            encoded,
            weight,
            target.n_classes,
            target.objective,
            evaluation,
            schema.n_codes,
            offset,
            target.settings,
        )
        return TrainingRows(schema, target, data, kept, _check_groups(given.groups, n_rows), taken_off)

    def _target(self, y: AnyArray, weight: Floats) -> Target:
        """Return the target of checked training rows."""
        if self.earlier is not None:
            return self.earlier.target
        if self.target_type.has_classes:
            return self.target_type.fit(y)
        return numbers_of(self.distribution, y, weight)

    def read_partitions(self, given: GivenRows, engine: Engine, engine_name: str, max_bins: int) -> TrainingRows:
        """Read a Dask collection."""
        require_data(given.X, given.y, given.sample_weight, *(given.evaluation or ()))
        if given.groups is not None:
            message = "groups are for tables in memory, not for Dask collections"
            raise ValueError(message)
        if self.earlier is not None:
            message = "warm_start continues on tables in memory, not on Dask collections"
            raise ValueError(message)
        if given.offset is not None:
            message = "offset is for tables in memory, not for Dask collections"
            raise ValueError(message)
        if self.class_weight is not None:
            message = "class_weight is for tables in memory; give a Dask collection sample_weight instead"
            raise ValueError(message)
        if self.distribution != "normal":
            message = f"distribution={self.distribution!r} is for tables in memory, not for Dask collections"
            raise ValueError(message)
        partitions = partitions_of(engine, engine_name, has_evaluation=given.evaluation is not None)
        schema = partitioned_schema(given.X, categorical_features=self.categorical_features, owner=self.owner)
        reader = PartitionReader(schema, self.target_type, max_bins)
        if partitions == "rows":
            target, data = reader.read_in_place(given.X, given.y, given.sample_weight)
            kept = np.ones(len(data.X), dtype=bool)
        else:
            bins = cast("BinnedEngine", engine).given_bins(max_bins)
            target, data, kept = reader.read_bins(given.X, given.y, given.sample_weight, bins)
            if given.evaluation is not None:
                data = replace(data, evaluation=_read_evaluation(reader, schema, target, data, given.evaluation))
        return TrainingRows(schema, target, data, kept)


def is_collection(X: Table) -> bool:
    """Return whether a table is a Dask collection."""
    return "dask" in sys.modules and dask_kind(X) is not None


def evaluation_parts(eval_set: Table) -> tuple[Any, Any, Any, Any] | None:
    """Return X, y, weight and offset of an eval_set, alone or as the only entry of a list; what is left out is None."""
    if eval_set is None:
        return None
    parts = eval_set[0] if isinstance(eval_set, list) and len(eval_set) == 1 else eval_set
    if not isinstance(parts, tuple) or len(parts) not in {2, 3, 4}:
        message = "eval_set must be (X, y) or (X, y, sample_weight); with an offset (X, y, sample_weight, offset)"
        raise ValueError(message)
    return (*parts, None, None)[:4]


def require_same_offsets(given: GivenRows) -> None:
    """Raise an error if training rows have an offset and evaluation rows have none, or the other way round."""
    evaluation = given.evaluation
    if evaluation is not None and (evaluation[3] is None) != (given.offset is None):
        message = "both or none of fit and eval_set have an offset: fit(..., eval_set=(X, y, sample_weight, offset))"
        raise ValueError(message)


def _read_evaluation(
    reader: PartitionReader, schema: ColumnSchema, target: Target, data: Dataset, evaluation: tuple[Any, Any, Any, Any]
) -> Dataset:
    """Read evaluation rows, which may be a Dask collection too."""
    if is_collection(evaluation[0]):
        return reader.evaluation(target, *evaluation[:3], data.X.bins)
    return _read_evaluation_rows(schema, target, evaluation)


def _read_evaluation_rows(schema: ColumnSchema, target: Target, evaluation: tuple[Any, Any, Any, Any]) -> Dataset:
    X, y, weight, offset = evaluation
    table, y, weight, kept = _positive_rows(schema.transform(X), type(target).check(y), weight)
    taken_off, of_classes = _split_offset(offset, target, kept)
    encoded = _without_offset(target.encode(y, name="eval_set"), taken_off)
    check_support(target, encoded, name="eval_set")
    objective, settings = target.objective, target.settings
    return Dataset(table, encoded, weight, target.n_classes, objective, offset=of_classes, settings=settings)


def _split_offset(offset: Column, target: Target, kept: AnyArray) -> tuple[Floats | None, Floats | None]:
    """Return what is to be taken off a regression's target, and the offset of the scores of classes."""
    known = known_offset(offset, len(kept), target.n_classes, trained_with_offset=offset is not None)
    if known is None:
        return None, None
    return (None, known[kept]) if target.n_classes else (known[kept], None)


def _without_offset(y: Floats, offset: Floats | None) -> Floats:
    """Return what is left to learn of the target of a regression."""
    if offset is None:
        return y
    with np.errstate(over="ignore"):
        rest = y - offset
    if not np.isfinite(rest).all():
        message = "y minus offset is too large for double precision"
        raise ValueError(message)
    return rest


def _positive_rows(table: AnyArray, y: AnyArray, weight: Column) -> tuple[AnyArray, AnyArray, Floats, AnyArray]:
    """Return the rows of positive weight and which they are, after checking that the parts have equal length."""
    if len(table) != len(y):
        message = (
            f"Found input variables with inconsistent numbers of samples: [{len(table)}, {len(y)}]. X has {len(table)} "
            f"rows and y has {len(y)}; give one target per row"
        )
        raise ValueError(message)
    checked = np.ones(len(table)) if weight is None else check_weights(weight, len(table))
    positive = checked > 0
    if positive.all():
        return table, y, checked, positive
    return table[positive], y[positive], checked[positive], positive


def _weighted(weight: Floats, codes: Floats, per_class: Floats) -> Floats:
    """Return the weights of rows times those of their classes."""
    weighted: Floats = np.maximum(weight * per_class[codes.astype(np.int64)], np.finfo(np.float64).tiny)
    check_weight_range(float(weighted.min()), float(weighted.max()), len(weighted))
    return weighted


def _check_groups(groups: Column, n_rows: int) -> AnyArray | None:
    """Return the groups of the rows, as numbers."""
    if groups is None:
        return None
    checked = column_or_1d(to_array(groups))
    if len(checked) != n_rows:
        message = f"groups must have one entry per row, {n_rows}; got {len(checked)}"
        raise ValueError(message)
    codes: AnyArray = np.unique(checked, return_inverse=True)[1]
    return codes
