"""Out-of-fold residuals of a quick ensemble of trees, by which feature crosses are selected."""

from dataclasses import dataclass, replace

import numpy as np

from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.step_sizes import step_sizes
from epiboost._inputs.constraints import NO_CONSTRAINTS
from epiboost._inputs.dataset import Dataset
from epiboost._progress import no_progress
from epiboost._typing import Floats
from epiboost.engines.native.chains import chain_table, forest_of
from epiboost.engines.native.forest import NativeForest
from epiboost.engines.native.rows import bin_numeric_rows
from epiboost.engines.native.training import train_here

_TREES, _RATE = 200, 0.3  # enough to find what trees can find; a fraction of the training time
_DEPTH, _DEPTH_OF_FEW_ROWS, _FEW_ROWS = 6, 4, 1000  # shallow trees take a quarter of the time where rows are few


@dataclass(frozen=True, slots=True)
class QuickTrees:
    """Computes residuals of quick trees by two-fold cross-fitting; a `ResidualFunction`.

    Parameters
    ----------
    spec : MemberSpec
        Spec of the ensemble's chains. The quick trees take over seed, regularisation and bins.
    threads : int
        Number of threads of this machine.
    """

    spec: MemberSpec
    threads: int

    def __call__(self, table: Floats, target: Floats, weight: Floats, *, is_class: bool) -> Floats | None:
        """Return residuals of shape (n,), or None if one of the halves has a single class.

        Parameters
        ----------
        table : array of shape (n, columns)
            Rows in random order. Trees trained on each half predict the other half.
        target, weight : arrays of shape (n,)
        is_class : bool
            Whether the target is 0 or 1.
        """
        half = len(target) // 2
        halves = slice(None, half), slice(half, None)
        if half == 0 or (is_class and any(np.ptp(target[rows]) == 0.0 for rows in halves)):
            return None
        residuals = np.empty(len(target))
        task = (2, "bernoulli") if is_class else (0, "normal")
        for rows, others in (halves, halves[::-1]):
            forest = self._fit(Dataset(table[rows], target[rows], weight[rows], *task))
            predicted = forest.predict(table[others])[0]
            residuals[others] = target[others] - (predicted[:, 1] if is_class else predicted[:, 0])
        return residuals

    def _fit(self, data: Dataset) -> NativeForest:
        """Train one chain without noise on a table of numbers."""
        spec = replace(
            self.spec,
            n_estimators=_TREES,
            learning_rate=_RATE,
            max_depth=_DEPTH if data.weight.sum() >= _FEW_ROWS else _DEPTH_OF_FEW_ROWS,
            max_leaves=None,
            subsample=1.0,
            temperature=None,
            random_strength=0.0,
            bootstrap=False,
            min_samples_leaf=1,
            max_features=1.0,
            constraints=NO_CONSTRAINTS,  # its table has other columns
        )
        rows = bin_numeric_rows(data, spec.max_bins, self.threads)
        steps = step_sizes(spec, rows.objective, float(rows.weight.sum()))
        (trees,) = train_here([chain_table(rows, None, [spec], steps)], self.threads, no_progress)
        return forest_of(trees, rows.bins, rows.objective, steps, n_jobs=self.threads)
