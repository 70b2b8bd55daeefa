"""The engine over scikit-learn's random forests (appendix "Comparison with Random Forest" of the paper).

``ensemble="sgb"`` is an ensemble of independent forests, whose randomness is the bootstrap. ``"virtual"`` divides one
forest into as many parts as there are members: its trees are independent, so each part is a forest too. ``"single"`` is
one forest. There is no Langevin noise and no chain.

In regression a tree predicts a mean without a variance, so members have no data uncertainty. A category is encoded as
the mean target of its rows, shrunk towards the mean of all rows by the weight of one row; with several classes the
target is the number of the class. Missing and unseen categories are missing values.
"""

import time
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from epiboost._boosting.recipe import MemberSpec, thread_count
from epiboost._boosting.rows import LearningRows, learning_rows
from epiboost._inputs.dataset import Dataset
from epiboost._progress import Progress
from epiboost._typing import Floats, Integers, LibraryObject
from epiboost.engines.base import Capabilities
from epiboost.engines.options import SAMPLE_WEIGHT, Options
from epiboost.engines.parallel import TreeCallback, train_members
from epiboost.engines.random_forest.forest import SklearnForest, encode_categories

DEFAULT_DEPTH = 10  # as in the paper
_RESERVED = {
    "n_estimators": "n_estimators",
    "n_jobs": "n_jobs",
    "random_state": "random_state",
    **dict.fromkeys(("bootstrap", "warm_start"), "this package"),
    "verbose": "verbose",
    "class_weight": SAMPLE_WEIGHT,
}
_ALLOWED = (
    "ccp_alpha", "criterion", "max_depth", "max_features", "max_leaf_nodes", "max_samples", "min_impurity_decrease",
    "min_samples_leaf", "min_samples_split", "min_weight_fraction_leaf", "monotonic_cst",
)  # fmt: skip
_OPTIONS = Options("scikit-learn's forest", reserved=_RESERVED, allowed=_ALLOWED, no_effect=("oob_score",))
_REPORT_INTERVAL = 0.2  # seconds between two reports, at which an interrupt takes effect
_MAX_FLOAT32 = float(np.finfo(np.float32).max)  # trees of scikit-learn have single precision


class ForestEngine:
    """Trains random forests with scikit-learn.

    Parameters
    ----------
    n_jobs : int, optional
        Number of threads.
    max_depth : int or None, default=10
        Levels of a tree; ``max_depth`` of the estimators is for boosted trees, which are shallower.
    options
        Other parameters of scikit-learn's forests.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        ensembles=("sgb", "virtual", "single"),
        unsupported=(
            "early_stopping_rounds", "interaction_constraints", "l2", "learning_rate", "max_bins", "max_depth",
            "max_features", "max_leaves", "min_samples_leaf", "random_strength", "structure_rows", "subsample",
            "temperature", "variance_guard",
        ),
        evaluation_set=False,
        prefixes=False,
        variance=False,
        distributions=False,
    )  # fmt: skip

    def __init__(
        self, *, n_jobs: int | None = None, max_depth: int | None = DEFAULT_DEPTH, **options: LibraryObject
    ) -> None:
        self.n_jobs = n_jobs
        self.options = {"max_depth": max_depth, **_OPTIONS.check(options)}
        if options.get("criterion") == "poisson":
            message = "engine_params must not hold criterion='poisson': targets are standardised, half of them negative"
            raise ValueError(message)

    def __repr__(self) -> str:
        """Return the class with its parameters."""
        return f"ForestEngine(n_jobs={self.n_jobs}, options={self.options})"

    def fit(self, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> SklearnForest:
        """Grow one forest per spec."""
        rows = learning_rows(data)
        code_mean = target_means(rows)
        table = encode_categories(rows.X, rows.n_codes, code_mean)
        table = np.clip(table, -_MAX_FLOAT32, _MAX_FLOAT32).astype(np.float32)
        target = rows.y.astype(np.int64) if data.n_classes else rows.y
        options = {**self._constraints(specs[0]), **self.options}

        def grow(spec: MemberSpec, threads: int, report_trees: TreeCallback) -> LibraryObject:
            forest = _estimator_class(data.n_classes)(
                n_estimators=0, n_jobs=threads, random_state=spec.seed % 2**32, warm_start=True, **options
            )
            batch = threads
            while forest.n_estimators < spec.n_estimators:  # growing in batches gives the same trees
                begin = time.monotonic()
                batch = min(batch, spec.n_estimators - forest.n_estimators)
                forest.set_params(n_estimators=forest.n_estimators + batch)
                forest.fit(table, target, sample_weight=rows.weight)
                report_trees(batch)
                speed_up = min(_REPORT_INTERVAL / max(time.monotonic() - begin, 1e-6), 8.0)
                batch = max(threads, int(batch * speed_up))
            return forest

        threads = thread_count(self.n_jobs)
        forests = train_members(grow, specs, threads=threads, trees=specs[0].n_estimators, progress=progress)
        return _to_arrays(forests, rows, code_mean, self.n_jobs)

    def _constraints(self, spec: MemberSpec) -> dict[str, list[int]]:
        """Return scikit-learn's monotonic constraints."""
        if not spec.constraints.monotone:
            return {}
        if "monotonic_cst" in self.options:
            message = "engine_params must not hold 'monotonic_cst' beside monotonic_constraints"
            raise ValueError(message)
        return {"monotonic_cst": list(spec.constraints.monotone)}


def target_means(rows: LearningRows) -> Floats:
    """Return the mean target of each code, shape (categorical columns, codes + 1); the last is for other codes."""
    means = np.full((len(rows.categories), max(rows.n_codes, default=0) + 1), np.nan)
    mean = float((rows.weight * rows.y).sum() / rows.total)
    for column_means, column in zip(means, rows.categories, strict=True):
        known = ~np.isnan(rows.X[:, column])
        codes = rows.X[known, column].astype(np.int64)
        sums = np.bincount(codes, rows.weight[known] * rows.y[known], len(column_means) - 1)
        counts = np.bincount(codes, rows.weight[known], len(column_means) - 1)
        column_means[:-1] = (sums + mean) / (counts + 1.0)
    return means


def _estimator_class(n_classes: int) -> LibraryObject:
    from sklearn.ensemble import (  # noqa: PLC0415 (slow to import, and few need it)
        RandomForestClassifier,
        RandomForestRegressor,
    )

    return RandomForestClassifier if n_classes else RandomForestRegressor


def _to_arrays(
    forests: Sequence[LibraryObject], rows: LearningRows, code_mean: Floats, n_jobs: int | None
) -> SklearnForest:
    """Return the trees of all forests as arrays."""
    trees = [[one.tree_ for one in forest.estimators_] for forest in forests]
    flat = [tree for forest in trees for tree in forest]
    offsets = np.concatenate([[0], np.cumsum([tree.node_count for tree in flat])])
    is_leaf = np.concatenate([tree.feature < 0 for tree in flat])
    positions = np.arange(offsets[-1])

    def children(name: str) -> Integers:
        shifted = [getattr(tree, name) + begin for tree, begin in zip(flat, offsets, strict=False)]
        return np.where(is_leaf, positions, np.concatenate(shifted)).astype(np.int64)

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
        n_codes=rows.codes_per_column,
        code_mean=code_mean,
        n_jobs=n_jobs,
    )
