"""Categories in a model file: a header with kinds and sizes, and all values as one long text.

>>> from epiboost._inputs.categories import Categories
>>> header, arrays = categories_to_file([Categories(("Lima", "Oslo"), "text"), None])
>>> header
[{'kind': 'text', 'size': 2}, None]
>>> arrays["category_text"].tobytes(), arrays["category_ends"].tolist()
(b'LimaOslo', [4, 8])
>>> categories_from_file(header, arrays)[0].values
('Lima', 'Oslo')
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from epiboost._inputs.categories import Categories, Kind
from epiboost._typing import AnyArray, Bytes, Integers


def categories_to_file(
    categories: Sequence[Categories | None],
) -> tuple[list[dict[str, Any] | None], dict[str, AnyArray]]:
    """Return the header and the arrays of a model file."""
    header: list[dict[str, Any] | None] = []
    pieces: list[bytes] = []
    for column in categories:
        header.append(None if column is None else {"kind": column.kind, "size": len(column.values)})
        values = () if column is None else column.values
        texts = (value if isinstance(value, str) else repr(value) for value in values)
        pieces.extend(text.encode("utf-8", "surrogatepass") for text in texts)
    ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
    return header, {"category_text": np.frombuffer(b"".join(pieces), dtype=np.uint8), "category_ends": ends}


def categories_from_file(
    header: Sequence[Mapping[str, Any] | None], arrays: Mapping[str, AnyArray]
) -> tuple[Categories | None, ...]:
    """Return the categories that `categories_to_file` described; a ValueError if the parts do not fit."""
    pieces = _pieces(arrays["category_text"], arrays["category_ends"])
    sizes = [0 if entry is None else _size(entry) for entry in header]
    if sum(sizes) != len(pieces):
        message = f"the categories have {sum(sizes)} values, their text has {len(pieces)}"
        raise ValueError(message)
    found: list[Categories | None] = []
    end = 0
    for entry, size in zip(header, sizes, strict=True):
        begin, end = end, end + size
        found.append(None if entry is None else _categories(pieces[begin:end], entry["kind"]))
    return tuple(found)


def _size(entry: Mapping[str, Any]) -> int:
    size: Any = entry["size"]
    if entry["kind"] not in {"text", "number", None} or type(size) is not int or size < 0:
        message = f"categories have a kind and a size; got {entry}"
        raise ValueError(message)
    return int(size)


def _categories(texts: Sequence[str], kind: Kind | None) -> Categories:
    values = [_number(text) if kind == "number" else text for text in texts]
    if len(set(values)) < len(values):
        message = "the values of a categorical column must be distinct"
        raise ValueError(message)
    if kind is None and values:
        message = f"categories without a kind must be empty; got {values[0]!r}"
        raise ValueError(message)
    return Categories(tuple(values), kind)


def _pieces(text: Bytes, ends: Integers) -> list[str]:
    if text.dtype != np.uint8 or ends.dtype != np.int64 or text.ndim != 1 or ends.ndim != 1:
        message = "category_text must be bytes and category_ends whole numbers"
        raise ValueError(message)
    begins = np.concatenate([[0], ends])
    if (np.diff(begins) < 0).any() or begins[-1] != len(text):
        message = "category_ends must ascend to the length of category_text"
        raise ValueError(message)
    content = text.tobytes()
    return [
        content[begin:end].decode("utf-8", "surrogatepass")
        for begin, end in zip(begins[:-1].tolist(), ends.tolist(), strict=True)
    ]


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)
