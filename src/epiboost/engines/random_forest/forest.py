"""Random forests as arrays: prediction, and the parts of a model file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from epiboost._boosting.objectives import Objective, objective_from_header
from epiboost._boosting.truncation import check_prefixes, forest_parts
from epiboost._display import short_repr
from epiboost._files.requirements import require_arrays, require_facts
from epiboost._typing import AnyArray, Family, Floats, Integers
from epiboost.engines.base import check_width
from epiboost.engines.model_files.trees import tree_depth


@dataclass(frozen=True)
class SklearnForest:
    """Trees of random forests as arrays.

    Attributes
    ----------
    left, right : arrays of shape (nodes of all trees,)
        Positions of a node's children among all nodes; the children of a leaf are the leaf itself.
    feature, threshold, missing_left : arrays of shape (nodes,)
        A row goes left if its value is at most the threshold, or if it is missing and ``missing_left`` is true.
    value : array of shape (nodes, outputs)
        A mean in the target's units, or class probabilities.
    roots : array of shape (members, trees)
        Position of each tree's root.
    depth : int
        Levels of the deepest tree.
    n_codes : tuple of int
        Number of codes per column, 0 for a numeric column.
    code_mean : array of shape (categorical columns, codes + 1)
        The number that each code is encoded as; the last is NaN, for codes that are unseen or missing.
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
    n_codes: tuple[int, ...]
    code_mean: Floats
    n_jobs: int | None = None

    __repr__ = short_repr

    @property
    def family(self) -> Family:
        """Which distribution the outputs are parameters of: class probabilities, or a mean without a variance."""
        return "categorical" if self.objective.family == "categorical" else "mean"

    @property
    def n_features(self) -> int:
        """Number of columns that a table must have."""
        return len(self.n_codes)

    @property
    def n_trees(self) -> AnyArray:
        """Number of trees of each forest, shape (members,)."""
        return np.full(len(self.roots), self.roots.shape[1])

    @property
    def evaluation(self) -> Floats:
        """No losses, shape (members, 0): forests have no evaluation rows."""
        return np.empty((len(self.roots), 0))

    def predict(self, table: AnyArray, *, prefixes: Sequence[int] | None = None) -> Floats:
        """Return distribution parameters, shape (members, samples, outputs).

        With prefixes, each forest is divided into as many parts, see `forest_parts`.
        """
        check_width(table, self.n_features)
        trees = self.roots.shape[1]
        n_parts = 1 if prefixes is None else len(check_prefixes(prefixes, trees))
        with np.errstate(
            over="ignore"
        ):  # a number beyond single precision becomes infinite, on one side of all borders
            encoded = encode_categories(np.asarray(table, dtype=np.float64), self.n_codes, self.code_mean)
            encoded = encoded.astype(np.float32)
        members = []
        for roots in self.roots:
            for part in forest_parts(trees, n_parts):
                total = np.zeros((len(table), self.value.shape[1]))
                for root in roots[part]:
                    total += self.value[self._leaves(encoded, int(root))]
                members.append(total / (part.stop - part.start))
        return np.stack(members)

    def _leaves(self, table: AnyArray, root: int) -> Integers:
        """Return the leaf of each row in the tree with this root, one level at a time."""
        node = np.full(len(table), root)
        values, begin = table.ravel(), np.arange(len(table)) * table.shape[1]
        any_missing = bool(np.isnan(table).any())
        for _ in range(self.depth):
            value = values[begin + self.feature[node]]
            goes_left = value <= self.threshold[node]
            if any_missing:
                goes_left |= np.isnan(value) & self.missing_left[node]
            below = np.where(goes_left, self.left[node], self.right[node])
            if np.array_equal(below, node):  # all rows are in leaves, which are their own children
                break
            node = below
        return node

    def to_file(self) -> tuple[dict[str, Any], Mapping[str, AnyArray]]:
        """Return header and arrays of a model file."""
        header = {"objective": self.objective.to_header(), "depth": self.depth, "sizes": list(self.n_codes)}
        return header, {name: getattr(self, name) for name in _FILE_TYPES}

    @classmethod
    def from_file(
        cls, header: Mapping[str, Any], arrays: Mapping[str, AnyArray], n_jobs: int | None
    ) -> "SklearnForest":
        """Return the forest that `to_file` described; a ValueError if the parts do not fit together."""
        _check_arrays(header, arrays)
        return cls(
            **{name: arrays[name] for name in _FILE_TYPES},
            depth=header["depth"],
            objective=objective_from_header(header["objective"]),
            n_codes=tuple(header["sizes"]),
            n_jobs=n_jobs,
        )


def encode_categories(table: Floats, n_codes: Sequence[int], code_mean: Floats) -> Floats:
    """Return the table with each code replaced by its mean target; missing and unseen codes are missing values."""
    columns = [column for column, count in enumerate(n_codes) if count]
    if not columns:
        return table
    table = table.copy()
    for column_means, column in zip(code_mean, columns, strict=True):
        codes = np.nan_to_num(table[:, column], nan=-1.0).astype(np.int64)
        table[:, column] = column_means[codes]  # code -1, unseen or missing, takes the last entry
    return table


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
    facts = {
        "there must be trees": arrays["roots"].size > 0 and arrays["value"].size > 0,
        "arrays of nodes must have one length": all(
            len(arrays[name]) == nodes for name in ("left", "right", "feature", "threshold", "missing_left")
        ),
        "features must be columns of the table": bool(
            ((arrays["feature"] >= 0) & (arrays["feature"] < len(sizes))).all()
        ),
        "values must be finite": bool(np.isfinite(arrays["value"]).all()),
        "depth must be a whole number": type(header["depth"]) is int,
        "sizes must be whole numbers": all(type(size) is int and size >= 0 for size in sizes),
        "code_mean must have one row per categorical column": arrays["code_mean"].shape
        == (sum(size > 0 for size in sizes), max(sizes, default=0) + 1),
    }
    require_facts(facts)
    left, right, own = arrays["left"], arrays["right"], np.arange(nodes)
    depth = tree_depth(left, right, arrays["roots"].ravel(), is_leaf=(left == own) & (right == own))
    require_facts({f"the trees have {depth} levels, the header says {header['depth']}": depth == header["depth"]})
