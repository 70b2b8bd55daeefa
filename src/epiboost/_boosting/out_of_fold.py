"""Out-of-fold chains: extra chains that each leave out a part of the rows. Not in the paper.

Members see all rows. Beside them one chain per fold is trained without the rows of its fold, so that every row is
predicted by a chain that has not seen it. Two more chains measure how much models differ: one repeats the first with
another seed, one leaves out the folds of the first two.

>>> import numpy as np
>>> plan = OutOfFoldPlan.of_folds(np.array([0, 1, 2, 0, 1, 2]))
>>> [train.tolist() for train in plan.trains]
[[1, 2, 4, 5], [0, 2, 3, 5], [0, 1, 3, 4]]
>>> [train.tolist() for train in plan.extra_trains]
[[1, 2, 4, 5], [2, 5]]
"""

import numbers
from collections.abc import Iterable, Sized
from dataclasses import dataclass, replace

import numpy as np

from epiboost._binning.canonical_rows import hash_numbers, row_bytes
from epiboost._native import native
from epiboost._typing import AnyArray, Bytes, Floats, Integers, LibraryObject

DEFAULT_FOLDS = 4
"""Price and benefit: more folds see more of the rows each, and cost more chains."""

MIN_ROWS = 10 * DEFAULT_FOLDS
"""With fewer rows ``out_of_fold="auto"`` trains no extra chains: they would measure little."""

_MIN_FOLDS = 3  # of two folds, a chain without both would see no rows
_MAX_FOLDS = 100
_BLOCK_BYTES = 1 << 22  # of rows that are hashed at once
_NEVER = -1
_MOST = 0.5  # share of the rows


class TooFewRowsError(ValueError):
    """There are fewer distinct rows, or groups, than folds."""


@dataclass(frozen=True, slots=True, eq=False)
class OutOfFoldPlan:
    """Which rows each chain sees, and which it predicts.

    Attributes
    ----------
    trains, tests : tuples of integer arrays
        For each fold, the rows that its chain is trained on, and rows that it has not seen and predicts. A row is
        predicted by one chain at most.
    reduced : integer array
        Rows that the first two chains have in common; empty if a chain cannot be trained on them.
    """

    trains: tuple[Integers, ...]
    tests: tuple[Integers, ...]
    reduced: Integers

    @property
    def extra_trains(self) -> tuple[Integers, Integers]:
        """Rows of the two extra chains: those of the first chain again, and those that the first two have in common."""
        return self.trains[0], self.reduced

    @classmethod
    def of_folds(cls, fold: Integers) -> "OutOfFoldPlan":
        """Return the plan of the fold number of each row; rows of a negative number are left out by no chain."""
        numbers = range(int(fold.max()) + 1)
        return cls._of_parts(
            [np.flatnonzero(fold != number) for number in numbers],
            [np.flatnonzero(fold == number) for number in numbers],
        )

    @classmethod
    def of_splits(cls, splits: Iterable[tuple[Integers, Integers]], kept: AnyArray) -> "OutOfFoldPlan":
        """Return the plan of (train, test) pairs, as a splitter of scikit-learn yields them.

        Parameters
        ----------
        splits : iterable of pairs of integer arrays
            They count all rows that `fit` was given.
        kept : array of bool of shape (n,)
            Which of these rows the chains can see; the plan counts these alone.
        """
        given = list(splits)
        if len(given) < _MIN_FOLDS - 1 or any(not isinstance(pair, Sized) or len(pair) != 2 for pair in given):  # noqa: PLR2004 (train and test)
            message = f"out_of_fold needs at least {_MIN_FOLDS - 1} pairs of (train, test) rows; got {len(given)}"
            raise ValueError(message)
        position = np.where(kept, np.cumsum(kept) - 1, _NEVER)
        trains, tests = (
            [part[part != _NEVER] for part in (position[_row_numbers(pair[side], len(kept))] for pair in given)]
            for side in (0, 1)
        )
        tested = np.concatenate(tests)
        overlap = any(np.intersect1d(train, test).size for train, test in zip(trains, tests, strict=True))
        if len(np.unique(tested)) != len(tested) or overlap:
            message = (
                "out_of_fold must predict each row at most once, by a chain that has not seen it; got overlapping folds"
            )
            raise ValueError(message)
        if not all(part.size for part in (*trains, *tests)):
            message = "out_of_fold needs rows of positive weight in both parts of each (train, test) pair; one is empty"
            raise ValueError(message)
        return cls._of_parts([np.unique(train) for train in trains], [np.sort(test) for test in tests])

    @classmethod
    def _of_parts(cls, trains: list[Integers], tests: list[Integers]) -> "OutOfFoldPlan":
        return cls(tuple(trains), tuple(tests), np.intersect1d(trains[0], trains[1], assume_unique=True))


def out_of_fold_plan(
    out_of_fold: LibraryObject,
    X: AnyArray,
    y: Floats,
    *,
    n_classes: int,
    weight: Floats | None = None,
    groups: AnyArray | None = None,
    kept: AnyArray | None = None,
) -> OutOfFoldPlan | None:
    """Return which chain sees which rows; None for no extra chains.

    Parameters
    ----------
    out_of_fold : int, splitter or iterable of (train, test)
        Number of folds; 0 for none. Folds depend on the content of the rows, not on their order: equal rows leave
        together. A row that weighs more than half a fold is left out by no chain: it would be all that is measured.
    X : array of shape (n, columns)
        Checked numbers, or bins.
    y : array of shape (n,)
        Numbers, or class codes.
    n_classes : int
        0 for regression. Folds are stratified by class.
    weight : array of shape (n,), optional
        One per row by default.
    groups : array of shape (given rows,), optional
        Rows of one group leave together.
    kept : array of bool of shape (given rows,), optional
        Which of the rows that `fit` was given are those of X and y; None for all. Splitters and pairs count the given
        rows.
    """
    kept = np.ones(len(y), dtype=bool) if kept is None else kept
    if isinstance(out_of_fold, numbers.Integral) and not isinstance(out_of_fold, bool):
        n_folds = int(out_of_fold)
        if n_folds == 0:
            return None
        weight = np.ones(len(y)) if weight is None else weight
        fold = _folds(n_folds, X, y, weight, n_classes=n_classes, groups=None if groups is None else groups[kept])
        plan = OutOfFoldPlan.of_folds(fold)
    else:
        plan = _plan_of_splits(out_of_fold, y, n_classes, groups, kept)
    if n_classes and len(np.unique(y[plan.reduced])) < n_classes:
        return replace(plan, reduced=plan.reduced[:0])
    return plan


def _folds(
    n_folds: int, X: AnyArray, y: Floats, weight: Floats, *, n_classes: int, groups: AnyArray | None
) -> Integers:
    """Return the fold number of each row."""
    if not _MIN_FOLDS <= n_folds <= _MAX_FOLDS:
        message = f"out_of_fold must be 0, or a number of folds from {_MIN_FOLDS} to {_MAX_FOLDS}; got {n_folds}"
        raise ValueError(message)
    if groups is None:
        fold = _content_folds(content_ranks(X, y), y, weight, n_folds, n_classes)
    else:
        fold = _group_folds(y, groups, n_folds, n_classes)
    if len(np.unique(fold[fold != _NEVER])) < n_folds:
        message = (
            f"out_of_fold={n_folds} needs at least {n_folds} distinct rows or groups, none of which weighs more than "
            f"half a fold; {_remedy(n_folds)}"
        )
        raise TooFewRowsError(message)
    return fold


def _remedy(n_folds: int) -> str:
    fewer = f"use fewer folds (at least {_MIN_FOLDS}), or " if n_folds > _MIN_FOLDS else "use "
    return fewer + "out_of_fold=0 without keep_folds"


def _plan_of_splits(
    out_of_fold: LibraryObject, y: Floats, n_classes: int, groups: AnyArray | None, kept: AnyArray
) -> OutOfFoldPlan:
    is_splitter = hasattr(out_of_fold, "split")
    if isinstance(out_of_fold, str) or not (is_splitter or isinstance(out_of_fold, Iterable)):  # text has a split, too
        message = (
            f"out_of_fold must be 'auto', a number of folds, a splitter or (train, test) pairs; got {out_of_fold!r}"
        )
        raise ValueError(message)
    splits = _split(out_of_fold, y, groups, kept) if is_splitter else out_of_fold
    plan = OutOfFoldPlan.of_splits(splits, kept)
    for number, train in enumerate(plan.trains):
        if n_classes and len(np.unique(y[train])) < n_classes:
            message = f"the rows that chain {number} of out_of_fold is trained on lack a class; stratify the folds"
            raise ValueError(message)
    return plan


def _split(
    splitter: LibraryObject, y: Floats, groups: AnyArray | None, kept: AnyArray
) -> Iterable[tuple[Integers, Integers]]:
    """Return the pairs of a splitter of scikit-learn for all given rows."""
    target = np.repeat(y[:1], len(kept), axis=0)  # of rows that no chain sees, any target will do
    target[kept] = y
    pairs: Iterable[tuple[Integers, Integers]] = splitter.split(np.zeros((len(kept), 1)), target, groups)
    return pairs


def _row_numbers(rows: AnyArray, n_rows: int) -> Integers:
    """Return row numbers as an array; a ValueError unless they are those of a table."""
    checked = np.asarray(rows)
    if checked.ndim != 1 or (checked.size and checked.dtype.kind not in "iu"):
        message = f"out_of_fold must name rows by their numbers; got {checked.dtype} of shape {checked.shape}"
        raise ValueError(message)
    if checked.size and not (checked.min() >= 0 and checked.max() < n_rows):
        message = f"out_of_fold names rows beyond the {n_rows} of the table"
        raise ValueError(message)
    return checked.astype(np.int64)


def content_ranks(X: AnyArray, y: Floats) -> Integers:
    """Return the number of each distinct row of a table with its target, in an order that depends on content alone."""
    hashes = _hash_bins(X, y) if X.dtype == np.uint8 else hash_numbers(X, y)
    _, ranks = np.unique(hashes, return_inverse=True)
    return np.asarray(ranks, dtype=np.int64)


def _hash_bins(codes: Bytes, y: Floats) -> AnyArray:
    """Return a hash of each row of bins with its target."""
    hashes, step = np.empty(len(y), dtype=np.uint64), max(1, _BLOCK_BYTES // (codes.shape[1] + 8))
    for start in range(0, len(y), step):  # the bytes of a whole table would be a copy of it
        rows = slice(start, start + step)
        targets = row_bytes(y[rows].reshape(len(y[rows]), -1))
        hashes[rows] = native().hash_rows(np.concatenate([codes[rows], targets], axis=1))
    return hashes


def has_counts_of_targets(X: AnyArray, y: Floats, weight: Floats) -> bool:
    """Return whether most rows have copies of themselves beside rows that differ from them in the target only.

    Such a table counts how often each target occurs for the same features. Leaving out all copies of a row would leave
    out that target, and the others would say nothing true about it.

    >>> X = np.array([[1.0], [1.0], [1.0], [2.0]])
    >>> has_counts_of_targets(X, np.array([0.0, 0.0, 1.0, 5.0]), np.ones(4))
    False
    >>> has_counts_of_targets(X, np.array([0.0, 0.0, 1.0, 5.0]), np.array([2.0, 1.0, 1.0, 1.0]))
    True
    """
    row = content_ranks(X, y)
    copies = np.bincount(row, weight)[row]
    is_count = copies >= 2.0 * min(float(weight.min()), 1.0)  # at least two rows; a weight above one counts rows
    if not weight[is_count].sum() > _MOST * weight.sum():  # the usual case
        return False
    cell = content_ranks(X, np.zeros_like(y))
    is_count &= np.bincount(cell, weight)[cell] > copies
    return bool(weight[is_count].sum() > _MOST * weight.sum())


def _content_folds(distinct: Integers, y: Floats, weight: Floats, n_folds: int, n_classes: int) -> Integers:
    """Return folds of about equal numbers of distinct rows, stratified by class."""
    fold = np.full(len(y), _NEVER, dtype=np.int64)
    if n_classes:
        for code in range(n_classes):
            rows = np.flatnonzero(y == code)
            kinds, rank = np.unique(distinct[rows], return_inverse=True)
            if len(kinds) >= n_folds:  # rarer classes stay in all chains, which could not learn the class otherwise
                fold[rows] = (rank + code) % n_folds
    else:
        fold = distinct % n_folds
    copies = np.bincount(distinct, weight)
    # A fold may consist of one row that weighs as much as others.
    heavy = max(0.5 * copies.sum() / n_folds, 2.0 * copies.mean())
    fold[copies[distinct] > heavy] = _NEVER
    return fold


def _group_folds(y: Floats, groups: AnyArray, n_folds: int, n_classes: int) -> Integers:
    """Return folds of whole groups, of about equal size."""
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold  # noqa: PLC0415 (slow, and needed by few users)

    found = len(np.unique(groups))
    if found < n_folds:
        message = f"out_of_fold={n_folds} needs at least {n_folds} groups; got {found}; {_remedy(n_folds)}"
        raise TooFewRowsError(message)
    splitter = StratifiedGroupKFold(n_folds) if n_classes else GroupKFold(n_folds)
    fold = np.empty(len(y), dtype=np.int64)
    for number, (train, test) in enumerate(splitter.split(np.zeros((len(y), 1)), y, groups)):
        fold[test] = number if not n_classes or len(np.unique(y[train])) == n_classes else _NEVER
    return fold
