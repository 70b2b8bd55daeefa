"""The paper's rule of significance: what is not told apart from the best.

Methods are compared in pairs by a t-test: over folds where a dataset has several, over the test rows where it has one.
A p-value above 0.05 means that a method is not different from the best. Ratios of rejection and areas have no value a
row, so of a dataset with one split only the best itself is marked.

The best is the one of the best mean among the methods with the most folds. A method of fewer folds is compared with it
on those that both have, and is marked unless it is worse there.

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
        A value a fold or a row, in the same order for each method; NaN where one has none.
    smaller_is_better : bool
    """
    if not samples:
        return set()
    length = max(map(len, samples.values()))
    padded = {
        name: np.pad(values, (0, length - len(values)), constant_values=np.nan) for name, values in samples.items()
    }
    counts = {name: int(np.isfinite(values).sum()) for name, values in padded.items()}
    most = max(counts.values())
    sign = 1.0 if smaller_is_better else -1.0
    losses = {name: sign * values for name, values in padded.items()}
    best = min((name for name in losses if counts[name] == most), key=lambda name: float(np.nanmean(losses[name])))
    return {name for name in losses if name == best or not _worse(losses[name], losses[best])}


def _worse(losses: Floats, best: Floats) -> bool:
    """Say whether losses are larger than the best ones by more than chance; of a single pair chance is not known."""
    both = np.isfinite(losses) & np.isfinite(best)
    more = losses[both] - best[both]
    if len(more) < _LEAST:
        return True
    if more.mean() <= 0.0:
        return False
    return bool(np.ptp(more) == 0.0 or ttest_rel(losses[both], best[both]).pvalue <= SIGNIFICANCE)
