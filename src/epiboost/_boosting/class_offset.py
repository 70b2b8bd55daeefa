"""Adds an offset to the scores of classes, given their probabilities.

>>> add_to_scores(np.array([[[0.5, 0.5]]]), np.array([np.log(3.0)])).round(2)
array([[[0.25, 0.75]]])
"""

import numpy as np
from scipy.special import softmax

from epiboost._typing import Floats

_TINY = float(np.finfo(np.float64).tiny)


def add_to_scores(probabilities: Floats, offset: Floats) -> Floats:
    """Return the probabilities of scores to which an offset is added.

    Parameters
    ----------
    probabilities : array of shape (members, n, classes)
    offset : array of shape (n,) for two classes, (n, classes) for more
        Of two classes, it is that of the log-odds of the second.
    """
    scores = np.log(np.maximum(probabilities, _TINY))
    if offset.ndim == 1:
        scores[:, :, 1] += offset
    else:
        scores += offset
    shifted: Floats = softmax(scores, axis=2)
    return shifted
