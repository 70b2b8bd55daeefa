"""Which columns, at least one of them of categories, are worth a statistic of their values together.

Trees find by themselves how columns of few values act together. Pairs and triples pay where their values are many and
the target depends on them in a way that trees of the single columns do not find: the ordered statistic of what such
trees leave, taken over the values together, must foretell what is left, better than that of fewer columns.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from epiboost._typing import Floats, Integers
from epiboost.target_statistics import ordered

MOST_ROWS = 50_000
"""Rows on which combinations are tried."""

_MOST = 20
_MOST_TRIPLES = 5
_MOST_COLUMNS = 48  # of which all pairs are tried
_MOST_EXTENDED = 8  # pairs that a third column is tried with
_LEAST_VALUES = 200  # with fewer, trees do without
_LEAST_GAIN = 10.0  # in variances of what is left: chance gives about one
_LEAST_SHARE = 0.001  # of all that is left: less is not worth a column
_ROWS_A_TRIPLE = 5.0  # on average: the statistics of fewer are too noisy
_NEARLY = 0.05
_MOST_CELLS = 1 << 20  # of a table by key; where there are more keys, those that occur are numbered


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A column that may be combined.

    Attributes
    ----------
    column : int
        Its position.
    codes : array of shape (n,)
        Its values, from 0.
    size : int
        How many there are.
    is_number : bool
        Whether they are intervals of numbers.
    """

    column: int
    codes: Integers
    size: int
    is_number: bool = False

    def may_pair(self, other: "Candidate") -> bool:
        """Say whether a pair has values enough, and is not of two numbers, which trees cut by themselves."""
        return self.size * other.size > _LEAST_VALUES and not (self.is_number and other.is_number)


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A combination and what it would gain."""

    parts: tuple[Candidate, ...]
    n_values: int
    gain: float

    @property
    def columns(self) -> tuple[int, ...]:
        return tuple(part.column for part in self.parts)

    def is_like(self, other: "_Found") -> bool:
        """Say whether the other has nearly the same values, as where columns tell each other."""
        n_shared = len(set(self.columns) & set(other.columns))
        if len(self.columns) != len(other.columns) or n_shared < len(self.columns) - 1:
            return False
        return bool(np.allclose([self.n_values, self.gain], [other.n_values, other.gain], rtol=_NEARLY))


def joint_keys(codes: Sequence[Integers], sizes: Sequence[int]) -> Integers:
    """Return one number for each row's codes of several columns.

    >>> joint_keys([np.array([0, 1, 1]), np.array([2, 0, 2])], [2, 3]).tolist()
    [2, 3, 5]
    """
    keys = codes[0].astype(np.int64)
    for own, size in zip(codes[1:], sizes[1:], strict=True):
        keys = keys * size + own
    return keys


def worth_trying(candidates: Sequence[Candidate], target: Floats, weight: Floats) -> list[Candidate]:
    """Return the columns that tell most of the target, of those that may pair; rows stand in random order."""
    prior = float(np.average(target, weights=weight))
    in_order, off = np.arange(len(target)), (target - prior) ** 2
    told = []
    for one in candidates:
        if any(one.may_pair(other) for other in candidates if other is not one):
            statistic = ordered(one.codes, target, weight, in_order, prior=prior)
            told.append((-float(weight @ (off - (target - statistic) ** 2)), one.column, one))
    return [one for _, _, one in sorted(told, key=lambda entry: entry[:2])[:_MOST_COLUMNS]]


def choose_combinations(candidates: Sequence[Candidate], rest: Floats, weight: Floats) -> list[tuple[int, ...]]:
    """Return the positions of the columns that pay together, best first.

    Parameters
    ----------
    candidates : sequence of Candidate
    rest, weight : arrays of shape (n,)
        What trees leave of the target, and the weight of the rows, which stand in random order.
    """
    least = max(_LEAST_GAIN, _LEAST_SHARE * float(weight.sum()))
    most_values = float(weight.sum()) / _ROWS_A_TRIPLE
    alone = {one: _gain(one.codes, rest, weight) for one in candidates}
    pairs = _best(
        pair
        for pair in _pairs(candidates, rest, weight)
        if pair.gain > max(least, *(alone[part] for part in pair.parts))
    )
    triples = []
    for pair in pairs[:_MOST_EXTENDED]:
        extended = _extended(pair, candidates, rest, weight)
        triples += [one for one in extended if one.gain > least + pair.gain and one.n_values < most_values]
    return [one.columns for one in [*pairs, *_best(triples)[:_MOST_TRIPLES]]]


def _pairs(candidates: Sequence[Candidate], rest: Floats, weight: Floats) -> Iterator[_Found]:
    for place, one in enumerate(candidates):
        for other in candidates[:place]:
            if one.may_pair(other):
                yield _tried((one, other), rest, weight)


def _extended(pair: _Found, candidates: Sequence[Candidate], rest: Floats, weight: Floats) -> Iterator[_Found]:
    for one in candidates:
        if one not in pair.parts and not (one.is_number and any(part.is_number for part in pair.parts)):
            yield _tried((*pair.parts, one), rest, weight)


def _best(found: Iterable[_Found]) -> list[_Found]:
    """Return the best of those that differ."""
    best: list[_Found] = []
    for one in sorted(found, key=lambda one: (-one.gain, one.columns)):
        if not any(one.is_like(other) for other in best):
            best.append(one)
    return best[:_MOST]


def _tried(parts: Sequence[Candidate], rest: Floats, weight: Floats) -> _Found:
    parts = tuple(sorted(parts, key=lambda part: part.column))
    keys = joint_keys([part.codes for part in parts], [part.size for part in parts])
    if keys.max() >= _MOST_CELLS:
        keys = np.unique(keys, return_inverse=True)[1]
    n_values = int(np.count_nonzero(np.bincount(keys)))
    if n_values <= max(_LEAST_VALUES, *(part.size for part in parts)):  # few, or one column tells the others
        return _Found(parts, n_values, 0.0)
    return _Found(parts, n_values, _gain(keys, rest, weight))


def _gain(keys: Integers, rest: Floats, weight: Floats) -> float:
    """Return how much of the rest a statistic explains, in variances of the rest; negative if it misleads."""
    statistic = ordered(keys, rest, weight, np.arange(len(rest)), prior=0.0)
    together, own = float(weight @ (statistic * rest)), float(weight @ statistic**2)
    variance = float(np.average(rest**2, weights=weight))
    return together * abs(together) / (own * variance) if own * variance > 0 else 0.0
