"""The distance of the digamma function from the logarithm, where their difference would lose its digits too.

>>> import numpy as np
>>> log_minus_digamma(np.array([1.0, 1e8]))
array([5.77215665e-01, 5.00000001e-09])
"""

import numpy as np
from scipy.special import digamma

from epiboost._typing import Floats

_LARGE = 1e4  # the series is exact beyond


def log_minus_digamma(x: Floats) -> Floats:
    """Return log x − digamma(x) of positive numbers."""
    usual = np.minimum(x, _LARGE)
    return np.where(x < _LARGE, np.log(usual) - digamma(usual), (0.5 + 1.0 / (12.0 * x)) / x)
