"""Trees of random forests as arrays: what they predict, and how they are written to a file and read back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from epiboost._boosting.objectives import Objective, objective_from_header
from epiboost._boosting.truncation import check_prefixes
from epiboost._files.checks import require_arrays, require_facts
from epiboost._typing import AnyArray, Family, Floats, Integers


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
