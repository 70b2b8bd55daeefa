"""The rows that the rows of a stream are ranked among: reference rows, and those before them in the stream."""

import numpy as np

from epiboost._typing import AnyArray, Floats, Integers

_MOST_ROWS = 10_000  # remembered
_MOST_CODES = 1000  # categories with larger codes count as one, which bounds time and memory
BLOCK_ROWS = 128  # compared with each other pair by pair


class Memory:
    """The rows that new rows are ranked among.

    The numbers are kept sorted as they were at some row, with the rows that came and left since. These are few, and
    sorted in when they are more than a block.
    """

    came: Floats
    left: Floats

    def __init__(self, reference: Floats, is_categorical: AnyArray, rng: np.random.Generator) -> None:
        self.is_categorical = is_categorical
        self.rng = rng
        self.n_rows = len(reference)
        self.rows = np.empty((_MOST_ROWS, len(is_categorical)))
        self.rows[: self.n_rows] = without_nan(reference, is_categorical)
        self.counts = [_count(values) for values in self.rows[: self.n_rows, is_categorical].T]
        self._sort()

    def p_values(self, rows: Floats, ties: Floats) -> Floats:
        """Return the conformal p-values of rows, shape (n, d), each among the rows before it; and remember the rows.

        Parameters
        ----------
        rows, ties : array of shape (n, d)
            The rows, and numbers between 0 and 1 that order equal values.
        """
        rows = without_nan(rows, self.is_categorical)
        n_compared = np.minimum(self.n_rows + np.arange(len(rows)), _MOST_ROWS) + 1.0
        left = self._remember(rows)
        ranks = np.empty_like(rows)
        is_number = ~self.is_categorical
        smaller, equal = self._rank_numbers(rows[:, is_number].T, left[:, is_number].T)
        ranks[:, is_number] = smaller.T + ties[:, is_number] * equal.T
        for index, column in enumerate(np.flatnonzero(self.is_categorical)):
            rarer, equal = self._rank_categories(index, rows[:, column], left[:, column])
            ranks[:, column] = rarer + ties[:, column] * equal
        if self.came.shape[1] >= BLOCK_ROWS:
            self._sort()
        return ranks / n_compared[:, None]

    def _remember(self, rows: Floats) -> Floats:
        """Remember rows; return the row that was forgotten after each, NaN if none, shape (n, d)."""
        left = np.full_like(rows, np.nan)
        n_free = min(_MOST_ROWS - self.n_rows, len(rows))
        self.rows[self.n_rows : self.n_rows + n_free] = rows[:n_free]
        self.n_rows += n_free
        slots = (self.rng.random(len(rows) - n_free) * (_MOST_ROWS + 1)).astype(np.int64)
        for position, slot in enumerate(slots, start=n_free):
            if slot == _MOST_ROWS:  # the new row itself
                left[position] = rows[position]
            else:
                left[position] = self.rows[slot]
                self.rows[slot] = rows[position]
        return left

    def _rank_numbers(self, numbers: Floats, left: Floats) -> tuple[Integers, Integers]:
        """Return how many remembered numbers are smaller than each number, and how many are equal, itself included.

        All arrays have the shape (columns, n).
        """
        n_since, n_new = self.came.shape[1], numbers.shape[1]
        self.came = np.concatenate([self.came, numbers], axis=1)
        self.left = np.concatenate([self.left, left], axis=1)
        smaller, reached = np.empty((2, *numbers.shape), dtype=np.int64)
        for column, values in enumerate(self.ascending):
            smaller[column] = np.searchsorted(values, numbers[column], side="left")
            reached[column] = np.searchsorted(values, numbers[column], side="right")
        is_before = np.arange(n_since + n_new) < n_since + np.arange(n_new)[:, None]
        came, left, numbers = self.came[:, None], self.left[:, None], numbers[:, :, None]
        smaller += _net(came < numbers, left < numbers, is_before)
        reached += _net(came <= numbers, left <= numbers, is_before)
        return smaller, reached - smaller + 1

    def _rank_categories(self, index: int, values: Floats, left: Floats) -> tuple[Integers, Integers]:
        """Return how many rows are of rarer categories than each row, and of equally frequent ones, itself included."""
        codes, each = values.astype(np.int64), np.arange(len(values))
        counts = self.counts[index]
        if codes.max() >= len(counts):
            counts = np.concatenate([counts, np.zeros(codes.max() + 1 - len(counts), dtype=np.int64)])
        changes = np.zeros((len(codes) + 1, len(counts)), dtype=np.int64)
        changes[each, codes] += 1
        has_left = ~np.isnan(left)
        changes[1:][has_left, left[has_left].astype(np.int64)] -= 1
        counts = counts + changes.cumsum(axis=0)
        self.counts[index], counts = counts[-1], counts[:-1]
        own = counts[each, codes][:, None]
        return (counts * (counts < own)).sum(axis=1), (counts * (counts == own)).sum(axis=1)

    def _sort(self) -> None:
        numbers = self.rows[: self.n_rows, ~self.is_categorical].T
        self.ascending = np.sort(numbers, axis=1)
        self.came, self.left = np.empty((len(numbers), 0)), np.empty((len(numbers), 0))


def sample_reference(reference: Floats, rng: np.random.Generator) -> Floats:
    """Return the reference rows, or as many as are remembered, drawn at random."""
    if len(reference) <= _MOST_ROWS:
        return reference
    return reference[rng.choice(len(reference), _MOST_ROWS, replace=False)]


def without_nan(rows: Floats, is_categorical: AnyArray) -> Floats:
    """Return rows whose missing numbers are infinite, and whose codes of categories start at zero, for missing."""
    codes = np.where(np.isnan(rows), 0.0, np.minimum(rows + 2.0, _MOST_CODES))
    return np.where(is_categorical, codes, np.where(np.isnan(rows), np.inf, rows))


def _count(codes: Floats) -> Integers:
    return np.bincount(codes.astype(np.int64))


def _net(came: AnyArray, left: AnyArray, is_before: AnyArray) -> Integers:
    """Return how many rows before each row came with a true value, less how many left with one."""
    return np.asarray((came & is_before).sum(axis=-1) - (left & is_before).sum(axis=-1), dtype=np.int64)
