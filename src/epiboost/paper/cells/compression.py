"""Compress per-row losses to a short text, so that cells hold what paired tests over rows need.

Values are rounded to a step that is small compared with their standard deviation, then compressed. Means and paired
tests of the rounded values agree with those of the exact values to more digits than tables print.

>>> import numpy as np
>>> losses = np.array([0.1, 0.25, 3.0])
>>> bool(np.abs(decompress(compress(losses)) - losses).max() < 0.02)
True
"""

import base64
import zlib
from typing import Any

import numpy as np

from epiboost._typing import Floats

_STEPS_PER_DEVIATION = 64
_MAX_STEP = 32_767  # of a 16-bit integer


def compress(values: Floats) -> dict[str, Any]:
    """Return values as compressed multiples of a step, with the step."""
    largest = float(np.abs(values).max())
    is_integer = bool((values == np.rint(values)).all() and largest < _MAX_STEP)
    step = 1.0 if is_integer else max(float(values.std()) / _STEPS_PER_DEVIATION, largest / _MAX_STEP)
    steps = np.rint(values / step).astype("<i2")
    planes = steps.view(np.uint8).reshape(-1, 2).T.tobytes()  # low bytes before high bytes: high bytes compress well
    return {"step": step, "steps": base64.b85encode(zlib.compress(planes, 9)).decode("ascii")}


def decompress(compressed: dict[str, Any]) -> Floats:
    """Return the values that `compress` was given, rounded to its step."""
    planes = np.frombuffer(zlib.decompress(base64.b85decode(compressed["steps"])), dtype=np.uint8)
    steps = np.ascontiguousarray(planes.reshape(2, -1).T).view("<i2").ravel()
    return steps.astype(np.float64) * float(compressed["step"])
