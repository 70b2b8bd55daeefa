"""What the command line takes a table and a model for: the task, the features, the columns of a prediction.

What is slow to import is imported by the function that needs it.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from epiboost._cli.errors import complain

if TYPE_CHECKING:
    import pyarrow as pa

    from epiboost import CalibratedClassifier, CalibratedRegressor, EpiBoostClassifier, EpiBoostRegressor
    from epiboost._typing import AnyArray

    Trained: TypeAlias = EpiBoostRegressor | EpiBoostClassifier
    Model: TypeAlias = Trained | CalibratedRegressor | CalibratedClassifier

Task: TypeAlias = Literal["regression", "classification"]
"""What is to be predicted."""

_TWO_CLASSES = 2


def choose_task(target: "pa.ChunkedArray") -> tuple[Task, str]:
    """Return the task that the values of a target call for, and why."""
    import pyarrow as pa  # noqa: PLC0415 (see the head of this file)

    kind = target.type.value_type if pa.types.is_dictionary(target.type) else target.type
    if pa.types.is_boolean(kind):
        return "classification", "the target is true or false"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "classification", "the target is text"
    if pa.types.is_integer(kind) and len(target.unique()) == _TWO_CLASSES:
        return "classification", "the target has two values"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "regression", "the target is a number"
    message = f"the target must hold numbers, text, or true and false; its values are of type {kind}"
    raise ValueError(message)


def estimator_for(task: Task) -> "type[Trained]":
    """Return the class of models for a task."""
    from epiboost import EpiBoostClassifier, EpiBoostRegressor  # noqa: PLC0415 (see the head of this file)

    return EpiBoostClassifier if task == "classification" else EpiBoostRegressor


def load_model(path: Path) -> "Model":
    """Read a model of any kind."""
    import epiboost  # noqa: PLC0415 (see the head of this file)

    model: Model = epiboost.load(path)
    return model


def category_columns(features: "pa.Table", named: list[str]) -> list[str]:
    """Return what holds categories: the columns that are named, and those that are not numbers.

    Of columns that hold nothing those of text do.
    """
    import pyarrow as pa  # noqa: PLC0415 (see the head of this file)

    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_null)
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_dictionary)

    def holds_categories(column: "pa.ChunkedArray") -> bool:
        if column.null_count == len(column):
            return any(is_a(column.type) for is_a in texts)
        return not any(is_a(column.type) for is_a in numbers)

    columns = zip(features.column_names, features.columns, strict=True)
    return [name for name, column in columns if name in named or holds_categories(column)]


def warn_of_numbers(columns: "pa.Table", target: str) -> None:
    """Say which columns of text are mostly numbers: as a rule a mark for missing values has made text of them."""
    import pyarrow as pa  # noqa: PLC0415 (see the head of this file)

    from epiboost._cli import files  # noqa: PLC0415 (see the head of this file)

    for name, column in zip(columns.column_names, columns.columns, strict=True):
        if not pa.types.is_string(column.type):
            continue
        distinct, numbers, others = files.numbers_among_text(column)
        if 0 < distinct <= 2 * numbers:
            remedy = "leave out such rows" if name == target else "leave such fields empty"
            option = "--task classification" if name == target else f"--categorical {name!r}"
            complain(
                f"warning: the column {name!r} is read as text, though {numbers} of its {distinct} distinct values are "
                f"numbers; not read as numbers: {files.listed(others)}. If numbers are meant, {remedy} and write "
                f"decimal points; if text is meant, say {option}"
            )


def text_columns(fitted: "Model") -> list[str]:
    """Return the columns that held text in training: in another file they may look like numbers."""
    schema = fitted.schema_
    pairs = zip(schema.names or (), schema.categories, strict=False)  # empty without categories
    return [name for name, known in pairs if known is not None and known.kind == "text"]


def known_features(fitted: "Model", table: "pa.Table", *, source: Path) -> "pa.Table":
    """Return the columns a model was trained on; what else the table holds, such as the target, is left out."""
    from epiboost._cli import files  # noqa: PLC0415 (see the head of this file)

    names = getattr(fitted, "feature_names_in_", None)
    if names is None:
        message = "the model was trained on an array without column names, so columns cannot be matched to it"
        raise ValueError(message)
    return files.select_columns(table, list(names), source=source)


def predicted_columns(fitted: "Model", features: "pa.Table", coverage: float | None) -> "dict[str, AnyArray]":
    """Return the columns that a prediction is written as."""
    posterior = fitted.predict_posterior(features)
    uncertainty = posterior.uncertainty()
    parts = {"total": uncertainty.total, "data": uncertainty.data, "knowledge": uncertainty.knowledge}
    if posterior.family == "normal":
        ends = () if coverage is None else fitted.predict_interval(features, coverage).T
        return {"prediction": posterior.mean, **parts, **dict(zip(("lower", "upper"), ends, strict=False))}
    if coverage is not None:
        message = "--coverage asks for an interval, which only a model for regression can give"
        raise ValueError(message)
    classes, probabilities = fitted.classes_, posterior.mean
    by_class = {f"probability_{label}": p for label, p in zip(classes, probabilities.T, strict=True)}
    return {"prediction": classes[probabilities.argmax(axis=1)], **parts, **by_class}
