"""Random forests of scikit-learn, as in the paper's appendix.

``ensemble="sgb"`` is an ensemble of independent forests; their randomness is the bootstrap. ``"virtual"`` takes one
forest apart, into as many parts as there are members: trees of a forest are independent, so a part of them is a forest
too. ``"single"`` is one forest. There is no Langevin noise and no chain.

In regression a tree predicts a mean and nothing of the spread around it, so members have no data uncertainty. A
category goes in as its rows' mean target, drawn towards that of all rows by the weight of one row; of several classes
the target is the number of the class. Missing and unseen categories are missing values.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from epiboost._file_parts import require_arrays, require_facts
from epiboost._typing import AnyArray, Family, Floats, Integers
from epiboost.data import Dataset
from epiboost.engines.crew import Grown, train_members
from epiboost.engines.options import WEIGHTS, Options
from epiboost.engines.prefixes import check_prefixes
from epiboost.engines.rows import Rows, learning_rows
from epiboost.engines.threads import thread_count
from epiboost.members import MemberSpec
from epiboost.objectives import Objective, objective_from_header
from epiboost.progress import Progress

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


@dataclass(frozen=True)
class SklearnForest:
    """Trees of random forests as arrays.

    Attributes
    ----------
    left, right : arrays of shape (nodes of all trees,)
        Places of a node's children among all nodes; those of a leaf are its own.
    feature, threshold, missing_left : arrays of shape (nodes,)
        A row goes left if its value is at most the threshold, or if it is missing and that side takes those.
    value : array of shape (nodes, outputs)
        A mean in the target's units, or class probabilities.
    roots : array of shape (members, trees)
        Where each tree begins.
    code_mean : array of shape (columns of categories, codes + 1)
        The number that stands for each code; the last is NaN, for codes that are unseen or missing.
    """

    left: Integers
    right: Integers
    feature: Integers
    threshold: Floats
    missing_left: AnyArray
    value: Floats
    roots: Integers
    depth: int
    objective: Objective
    sizes: tuple[int, ...]
    code_mean: Floats
    n_jobs: int | None = None

    parts: ClassVar[bool] = True

    @property
    def family(self) -> Family:
        """What the members predict: class probabilities, or a mean alone."""
        return "categorical" if self.objective.family == "categorical" else "mean"

    @property
    def n_features(self) -> int:
        """How many columns a table must have."""
        return len(self.sizes)

    @property
    def n_trees(self) -> AnyArray:
        """How many trees each forest has, shape (members,)."""
        return np.full(len(self.roots), self.roots.shape[1])

    @property
    def evaluation(self) -> Floats:
        """No losses: a forest is not watched while it grows."""
        return np.empty((len(self.roots), 0))

    def predict(self, table: AnyArray, *, prefixes: Sequence[int] | None = None) -> Floats:
        """Return distribution parameters, shape (members, samples, outputs).

        With prefixes, members are as many parts of each forest, all of the same size up to one tree.
        """
        if table.ndim != 2 or table.shape[1] != self.n_features:  # noqa: PLR2004 (rows and columns)
            message = f"the table must have {self.n_features} columns; got shape {table.shape}"
            raise ValueError(message)
        trees = self.roots.shape[1]
        n_parts = 1 if prefixes is None else len(check_prefixes(prefixes, trees))
        ends = np.arange(1, n_parts + 1) * trees // n_parts
        with np.errstate(over="ignore"):  # beyond single precision there is one side of every threshold
            ready = encoded(np.asarray(table, dtype=np.float64), self.sizes, self.code_mean).astype(np.float32)
        members = []
        for roots in self.roots:
            for part in np.split(roots, ends[:-1]):
                total = np.zeros((len(table), self.value.shape[1]))
                for root in part:
                    total += self.value[self._leaves(ready, int(root))]
                members.append(total / len(part))
        return np.stack(members)

    def _leaves(self, table: AnyArray, root: int) -> Integers:
        """Return the leaf of each row in the tree that begins at ``root``, going down one level at a time."""
        node = np.full(len(table), root)
        values, begin = table.ravel(), np.arange(len(table)) * table.shape[1]
        any_missing = bool(np.isnan(table).any())
        for _ in range(self.depth):
            value = values[begin + self.feature[node]]
            goes_left = value <= self.threshold[node]
            if any_missing:
                goes_left |= np.isnan(value) & self.missing_left[node]
            node = np.where(goes_left, self.left[node], self.right[node])
        return node

    def to_file(self) -> tuple[dict[str, Any], Mapping[str, AnyArray]]:
        """Return what a model file must hold."""
        header = {"objective": self.objective.to_header(), "depth": self.depth, "sizes": list(self.sizes)}
        return header, {name: getattr(self, name) for name in _FILE_TYPES}

    @classmethod
    def from_file(
        cls, header: Mapping[str, Any], arrays: Mapping[str, AnyArray], n_jobs: int | None
    ) -> "SklearnForest":
        """Build a forest from a model file's parts; anything that does not fit together is a ValueError."""
        _check_arrays(header, arrays)
        return cls(
            **{name: arrays[name] for name in _FILE_TYPES},
            depth=header["depth"],
            objective=objective_from_header(header["objective"]),
            sizes=tuple(header["sizes"]),
            n_jobs=n_jobs,
        )


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


def encoded(table: Floats, sizes: Sequence[int], code_mean: Floats) -> Floats:
    """Return the table with each code replaced by its number; missing and unseen ones are missing values."""
    columns = [column for column, size in enumerate(sizes) if size]
    if not columns:
        return table
    table = table.copy()
    for own, column in zip(code_mean, columns, strict=True):
        codes = np.nan_to_num(table[:, column], nan=-1.0).astype(np.int64)
        table[:, column] = own[codes]  # the last entry is that of -1
    return table


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


_FILE_TYPES = {
    "left": (np.int64, 1),
    "right": (np.int64, 1),
    "feature": (np.int64, 1),
    "threshold": (np.float64, 1),
    "missing_left": (np.bool_, 1),
    "value": (np.float64, 2),
    "roots": (np.int64, 2),
    "code_mean": (np.float64, 2),
}


def _check_arrays(header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    require_arrays(arrays, _FILE_TYPES)
    nodes, sizes = len(arrays["value"]), header["sizes"]
    places = [arrays[name] for name in ("left", "right")]
    facts = {
        "there must be trees": arrays["roots"].size > 0 and arrays["value"].size > 0,
        "arrays of nodes must have one length": all(
            len(arrays[name]) == nodes for name in ("left", "right", "feature", "threshold", "missing_left")
        ),
        "children must be nodes": all(bool(((of >= 0) & (of < nodes)).all()) for of in places),
        "roots must be nodes": bool(((arrays["roots"] >= 0) & (arrays["roots"] < nodes)).all()),
        "features must be columns of the table": bool(
            ((arrays["feature"] >= 0) & (arrays["feature"] < len(sizes))).all()
        ),
        "values must be finite": bool(np.isfinite(arrays["value"]).all()),
        "depth must be a whole number": type(header["depth"]) is int and 0 <= header["depth"] <= nodes,
        "sizes must be whole numbers": all(type(size) is int and size >= 0 for size in sizes),
        "code_mean must have a row a column of categories": arrays["code_mean"].shape
        == (sum(size > 0 for size in sizes), max(sizes, default=0) + 1),
    }
    require_facts(facts)
