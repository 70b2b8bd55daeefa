"""Saved models and the tables that are given to them."""

from pathlib import Path
from typing import TYPE_CHECKING

from epiboost._cli import files

if TYPE_CHECKING:
    import pyarrow as pa

    from epiboost._typing import Estimator


def load_model(path: Path) -> "Estimator":
    """Read a saved model of any class."""
    import epiboost  # noqa: PLC0415 (slow to import)

    return epiboost.load(path)


def text_columns(model: "Estimator") -> list[str]:
    """Return the columns that held text in training. In another CSV file they may look like numbers."""
    schema = model.schema_
    pairs = zip(schema.names or (), schema.categories, strict=False)  # empty if there are no categories
    return [name for name, categories in pairs if categories is not None and categories.kind == "text"]


def read_table(model: "Estimator", path: Path) -> "pa.Table":
    """Read a table for a model, all columns."""
    return files.read_table(path, text=text_columns(model))


def select_features(model: "Estimator", table: "pa.Table", *, source: Path) -> "pa.Table":
    """Return the columns that the model was trained on; other columns, such as the target, are left out."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        message = "the model was trained on an array without column names, so the columns of a file cannot be matched"
        raise ValueError(message)
    return files.select_columns(table, list(names), source=source)


def read_features(model: "Estimator", path: Path) -> "pa.Table":
    """Read the columns of a table that the model was trained on."""
    return select_features(model, read_table(model, path), source=path)
