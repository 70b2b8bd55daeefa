"""Array aliases, and the one axis order: (members, samples, outputs).

Everything a model says about a table has the shape ``(members, samples, outputs)``. The outputs of a Normal are its
mean and its **variance**; the outputs of a classifier are class probabilities in the order of ``classes_``. Entropies
are in nats.
"""

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Floats32: TypeAlias = npt.NDArray[np.float32]
Integers: TypeAlias = npt.NDArray[np.int64]
Bytes: TypeAlias = npt.NDArray[np.uint8]
AnyArray: TypeAlias = npt.NDArray[Any]

Family: TypeAlias = Literal["normal", "categorical", "mean"]
"""What the outputs of a posterior mean: (mean, variance), one probability a class, or a mean alone."""
