"""Distinct rows in canonical order, so that measurements do not depend on the order of the rows.

Equal rows are merged into one with the sum of their weights: a row of weight two is measured as the row twice.
"""

from dataclasses import dataclass, replace

import numpy as np

from epiboost._binning.bins import BinnedTable
from epiboost._boosting.out_of_fold import OutOfFoldPlan, content_ranks
from epiboost._inputs.dataset import Dataset
from epiboost._typing import AnyArray, Floats, Integers


def numbers_of(table: AnyArray | BinnedTable) -> AnyArray:
    """Return a table as an engine's forest predicts it."""
    return table.numbers() if isinstance(table, BinnedTable) else table


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRows:
    """The rows of a table without repetitions.

    Attributes
    ----------
    first : integer array of shape (k,)
        The first copy of each distinct row, in canonical order.
    number : integer array of shape (n,)
        Which distinct row each row is.
    """

    first: Integers
    number: Integers

    @classmethod
    def of(cls, plan: OutOfFoldPlan, X: AnyArray, data: Dataset) -> "DistinctRows":
        """Return the distinct rows; copies that a plan leaves out at different times stay apart."""
        fold = np.full(len(data.y), -1, dtype=np.int64)
        for number, test in enumerate(plan.tests):
            fold[test] = number
        content = content_ranks(X, data.y)
        if data.offset is not None:
            parts = np.column_stack([content, data.offset])
            content = np.unique(parts, axis=0, return_inverse=True)[1].ravel()
        ranks = content * (len(plan.tests) + 1) + fold + 1
        _, first, number = np.unique(ranks, return_index=True, return_inverse=True)
        return cls(first, number)

    def of_plan(self, plan: OutOfFoldPlan) -> OutOfFoldPlan:
        """Return the plan of the distinct rows."""
        trains, tests = ([self._numbers_of(rows) for rows in parts] for parts in (plan.trains, plan.tests))
        return replace(plan, trains=tuple(trains), tests=tuple(tests), reduced=self._numbers_of(plan.reduced))

    def of_data(self, data: Dataset) -> Dataset:
        """Return the distinct rows of a dataset."""
        weight: Floats = np.bincount(self.number, weights=data.weight, minlength=len(self.first)).astype(np.float64)
        return replace(data.take(self.first), weight=weight)

    def _numbers_of(self, rows: Integers) -> Integers:
        """Return which distinct rows these are, in ascending order; without sorting, which took longer than hashing."""
        return np.flatnonzero(np.bincount(self.number[rows], minlength=len(self.first)))
