"""Recognises Dask collections without importing Dask.

>>> dask_kind([1.0, 2.0]) is None
True
"""

import sys
from typing import Literal, TypeAlias

from epiboost._typing import Table

DaskKind: TypeAlias = Literal["array", "frame", "series"]

_KINDS: tuple[tuple[str, str, DaskKind], ...] = (
    ("dask.array", "Array", "array"),
    ("dask.dataframe", "DataFrame", "frame"),
    ("dask.dataframe", "Series", "series"),
)


def dask_kind(table: Table) -> DaskKind | None:
    """Return which Dask collection a table is, or None. If Dask was not imported, it is none."""
    if "dask" not in sys.modules:
        return None
    for module, name, kind in _KINDS:
        if module in sys.modules and isinstance(table, getattr(sys.modules[module], name)):
            return kind
    return None


def require_in_memory(table: Table, name: str, remedy: str) -> None:
    """Raise a TypeError if a table is a Dask collection where it must be in memory."""
    kind = dask_kind(table)
    if kind is not None:
        message = f"{name} is a Dask {kind}, which need not fit into memory; {remedy}"
        raise TypeError(message)
