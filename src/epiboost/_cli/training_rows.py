"""The tables of ``epiboost fit``: what is trained on, and what early stopping measures the loss on."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from epiboost._cli.tables.formats import TableKind
from epiboost._cli.tables.reading import read_content, read_table
from epiboost._cli.tables.selection import column, did_you_mean, select_columns, to_numpy

if TYPE_CHECKING:
    import pyarrow as pa

    from epiboost._typing import AnyArray


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """What the columns of a training table are for; the others are features.

    Attributes
    ----------
    target : str
    weight, groups : str or None
    ignored : tuple of str
    categorical : tuple of str
        Features of numbers that are categories.
    event : str or None
        Whether the target, a duration, has ended.
    """

    target: str
    weight: str | None
    groups: str | None
    ignored: tuple[str, ...]
    categorical: tuple[str, ...]
    event: str | None = None

    def __post_init__(self) -> None:
        """Check that the target has no other role."""
        if self.target in {self.weight, self.groups, self.event, *self.ignored}:
            message = (
                f"the column {self.target!r} is the target; it cannot be the weight, the groups or the event, or be "
                "ignored"
            )
            raise ValueError(message)

    def features_of(self, table: "pa.Table", *, source: Path) -> "pa.Table":
        """Return the features of a training table."""
        select_columns(table, list(self.ignored), source=source)
        others = {self.target, self.weight, self.groups, self.event, *self.ignored}
        features = table.select([name for name in table.column_names if name not in others])
        unknown = sorted(set(self.categorical) - set(features.column_names))
        if unknown:
            names = ", ".join(map(repr, unknown))
            message = f"--categorical names {names}, which is not a feature of the table"
            raise ValueError(message + did_you_mean(unknown, features.column_names))
        return features


@dataclass(frozen=True, slots=True)
class TrainingTable:
    """A training table.

    Attributes
    ----------
    table : pyarrow.Table
        All columns.
    features : pyarrow.Table
    y : pyarrow.ChunkedArray
    weights, groups : array of shape (n,) or None
    event : array of bool of shape (n,) or None
    kind : {"csv", "tsv", "jsonl", "parquet"}
        Format of the file.
    """

    table: "pa.Table"
    features: "pa.Table"
    y: "pa.ChunkedArray"
    weights: "AnyArray | None"
    groups: "AnyArray | None"
    event: "AnyArray | None"
    kind: TableKind

    @property
    def target(self) -> "AnyArray":
        """The target as an estimator takes it: with events, a structured array."""
        return _with_event(to_numpy(self.y), self.event)

    @property
    def has_inferred_types(self) -> bool:
        """Whether the types of the columns were inferred from texts."""
        return self.kind in {"csv", "tsv"}


def read_training_table(path: Path, roles: ColumnRoles, *, kind: TableKind | None) -> TrainingTable:
    """Read a training table."""
    content = read_content(path, kind=kind)
    # Groups are names: as numbers, long ones would be rounded.
    table = content.table(text=[*roles.categorical, *filter(None, [roles.groups])])
    y = column(table, roles.target, source=path)
    weights = _values(table, roles.weight, source=path)
    groups = _values(table, roles.groups, source=path)
    event = None if roles.event is None else _events(_values(table, roles.event, source=path), roles.event)
    return TrainingTable(table, roles.features_of(table, source=path), y, weights, groups, event, content.kind)


def read_evaluation_set(
    path: Path, training: TrainingTable, roles: ColumnRoles, *, kind: TableKind | None
) -> "tuple[pa.Table | AnyArray, ...]":
    """Read rows for early stopping: features and target, and the weights if the training table has them."""
    schema = training.table.schema
    text = [field.name for field in schema if str(field.type) == "string"]  # here they may look like numbers
    table = read_table(path, text=[*roles.categorical, *text], kind=kind)
    features = select_columns(table, training.features.column_names, source=path)
    event = None if roles.event is None else _events(_values(table, roles.event, source=path), roles.event)
    y = _with_event(to_numpy(column(table, roles.target, source=path)), event)
    weights = _values(table, roles.weight, source=path)
    return (features, y) if weights is None else (features, y, weights)


def _values(table: "pa.Table", name: str | None, *, source: Path) -> "AnyArray | None":
    return None if name is None else to_numpy(column(table, name, source=source))


def _events(values: "AnyArray | None", name: str) -> "AnyArray":
    """Return a column of true and false, or of 1 and 0, as booleans."""
    import numpy as np  # noqa: PLC0415 (slow to import)

    found = np.asarray(values)
    if found.dtype.kind != "b" and not (found.dtype.kind in "iuf" and np.isin(found, (0, 1)).all()):
        message = f"--event must name a column of true and false, or of 1 and 0, without gaps; {name!r} is none"
        raise ValueError(message)
    return found.astype(bool)


def _with_event(y: "AnyArray", event: "AnyArray | None") -> "AnyArray":
    if event is None:
        return y
    if y.dtype.kind not in "iuf":
        message = "with --event, the target must be a column of numbers: the durations"
        raise ValueError(message)
    import numpy as np  # noqa: PLC0415 (slow to import)

    target = np.empty(len(y), dtype=[("event", bool), ("time", np.float64)])
    target["event"], target["time"] = event, y
    return target
