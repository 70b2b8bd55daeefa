"""Data frames of pandas, polars or pyarrow from named columns."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

import narwhals as nw

from epiboost._optional import require
from epiboost._typing import AnyArray

FrameBackend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
"""Libraries that can make a frame."""

Frame: TypeAlias = Any
"""A data frame of one of these libraries; they have no common type."""


def make_frame(columns: Mapping[str, AnyArray], backend: FrameBackend) -> Frame:
    """Return the columns as a data frame of one library.

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
    return nw.from_dict(columns, backend=backend).to_native()
