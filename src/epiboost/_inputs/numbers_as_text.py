"""Recognises columns of numbers that arrive as text, which "auto" takes as categories.

Often one mark of a missing value, such as ``"?"``, has made a whole column text. The order of the numbers is then lost,
and training neither fails nor says so; hence the warning.

>>> numbers_as_text(("31", "7.5", "?", "1e3", "64", "2,5"))
"such as '31'; no numbers: '?'"
>>> numbers_as_text(("red", "blue", "3")) is None
True
"""

import re
import warnings
from collections.abc import Sequence
from itertools import islice

import narwhals as nw
import numpy as np

from epiboost._inputs.categories import Value
from epiboost._inputs.column_kinds import listed
from epiboost._typing import Column

_NUMERAL = re.compile(r"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*")  # with a decimal point or comma
_CODE = re.compile(r"\s*0\d")  # a leading zero: zip codes and the like are text on purpose
_MAX_VALUES = 1000
_MIN_NUMERALS = 2
_MIN_SHARE = 0.8
_MAX_SHOWN = 3
_MAX_LENGTH = 20
_CALLS_FROM_FIT = 7  # between warnings.warn and the caller of fit


class NumbersAsTextWarning(UserWarning):
    """A column of text in which nearly all values are numbers is taken as categories."""


def numbers_as_text(values: Sequence[Value]) -> str | None:
    """Return an example and the exceptions if at least 0.8 of the distinct values are numerals, else None.

    Only the first thousand values are looked at. Codes with leading zeros are text on purpose.
    """
    texts = [value for value in islice(values, _MAX_VALUES) if isinstance(value, str)]
    numerals = [text for text in texts if _NUMERAL.fullmatch(text)]
    if len(numerals) < max(_MIN_NUMERALS, _MIN_SHARE * len(texts)) or any(map(_CODE.match, numerals)):
        return None
    found = f"such as {numerals[0][:_MAX_LENGTH]!r}"
    known = set(numerals)
    others = [repr(text[:_MAX_LENGTH]) for text in texts if text not in known]
    return f"{found}; no numbers: {', '.join(others[:_MAX_SHOWN])}" if others else found


def is_declared_category(column: Column) -> bool:
    """Return whether a column's type says that it holds categories."""
    return not isinstance(column, np.ndarray) and column.dtype in {nw.Categorical, nw.Enum}


def warn_of_numbers_as_text(columns: Sequence[str]) -> None:
    """Warn of columns that hold numbers as text; called once per `fit`."""
    message = (
        f"X has columns of numbers that arrive as text and are taken as categories, without the order of the numbers: "
        f"{listed(columns)}. If numbers are meant, convert them first, say by pandas.to_numeric(..., errors='coerce') "
        "and with decimal points; if categories are meant, list all columns of categories in categorical_features"
    )
    warnings.warn(message, NumbersAsTextWarning, stacklevel=_CALLS_FROM_FIT)
