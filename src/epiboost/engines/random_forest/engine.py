"""Random forests of scikit-learn, as in the paper's appendix.

``ensemble="sgb"`` is an ensemble of independent forests; their randomness is the bootstrap. ``"virtual"`` takes one
forest apart, into as many parts as there are members: trees of a forest are independent, so a part of them is a forest
too. ``"single"`` is one forest. There is no Langevin noise and no chain.

In regression a tree predicts a mean and nothing of the spread around it, so members have no data uncertainty. A
category goes in as its rows' mean target, drawn towards that of all rows by the weight of one row; of several classes
the target is the number of the class. Missing and unseen categories are missing values.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.rows import Rows, learning_rows
from epiboost._inputs.dataset import Dataset
from epiboost._progress import Progress
from epiboost._typing import Floats, Integers
from epiboost.engines.options import WEIGHTS, Options
from epiboost.engines.parallel import Grown, train_members
from epiboost.engines.random_forest.forest import SklearnForest, encoded
from epiboost.engines.threads import thread_count

DEPTH = 10
_OWN = {
    "n_estimators": "n_estimators",
    "n_jobs": "n_jobs",
    "random_state": "random_state",
    **dict.fromkeys(("bootstrap", "warm_start"), "this package"),
    "verbose": "verbose",
    "class_weight": WEIGHTS,
}
_FREE = (
    "ccp_alpha", "criterion", "max_depth", "max_features", "max_leaf_nodes", "max_samples", "min_impurity_decrease",
    "min_samples_leaf", "min_samples_split", "min_weight_fraction_leaf", "monotonic_cst",
)  # fmt: skip
_OPTIONS = Options("scikit-learn's forest", own=_OWN, free=_FREE, idle=("oob_score",))
_BREATH = 0.2  # seconds between two chances to be interrupted
_LARGEST = float(np.finfo(np.float32).max)  # trees of scikit-learn keep single precision


class ForestEngine:
    """Trains random forests with scikit-learn.

    Parameters
    ----------
    n_jobs : int, optional
        Threads.
    max_depth : int or None, default=10
        Levels of a tree; the estimators' own ``max_depth`` is for boosted trees, which are shallower.
    options
        Other parameters of scikit-learn's forests.
    """

    ensembles = ("sgb", "virtual", "single")
    cannot = (
        "early_stopping_rounds", "l2", "learning_rate", "max_bins", "max_depth", "structure_rows", "subsample",
        "temperature", "variance_guard",
    )  # fmt: skip

    def __init__(self, *, n_jobs: int | None = None, max_depth: int | None = DEPTH, **options: Any) -> None:  # noqa: ANN401
        self.n_jobs = n_jobs
        self.options = {"max_depth": max_depth, **_OPTIONS.checked(options)}
        if options.get("criterion") == "poisson":
            message = "engine_params must not hold criterion='poisson': targets are standardised, half of them negative"
            raise ValueError(message)

    def __repr__(self) -> str:
        """Say what it is made of."""
        return f"ForestEngine(n_jobs={self.n_jobs}, options={self.options})"

    def fit(self, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> SklearnForest:
        """Grow one forest a spec."""
        if data.evaluation is not None:
            message = "engine='forest' grows trees that do not build on each other: leave eval_set out"
            raise ValueError(message)
        rows = learning_rows(data)
        code_mean = target_means(rows)
        table = np.clip(encoded(rows.X, rows.sizes, code_mean), -_LARGEST, _LARGEST).astype(np.float32)
        target = rows.y.astype(np.int64) if data.n_classes else rows.y

        def grow(spec: MemberSpec, threads: int, grown: Grown) -> Any:  # noqa: ANN401 (scikit-learn's)
            forest = self._estimator(data.n_classes)(
                n_estimators=0, n_jobs=threads, random_state=spec.seed % 2**32, warm_start=True, **self.options
            )
            some = threads
            while forest.n_estimators < spec.n_estimators:  # in some steps, which make the trees that one would make
                begin = time.monotonic()
                some = min(some, spec.n_estimators - forest.n_estimators)
                forest.set_params(n_estimators=forest.n_estimators + some)
                forest.fit(table, target, sample_weight=rows.weight)
                grown(some)
                some = max(threads, int(some * min(_BREATH / max(time.monotonic() - begin, 1e-6), 8.0)))
            return forest

        threads = thread_count(self.n_jobs)
        forests = train_members(grow, specs, threads=threads, trees=specs[0].n_estimators, progress=progress)
        return _arrays(forests, rows, code_mean, self.n_jobs)

    @staticmethod
    def _estimator(n_classes: int) -> Any:  # noqa: ANN401 (a class)
        from sklearn.ensemble import (  # noqa: PLC0415 (slow to import, and few need it)
            RandomForestClassifier,
            RandomForestRegressor,
        )

        return RandomForestClassifier if n_classes else RandomForestRegressor


def target_means(rows: Rows) -> Floats:
    """Return the mean target of each code of each column of categories; the last is for missing and unseen ones."""
    means = np.full((len(rows.categories), max(rows.sizes, default=0) + 1), np.nan)
    mean = float((rows.weight * rows.y).sum() / rows.total)
    for own, column in zip(means, rows.categories, strict=True):
        known = ~np.isnan(rows.X[:, column])
        codes = rows.X[known, column].astype(np.int64)
        sums = np.bincount(codes, rows.weight[known] * rows.y[known], len(own) - 1)
        counts = np.bincount(codes, rows.weight[known], len(own) - 1)
        own[:-1] = (sums + mean) / (counts + 1.0)
    return means


def _arrays(forests: Sequence[Any], rows: Rows, code_mean: Floats, n_jobs: int | None) -> SklearnForest:
    trees = [[one.tree_ for one in forest.estimators_] for forest in forests]
    flat = [tree for forest in trees for tree in forest]
    offsets = np.concatenate([[0], np.cumsum([tree.node_count for tree in flat])])

    own = np.arange(offsets[-1])

    def children(name: str) -> Integers:
        moved = [getattr(tree, name) + begin for tree, begin in zip(flat, offsets, strict=False)]
        is_leaf = np.concatenate([tree.feature < 0 for tree in flat])
        return np.where(is_leaf, own, np.concatenate(moved)).astype(np.int64)

    value = np.concatenate([tree.value[:, 0, :] for tree in flat])
    location, scale = rows.objective.units
    regression = rows.objective.family == "normal"
    value = location + scale * value if regression else value / value.sum(axis=1, keepdims=True)
    return SklearnForest(
        left=children("children_left"),
        right=children("children_right"),
        feature=np.maximum(np.concatenate([tree.feature for tree in flat]), 0).astype(np.int64),
        threshold=np.concatenate([tree.threshold for tree in flat]),
        missing_left=np.concatenate([tree.missing_go_to_left for tree in flat]).astype(bool),
        value=value,
        roots=offsets[:-1].reshape(len(trees), -1).astype(np.int64),
        depth=max(tree.max_depth for tree in flat),
        objective=rows.objective,
        sizes=rows.sizes or (0,) * rows.X.shape[1],
        code_mean=code_mean,
        n_jobs=n_jobs,
    )
