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
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from epiboost._native import native
from epiboost._typing import AnyArray, Floats, Integers, LibraryObject

DEFAULT_FOLDS = 4
"""Price and benefit: more folds see more of the rows each, and cost more chains."""

MIN_ROWS = 10 * DEFAULT_FOLDS
"""With fewer rows ``out_of_fold="auto"`` trains no extra chains: they would measure little."""

_MIN_FOLDS = 3  # of two folds, a chain without both would see no rows
_MAX_FOLDS = 100
_NEVER = -1


@dataclass(frozen=True, slots=True, eq=False)
class OutOfFoldPlan:
    """Which rows each chain sees, and which it predicts.

    Attributes
    ----------
    trains, tests : tuples of integer arrays
        For each fold, the rows that its chain is trained on, and rows that it has not seen and predicts. A row is
        predicted by one chain at most.
    """

    trains: tuple[Integers, ...]
    tests: tuple[Integers, ...]

    @property
    def extra_trains(self) -> tuple[Integers, Integers]:
        """Rows of the two extra chains: those of the first chain again, and those that the first two have in common."""
        return self.trains[0], np.intersect1d(self.trains[0], self.trains[1], assume_unique=True)

    @classmethod
    def of_folds(cls, fold: Integers) -> "OutOfFoldPlan":
        """Return the plan of the fold number of each row; rows of a negative number are left out by no chain."""
        numbers = range(int(fold.max()) + 1)
        return cls(
            tuple(np.flatnonzero(fold != number) for number in numbers),
            tuple(np.flatnonzero(fold == number) for number in numbers),
        )

    @classmethod
    def of_splits(cls, splits: Iterable[tuple[Integers, Integers]], n_rows: int) -> "OutOfFoldPlan":
        """Return the plan of (train, test) pairs, as a splitter of scikit-learn yields them."""
        given = list(splits)
        if len(given) < _MIN_FOLDS - 1 or any(len(pair) != 2 for pair in given):  # noqa: PLR2004 (train and test)
            message = f"out_of_fold needs at least {_MIN_FOLDS - 1} pairs of (train, test) rows; got {len(given)}"
            raise ValueError(message)
        pairs = [(np.asarray(train, dtype=np.int64), np.asarray(test, dtype=np.int64)) for train, test in given]
        tested = np.concatenate([test for _, test in pairs])
        if len(np.unique(tested)) != len(tested) or any(np.intersect1d(train, test).size for train, test in pairs):
            message = (
                "out_of_fold must predict each row at most once, by a chain that has not seen it; got overlapping folds"
            )
            raise ValueError(message)
        if tested.size and not (tested.min() >= 0 and tested.max() < n_rows):
            message = f"out_of_fold names rows beyond the {n_rows} of the table"
            raise ValueError(message)
        trains, tests = zip(*((np.sort(train), np.sort(test)) for train, test in pairs), strict=True)
        return cls(trains, tests)


def out_of_fold_plan(
    out_of_fold: LibraryObject, X: AnyArray, y: Floats, *, n_classes: int, groups: AnyArray | None = None
) -> OutOfFoldPlan | None:
    """Return which chain sees which rows; None for no extra chains.

    Parameters
    ----------
    out_of_fold : int, splitter or iterable of (train, test)
        Number of folds; 0 for none. Folds depend on the content of the rows, not on their order: equal rows leave
        together.
    X : array of shape (n, columns)
        Checked numbers, or bins.
    y : array of shape (n,)
        Numbers, or class codes.
    n_classes : int
        0 for regression. Folds are stratified by class.
    groups : array of shape (n,), optional
        Rows of one group leave together.
    """
    if isinstance(out_of_fold, numbers.Integral) and not isinstance(out_of_fold, bool):
        n_folds = int(out_of_fold)
        if n_folds == 0:
            return None
        if not _MIN_FOLDS <= n_folds <= _MAX_FOLDS:
            message = f"out_of_fold must be 0, or a number of folds from {_MIN_FOLDS} to {_MAX_FOLDS}; got {n_folds}"
            raise ValueError(message)
        fold = (
            _content_folds(X, y, n_folds, n_classes) if groups is None else _group_folds(y, groups, n_folds, n_classes)
        )
        if len(np.unique(fold[fold != _NEVER])) < n_folds:
            message = f"out_of_fold={n_folds} needs at least {n_folds} distinct rows or groups; use out_of_fold=0"
            raise ValueError(message)
        return OutOfFoldPlan.of_folds(fold)
    splits = out_of_fold.split(np.zeros((len(y), 1)), y, groups) if hasattr(out_of_fold, "split") else out_of_fold
    if isinstance(splits, str) or not isinstance(splits, Iterable):
        message = (
            f"out_of_fold must be 'auto', a number of folds, a splitter or (train, test) pairs; got {out_of_fold!r}"
        )
        raise ValueError(message)  # noqa: TRY004 (text is a wrong value as well as a wrong type)
    plan = OutOfFoldPlan.of_splits(splits, len(y))
    for number, train in enumerate(plan.trains):
        if n_classes and len(np.unique(y[train])) < n_classes:
            message = f"the rows that chain {number} of out_of_fold is trained on lack a class; stratify the folds"
            raise ValueError(message)
    return plan


def _content_folds(X: AnyArray, y: Floats, n_folds: int, n_classes: int) -> Integers:
    """Return folds of about equal numbers of distinct rows, stratified by class, from a hash of each row."""
    table = np.ascontiguousarray(X)
    if table.dtype != np.uint8:
        table = table.astype(np.float64) + 0.0  # turns -0.0 into 0.0
        table[np.isnan(table)] = np.nan  # one bit pattern for all missing values
    target = np.ascontiguousarray(y, dtype=np.float64)[:, np.newaxis]
    content = np.concatenate([table.view(np.uint8), target.view(np.uint8)], axis=1)
    _, distinct = np.unique(native().hash_rows(content), return_inverse=True)  # in the order of the hashes: at random
    if not n_classes:
        return distinct % n_folds
    fold = np.full(len(y), _NEVER, dtype=np.int64)
    for code in range(n_classes):
        rows = np.flatnonzero(y == code)
        kinds, rank = np.unique(distinct[rows], return_inverse=True)
        if len(kinds) >= n_folds:  # rows of rarer classes stay in all chains, which could not learn the class otherwise
            fold[rows] = (rank + code) % n_folds
    return fold


def _group_folds(y: Floats, groups: AnyArray, n_folds: int, n_classes: int) -> Integers:
    """Return folds of whole groups, of about equal size."""
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold  # noqa: PLC0415 (slow, and needed by few users)

    found = len(np.unique(groups))
    if found < n_folds:
        message = f"out_of_fold={n_folds} needs at least {n_folds} groups; got {found}"
        raise ValueError(message)
    splitter = StratifiedGroupKFold(n_folds) if n_classes else GroupKFold(n_folds)
    fold = np.empty(len(y), dtype=np.int64)
    for number, (train, test) in enumerate(splitter.split(y[:, np.newaxis], y, groups)):
        fold[test] = number if not n_classes or len(np.unique(y[train])) == n_classes else _NEVER
    return fold
