"""Tell Dask's collections from other tables without importing Dask.

>>> kind_of([1.0, 2.0]) is None
True
"""

import sys
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["array", "frame", "series"]

_KINDS: tuple[tuple[str, str, Kind], ...] = (
    ("dask.array", "Array", "array"),
    ("dask.dataframe", "DataFrame", "frame"),
    ("dask.dataframe", "Series", "series"),
)


def kind_of(table: Any) -> Kind | None:  # noqa: ANN401 (anything a user may pass)
    """Return which of Dask's collections a table is, or None; where Dask was not imported, there is none."""
    if "dask" not in sys.modules:
        return None
    for module, name, kind in _KINDS:
        if module in sys.modules and isinstance(table, getattr(sys.modules[module], name)):
            return kind
    return None


def refuse_collection(table: Any, name: str, instead: str) -> None:  # noqa: ANN401 (anything a user may pass)
    """Raise an error if a table is one of Dask's, where it would have to be in memory."""
    kind = kind_of(table)
    if kind is not None:
        message = f"{name} is a Dask {kind}, which need not fit into memory; {instead}"
        raise TypeError(message)
