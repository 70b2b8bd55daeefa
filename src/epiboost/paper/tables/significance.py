"""The paper's test of significance: which methods are not significantly worse than the best.

Methods are compared with the best one by a paired t-test: over folds if the dataset has several, over test rows if it
has one split. A p-value above 0.05 means that a method is not significantly worse. PRR and AUC have no value per row,
so for a dataset with one split only the best method is marked.

The best method is the one with the best mean among the methods with the most folds. A method with fewer folds is
compared with it on the folds that both have, and is marked unless it is worse there.

>>> import numpy as np
>>> samples = {"a": np.array([1.0, 1.1, 0.9]), "b": np.array([1.01, 1.08, 0.93]), "c": np.array([2.0, 2.2, 2.0])}
>>> sorted(not_worse_than_best(samples, smaller_is_better=True))
['a', 'b']
"""

from collections.abc import Mapping

import numpy as np
from scipy.stats import ttest_rel

from epiboost._typing import Floats
from epiboost.paper.protocol import SIGNIFICANCE

_MIN_PAIRS = 2  # for a standard deviation
_ROUNDING = 1e-12  # differences that vary less are equal: the t-test would divide by a rounding error


def not_worse_than_best(samples: Mapping[str, Floats], *, smaller_is_better: bool) -> set[str]:
    """Return the best method and those that are not significantly worse.

    Parameters
    ----------
    samples : mapping from str to array
        One value per fold or row, in the same order for all methods; NaN where there is none.
    smaller_is_better : bool
    """
    if not samples:
        return set()
    length = max(map(len, samples.values()))
    padded = {
        name: np.pad(values, (0, length - len(values)), constant_values=np.nan) for name, values in samples.items()
    }
    counts = {name: int(np.isfinite(values).sum()) for name, values in padded.items()}
    max_count = max(counts.values())
    sign = 1.0 if smaller_is_better else -1.0
    losses = {name: sign * values for name, values in padded.items()}
    best = min((name for name in losses if counts[name] == max_count), key=lambda name: float(np.nanmean(losses[name])))
    return {name for name in losses if name == best or not _is_worse(losses[name], losses[best])}


def _is_worse(losses: Floats, best: Floats) -> bool:
    """Return whether losses are significantly larger than the best ones; a single pair cannot be tested, and counts."""
    both = np.isfinite(losses) & np.isfinite(best)
    excess = losses[both] - best[both]
    if len(excess) < _MIN_PAIRS:
        return True
    if excess.mean() <= 0.0:
        return False
    is_constant = bool(np.ptp(excess) <= _ROUNDING * excess.mean())
    return bool(is_constant or ttest_rel(losses[both], best[both]).pvalue <= SIGNIFICANCE)
