"""The structures that kernels read, as NumPy types: their fields are read from the kernels' own source.

>>> structure("Step").names
('decay', 'scale', 'decay_after', 'factor', 'score_noise')
"""

import functools
import re
from typing import Any, TypeAlias

import numpy as np

from epiboost.engines.cuda.sources import text_of

Record: TypeAlias = Any
"""A NumPy record, which is passed to a kernel by value."""

_FILES = ("cuda/chains.cuh", "cuda/leafwise/growth.cuh", "cuda/table.cu")
_FIELD = re.compile(r"^ +(?:const )?(\w+)(\*?) (\w+);", re.MULTILINE)
_TYPES = {
    "double": "f8",
    "float": "f4",
    "int32_t": "i4",
    "uint32_t": "u4",
    "uint64_t": "u8",
}


@functools.cache
def structure(name: str) -> np.dtype[Any]:
    """Return the type of a structure, with the padding of C++."""
    for file in _FILES:
        found = re.search(rf"^struct {name} {{\n(.*?)^}};", text_of(file), re.MULTILINE | re.DOTALL)
        if found:
            fields = [(field, "u8" if star else _TYPES[kind]) for kind, star, field in _FIELD.findall(found[1])]
            return np.dtype(fields, align=True)
    message = f"no kernel has a structure {name!r}"
    raise ValueError(message)


def record(name: str, **fields: object) -> Record:
    """Return a structure with the given fields; the others are zero, a null pointer."""
    made = np.zeros((), structure(name))
    for field, value in fields.items():
        made[field] = value
    return made[()]
