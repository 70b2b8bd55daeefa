"""Type aliases, and the one axis order: (members, samples, outputs).

All predictions for a table have the shape ``(members, samples, outputs)``. The outputs of a Normal are its
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

Table: TypeAlias = Any
"""Rows and columns as a user may pass them: an array, a list of rows, a pandas, polars, Arrow or Dask frame."""

Column: TypeAlias = Any
"""One value per row as a user may pass them: an array, a list or a series."""

Estimator: TypeAlias = Any
"""A fitted model of this package or of another library, a pipeline or a search."""

LibraryObject: TypeAlias = Any
"""An object of a library that has no type annotations."""

Family: TypeAlias = str
"""What the outputs of a posterior mean: (mean, variance) of a "normal", one probability per class ("categorical"), a
"mean" alone, or the parameters of one of `epiboost._boosting.objectives.DISTRIBUTIONS`."""

Device: TypeAlias = Literal["cpu", "cuda", "auto"]
"""Where trees are trained and evaluated: on the processor, on a GPU, or on a GPU where there is one and it pays."""
