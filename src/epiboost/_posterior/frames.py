"""Data frames of pandas, polars or pyarrow from named columns."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

import narwhals as nw

from epiboost._optional import require
from epiboost._typing import AnyArray, LibraryObject

FrameBackend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
"""Libraries that can make a frame."""

Frame: TypeAlias = Any
"""A data frame of one of these libraries; they have no common type."""


def make_frame(columns: Mapping[str, AnyArray], backend: FrameBackend, index: LibraryObject = None) -> Frame:
    """Return the columns as a data frame of one library; ``index`` is the index of a pandas frame, unless None.

    >>> import numpy as np
    >>> make_frame({"knowledge": np.array([0.5, 0.0])}, "pandas")
       knowledge
    0        0.5
    1        0.0
    """
    if backend not in get_args(FrameBackend):
        message = f"backend must be one of {get_args(FrameBackend)}, got {backend!r}"
        raise ValueError(message)
    require(backend, extra="frames", purpose=f"to_frame(backend={backend!r})")
    frame = nw.from_dict(columns, backend=backend).to_native()
    if backend == "pandas" and index is not None:
        frame.index = index
    return frame


def check_index(index: LibraryObject, n_rows: int) -> None:
    """Raise a ValueError unless the index is None or has one label per row.

    >>> check_index(None, 3)
    """
    if index is not None and len(index) != n_rows:
        message = f"index must have one label per sample, {n_rows}; got {len(index)}"
        raise ValueError(message)
