"""The paper's rule of significance: what is not told apart from the best.

Methods are compared in pairs by a t-test: over folds where a dataset has several, over the test rows where it has one.
A p-value above 0.05 means that a method is not different from the best. Ratios of rejection and areas have no value a
row, so of a dataset with one split only the best itself is marked.

>>> import numpy as np
>>> samples = {"a": np.array([1.0, 1.1, 0.9]), "b": np.array([1.01, 1.08, 0.93]), "c": np.array([2.0, 2.2, 2.0])}
>>> sorted(not_different(samples, smaller_is_better=True))
['a', 'b']
"""

from collections.abc import Mapping

import numpy as np
from scipy.stats import ttest_rel

from epiboost._typing import Floats
from epiboost.paper.protocol import SIGNIFICANCE

_LEAST = 2  # pairs that a spread needs


def not_different(samples: Mapping[str, Floats], *, smaller_is_better: bool) -> set[str]:
    """Return the best method and those that a paired test does not tell apart from it.

    Parameters
    ----------
    samples : mapping from str to array
        A value a fold or a row, in the same order for each method; NaN where one has none. The best is the one of the
        best mean over folds that all have, and is compared with each other one on those that both have.
    smaller_is_better : bool
    """
    if not samples:
        return set()
    length = max(map(len, samples.values()))
    padded = {
        name: np.pad(values, (0, length - len(values)), constant_values=np.nan) for name, values in samples.items()
    }
    shared = np.all([np.isfinite(values) for values in padded.values()], axis=0)
    means = {
        name: float(values[shared].mean() if shared.any() else np.nanmean(values)) for name, values in padded.items()
    }
    best = best_of(means, smaller_is_better)
    return {name for name, values in padded.items() if name == best or _alike(padded[best], values)}


def best_of(means: Mapping[str, float], smaller_is_better: bool) -> str:
    """Return the method of the best mean."""
    return (min if smaller_is_better else max)(means, key=lambda name: means[name])


def _alike(first: Floats, second: Floats) -> bool:
    both = np.isfinite(first) & np.isfinite(second)
    difference = first[both] - second[both]
    if len(difference) < _LEAST:
        return False
    if not difference.any():
        return True
    if np.ptp(difference) == 0.0:
        return False
    return bool(ttest_rel(first[both], second[both]).pvalue > SIGNIFICANCE)
