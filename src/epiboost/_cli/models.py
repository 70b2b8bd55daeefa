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
    from epiboost._files import model_file  # noqa: PLC0415 (slow to import)

    header, arrays = model_file.read(path)
    classes = {
        kind.__name__: kind
        for kind in (
            epiboost.EpiBoostClassifier,
            epiboost.EpiBoostRegressor,
            epiboost.CalibratedClassifier,
            epiboost.CalibratedRegressor,
        )
    }
    name = header.get("estimator")
    if not isinstance(name, str) or name not in classes:
        message = f"{str(path)!r} holds a model of class {name!r}; known are {', '.join(classes)}"
        raise ValueError(message)
    return classes[name]._read(path, header, arrays)  # noqa: SLF001 (the file has been read)


def text_columns(model: "Estimator") -> list[str]:
    """Return the columns that held text in training. In another CSV file they may look like numbers."""
    trained: Estimator = getattr(model, "model", model)  # a calibrated model holds another
    names = getattr(trained, "feature_names_in_", ())
    pairs = zip(names, trained.vocabularies_, strict=False)  # empty if there are no categories
    return [str(name) for name, categories in pairs if categories is not None and categories.kind == "text"]


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
