"""Losses of all test rows as a short text, so that tables can be built from the cells alone.

Values are rounded to a step that is small beside their spread, and what is left is compressed. A mean or a paired test
on them differs from that of the exact values by less than is printed.

>>> import numpy as np
>>> losses = np.array([0.1, 0.25, 3.0])
>>> bool(np.abs(unpack(pack(losses)) - losses).max() < 0.02)
True
"""

import base64
import zlib
from typing import Any

import numpy as np

from epiboost._typing import Floats

_STEPS_A_DEVIATION = 64
_MOST = 32_767


def pack(values: Floats) -> dict[str, Any]:
    """Return values in steps, compressed, with the size of the step."""
    largest = float(np.abs(values).max())
    is_whole = bool((values == np.rint(values)).all() and largest < _MOST)
    step = 1.0 if is_whole else max(float(values.std()) / _STEPS_A_DEVIATION, largest / _MOST)
    steps = np.rint(values / step).astype("<i2")
    planes = steps.view(np.uint8).reshape(-1, 2).T.tobytes()  # low bytes, then high ones: the latter compress to little
    return {"step": step, "steps": base64.b85encode(zlib.compress(planes, 9)).decode("ascii")}


def unpack(packed: dict[str, Any]) -> Floats:
    """Return the values, to the step."""
    planes = np.frombuffer(zlib.decompress(base64.b85decode(packed["steps"])), dtype=np.uint8)
    steps = np.ascontiguousarray(planes.reshape(2, -1).T).view("<i2").ravel()
    return steps.astype(np.float64) * float(packed["step"])
