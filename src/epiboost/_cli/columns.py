"""What the columns of a training table hold: the task of a target, categories, numbers that were read as text.

PyArrow is imported by the function that needs it: it is slow to import.
"""

from typing import TYPE_CHECKING, Literal, TypeAlias

from epiboost._cli.errors import print_error
from epiboost._cli.tables.selection import quoted
from epiboost._optional import require

if TYPE_CHECKING:
    import pyarrow as pa

Task: TypeAlias = Literal["regression", "classification"]

_TWO_CLASSES = 2
_NUMBER = r"^\s*[+-]?(\d+{0}?\d*|{0}\d+)([eE][+-]?\d+)?\s*$"
_SHOWN_TEXTS = 3


def choose_task(target: "pa.ChunkedArray") -> tuple[Task, str]:
    """Return the task for a target, and the reason."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    kind = target.type.value_type if pa.types.is_dictionary(target.type) else target.type
    if pa.types.is_boolean(kind):
        return "classification", "the target is true or false"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "classification", "the target is text"
    if pa.types.is_integer(kind) and len(target.unique()) == _TWO_CLASSES:
        return "classification", "the target has two values"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "regression", "the target is a number"
    message = f"the target must hold numbers, text or booleans; got values of type {kind}"
    raise ValueError(message)


def category_columns(features: "pa.Table", named: list[str]) -> list[str]:
    """Return the categorical columns: those in ``named``, and those that are not numeric.

    A column without any value is categorical if its type is text.
    """
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_null)
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_dictionary)

    def holds_categories(column: "pa.ChunkedArray") -> bool:
        if column.null_count == len(column):
            return any(is_a(column.type) for is_a in texts)
        return not any(is_a(column.type) for is_a in numbers)

    columns = zip(features.column_names, features.columns, strict=True)
    return [name for name, column in columns if name in named or holds_categories(column)]


def warn_about_numbers_in_text(columns: "pa.Table", target: str) -> None:
    """Print a warning for each text column that holds mostly numbers: often a mark for missing values is the cause."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    for name, column in zip(columns.column_names, columns.columns, strict=True):
        if not pa.types.is_string(column.type):
            continue
        distinct, numbers, others = numbers_in_text(column)
        if 0 < distinct <= 2 * numbers:
            remedy = "leave out such rows" if name == target else "leave such fields empty"
            option = "--task classification" if name == target else f"--categorical {name!r}"
            print_error(
                f"warning: the column {name!r} is read as text, though {numbers} of its {distinct} distinct values are "
                f"numbers; not read as numbers: {quoted(others)}. If numbers are meant, {remedy} and use decimal "
                f"points; if text is meant, give {option}"
            )


def numbers_in_text(values: "pa.ChunkedArray") -> tuple[int, int, list[str]]:
    """Count the distinct values of a text column and the numbers among them, and return the first other texts.

    A number with a decimal comma counts as a number, and is returned among the texts, as it is not read as a number.

    >>> import pyarrow as pa
    >>> numbers_in_text(pa.chunked_array([["1.5", "?", None, "2e3", "1.5", "2,5"]]))
    (4, 3, ['?', '2,5'])
    """
    compute = require("pyarrow.compute", extra="cli", purpose="reading tables")
    distinct = values.unique().drop_null()
    plain, any_point = (compute.match_substring_regex(distinct, _NUMBER.format(point)) for point in (r"\.", "[.,]"))
    others = distinct.filter(compute.invert(plain))
    return len(distinct), int(compute.sum(any_point).as_py() or 0), others.slice(0, _SHOWN_TEXTS).to_pylist()
