"""Bootstrap samples: how often each row is drawn for a member. Not in the paper.

A row of weight w counts as w rows, each drawn a Poisson number of times of mean one. The numbers are a function of the
seed and the key of the row, as the Langevin noise is, so that a model does not depend on the order of its rows.

>>> import numpy as np
>>> weight = bootstrap_weight(np.ones(10_000), np.arange(10_000, dtype=np.uint32), seed=0)
>>> float(weight.mean().round(1)), float((weight == 0).mean().round(1))
(1.0, 0.4)
"""

import numpy as np
from scipy.special import ndtr, pdtrik

from epiboost._native import native
from epiboost._typing import AnyArray, Floats

_TREE = 2**40  # a number that no tree has
_MAX_DRAWS = 64.0  # as in subsampling; a row of a larger weight is drawn in parts of it


def bootstrap_weight(weight: Floats, keys: AnyArray, seed: int) -> Floats:
    """Return the weight of each row in the bootstrap sample of a member; 0 for rows that are not drawn.

    Parameters
    ----------
    weight : array of shape (n,)
    keys : array of uint32 of shape (n,)
        The keys of the rows in the noise function.
    seed : int
        Seed of the member.
    """
    draws = np.clip(np.ceil(weight), 1.0, _MAX_DRAWS)
    uniform = ndtr(native().langevin_noise(seed, _TREE, keys, 0).astype(np.float64))
    drawn = np.ceil(np.maximum(pdtrik(uniform, draws), 0.0))
    sampled: Floats = np.where(uniform <= np.exp(-draws), 0.0, drawn) * weight / draws
    return sampled
