"""Arrays of other libraries, on a GPU or not: copies to the host, and results in the library that the table came from.

CuPy arrays, PyTorch tensors and cuDF frames are found by their types, so that none of these libraries is imported here.
A tensor on the host is like a NumPy array.

>>> import numpy as np
>>> table = np.ones((2, 3))
>>> on_host(table) is table, is_on_device(table)
(True, False)
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from epiboost._typing import LibraryObject, Table

_HOST_TYPES = (np.ndarray, list, tuple, str, int, float, type(None))


_COPIES: dict[str, tuple[str, Callable[[Any], Table]]] = {
    "torch": ("detach", lambda tensor: tensor.detach().cpu().numpy()),
    "cupy": ("get", lambda array: array.get()),
    "cudf": ("to_pandas", lambda frame: frame.to_pandas()),
}
"""What tells an array of a library from its other objects, and how it is copied to the host."""


def is_on_device(X: Table) -> bool:
    """Return whether an array, a tensor, a column or a frame is in the memory of a GPU."""
    if type(X) in _HOST_TYPES:
        return False
    library = _library_of(X)
    return library in {"cupy", "cudf"} or (library == "torch" and bool(getattr(X, "is_cuda", False)))


def on_host(X: Table) -> Table:
    """Return a copy on the host of what is on a GPU, and a tensor as an array; anything else as it is."""
    if type(X) in _HOST_TYPES:
        return X
    method, copy = _COPIES.get(_library_of(X), ("", None))
    return copy(X) if copy is not None and hasattr(X, method) else X


def options_on_host(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of a call with all of them on the host."""
    return {name: on_host(value) for name, value in options.items()}


def as_cupy(X: Table) -> LibraryObject:
    """Return what is on a GPU as a CuPy array that shares its memory; a frame of cuDF becomes one array of floats."""
    library = _library_of(X)
    if library == "cudf":
        return X.to_cupy(dtype="float64", na_value=np.nan)
    if library == "torch":
        import cupy  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 (the caller has checked that it is there)

        return cupy.from_dlpack(X.detach())
    return X


def like(X: Table, result: LibraryObject) -> LibraryObject:
    """Return an array of numbers, on the host or of CuPy, in the library and on the GPU of a table.

    A frame of cuDF gives arrays of CuPy, as a frame of pandas gives arrays of NumPy. Labels that are no numbers stay on
    the host, because no array on a GPU can hold them.
    """
    if not is_on_device(X):
        return result
    is_of_cupy = _library_of(result) == "cupy"
    if not is_of_cupy and not (isinstance(result, np.ndarray) and result.dtype.kind in "fiub"):
        return result
    if _library_of(X) == "torch":
        torch = sys.modules["torch"]
        return torch.from_dlpack(result) if is_of_cupy else torch.from_numpy(np.ascontiguousarray(result)).to(X.device)
    return result if is_of_cupy else sys.modules["cupy"].asarray(result)


def _library_of(value: object) -> str:
    return type(value).__module__.partition(".")[0]
