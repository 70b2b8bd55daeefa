"""Saved models and the tables that are given to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from epiboost._cli.tables.formats import TableKind
from epiboost._cli.tables.reading import read_content
from epiboost._cli.tables.selection import select_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from epiboost._typing import Estimator


@dataclass(frozen=True, slots=True)
class ModelRows:
    """A table that was read for a model.

    Attributes
    ----------
    path : Path
        Where it comes from.
    table : pyarrow.Table
        All columns.
    features : pyarrow.Table
        The columns that the model was trained on.
    kept : pyarrow.Table or None
        Columns to copy to the output, unchanged; None for none.
    """

    path: Path
    table: "pa.Table"
    features: "pa.Table"
    kept: "pa.Table | None"


def load_model(path: Path) -> "Estimator":
    """Read a saved model of any class."""
    import epiboost  # noqa: PLC0415 (slow to import)

    return epiboost.load(path)


def load_without_durations(path: Path, command: str) -> "Estimator":
    """Read a saved model; a ValueError if its target is durations, with which a command can do nothing."""
    model = load_model(path)
    if hasattr(model, "predict_survival_function"):
        message = (
            f"epiboost {command} does not take models of durations; in Python, see epiboost.metrics.concordance_score "
            "and integrated_brier_loss"
        )
        raise ValueError(message)
    return model


def read_rows(
    model: "Estimator", path: Path, *, kind: TableKind | None = None, keep: Sequence[str] | None = None
) -> ModelRows:
    """Read a table for a model; columns that it was not trained on, such as the target, are no features."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        message = "the model was trained on an array without column names, so the columns of a file cannot be matched"
        raise ValueError(message)
    content = read_content(path, kind=kind)
    table = content.table(text=text_columns(model))
    features = select_columns(table, list(names), source=path)
    if not keep:
        return ModelRows(path, table, features, None)
    distinct = list(dict.fromkeys(keep))
    select_columns(table, distinct, source=path)
    return ModelRows(path, table, features, content.unchanged(distinct))


def read_features(model: "Estimator", path: Path, *, kind: TableKind | None = None) -> "pa.Table":
    """Read the columns of a table that the model was trained on."""
    return read_rows(model, path, kind=kind).features


def text_columns(model: "Estimator") -> list[str]:
    """Return the columns that held text in training. In another CSV file they may look like numbers."""
    schema = model.schema_
    pairs = zip(schema.names or (), schema.categories, strict=False)  # empty if there are no categories
    return [name for name, categories in pairs if categories is not None and categories.kind == "text"]
