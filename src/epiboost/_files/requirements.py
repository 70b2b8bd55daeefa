"""Checks of arrays and values read from a model file.

`model_file` checks the file itself, `layout` the places of the arrays, and `epiboost._estimators.estimator_file` that
the parts fit together.

>>> import numpy as np
>>> require_arrays({"count": np.zeros(3)}, {"count": (np.int32, 1)})
Traceback (most recent call last):
    ...
ValueError: count must be an array of int32 with 1 dimensions
>>> require_facts({"there must be trees": False})
Traceback (most recent call last):
    ...
ValueError: there must be trees
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from epiboost._typing import AnyArray


def require_arrays(arrays: Mapping[str, AnyArray], types: Mapping[str, tuple[npt.DTypeLike, int]]) -> None:
    """Raise a ValueError unless all arrays exist with the given dtype and number of dimensions."""
    for name, (dtype, dimensions) in types.items():
        if name not in arrays or arrays[name].dtype != dtype or arrays[name].ndim != dimensions:
            message = f"{name} must be an array of {np.dtype(dtype)} with {dimensions} dimensions"
            raise ValueError(message)


def require_facts(facts: Mapping[str, bool]) -> None:
    """Raise a ValueError with the first requirement that is not met."""
    for fact, holds in facts.items():
        if not holds:
            raise ValueError(fact)
