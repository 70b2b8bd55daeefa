"""Which columns, at least one of them of categories, are worth a statistic of their values together.

Trees find by themselves how columns of few values act together. Pairs and triples pay where their values are many and
the target depends on them in a way that trees of the single columns do not find: the ordered statistic of what such
trees leave, taken over the values together, must foretell what is left, better than that of fewer columns.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from epiboost._encoding.target_statistics import ordered
from epiboost._typing import Floats, Integers

MOST_ROWS = 50_000
"""Rows on which combinations are tried."""

_ORDERS = 4  # of the rows: by one alone, the choice would be half chance
_MOST_LOOKED_AT = 60  # that seemed best in one order
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

    def keys(self) -> Integers:
        """Return one number for each row's values."""
        keys = joint_keys([part.codes for part in self.parts], [part.size for part in self.parts])
        return np.unique(keys, return_inverse=True)[1] if keys.max() >= _MOST_CELLS else keys

    def is_like(self, other: "_Found") -> bool:
        """Say whether the other has nearly the same values: where they differ, one column tells the other."""
        own, others = (set(one.parts) - set(two.parts) for one, two in ((self, other), (other, self)))
        if len(self.parts) != len(other.parts) or len(own) != 1:
            return False
        if not np.allclose([self.n_values, self.gain], [other.n_values, other.gain], rtol=_NEARLY):
            return False
        one, two = own.pop(), others.pop()
        together = len(np.unique(joint_keys([one.codes, two.codes], [one.size, two.size])))
        return together <= (1.0 + _NEARLY) * max(len(np.unique(one.codes)), len(np.unique(two.codes)))


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
            told.append((-float((weight * (off - (target - statistic) ** 2)).sum()), one.column, one))
    return [one for _, _, one in sorted(told, key=lambda entry: entry[:2])[:_MOST_COLUMNS]]


def choose_combinations(candidates: Sequence[Candidate], rest: Floats, weight: Floats) -> list[tuple[int, ...]]:
    """Return the positions of the columns that pay together, best first.

    Parameters
    ----------
    candidates : sequence of Candidate
    rest, weight : arrays of shape (n,)
        What trees leave of the target, and the weight of the rows, which stand in random order.
    """
    weight = weight * (weight.sum() / (weight**2).sum())  # in rows: those that few heavy ones are worth are few
    judge = _Judge(rest, weight)
    least = max(_LEAST_GAIN, _LEAST_SHARE * float(weight.sum()))
    most_values = float(weight.sum()) / _ROWS_A_TRIPLE
    alone = {one: judge.gain(one.codes, _ORDERS) for one in candidates}
    pairs = [
        pair for pair in judge.looked_at(_pairs(candidates)) if pair.gain > max(least, *(alone[p] for p in pair.parts))
    ]
    pairs = _best(pairs, _MOST)
    extended = dict.fromkeys(parts for pair in pairs[:_MOST_EXTENDED] for parts in _extended(pair, candidates))
    triples = [
        one
        for one in judge.looked_at(extended)
        if one.n_values < most_values
        and one.gain > least + max(pair.gain for pair in pairs if set(pair.parts) <= set(one.parts))
    ]
    return [one.columns for one in [*pairs, *_best(triples, _MOST_TRIPLES)]]


class _Judge:
    """Says what combinations would gain."""

    def __init__(self, rest: Floats, weight: Floats) -> None:
        self._rest, self._weight = rest, weight
        self._weighted = weight * rest
        self._variance = float(np.average(rest**2, weights=weight))
        in_order, random = np.arange(len(rest)), np.random.default_rng(0)
        self._orders = [in_order, *(random.permutation(in_order) for _ in range(_ORDERS - 1))]

    def looked_at(self, all_parts: Iterable[tuple[Candidate, ...]]) -> list[_Found]:
        """Return what combinations gain, those that seem best: one order of the rows is a quick look, several tell."""
        found = sorted((self._quick_look(parts) for parts in all_parts), key=lambda one: -one.gain)[:_MOST_LOOKED_AT]
        return [replace(one, gain=self.gain(one.keys(), _ORDERS)) for one in found if one.gain > 0.0]

    def _quick_look(self, parts: tuple[Candidate, ...]) -> _Found:
        found = _Found(parts, 0, 0.0)
        keys = found.keys()
        n_values = int(np.count_nonzero(np.bincount(keys)))
        if n_values <= max(_LEAST_VALUES, *(part.size for part in parts)):  # few, or one column tells the others
            return found
        return replace(found, n_values=n_values, gain=self.gain(keys))

    def gain(self, keys: Integers, n_orders: int = 1) -> float:
        """Return how much of the rest a statistic explains, in variances of the rest; negative if it misleads."""
        return sum(self._gain_in(order, keys) for order in self._orders[:n_orders]) / n_orders

    def _gain_in(self, order: Integers, keys: Integers) -> float:
        statistic = ordered(keys, self._rest, self._weight, order, prior=0.0)
        together = float((self._weighted * statistic).sum())  # not by products of vectors: these start threads
        own = float((self._weight * statistic**2).sum())
        return together * abs(together) / (own * self._variance) if own * self._variance > 0 else 0.0


def _pairs(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, ...]]:
    for place, one in enumerate(candidates):
        for other in candidates[:place]:
            if one.may_pair(other):
                yield _by_column(one, other)


def _extended(pair: _Found, candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, ...]]:
    for one in candidates:
        if one not in pair.parts and not (one.is_number and any(part.is_number for part in pair.parts)):
            yield _by_column(*pair.parts, one)


def _by_column(*parts: Candidate) -> tuple[Candidate, ...]:
    return tuple(sorted(parts, key=lambda part: part.column))


def _best(found: Iterable[_Found], most: int) -> list[_Found]:
    """Return the best of those that differ."""
    best: list[_Found] = []
    for one in sorted(found, key=lambda one: (-one.gain, one.columns)):
        if not any(one.is_like(other) for other in best):
            best.append(one)
    return best[:most]
