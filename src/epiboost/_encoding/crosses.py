"""Selection of feature crosses for target encoding.

A feature cross of two or three columns, at least one of them categorical, gets target statistics of its joint values.
Trees find interactions of columns with few values by themselves. A cross is useful if it has many values and the target
depends on them in a way that trees on the single columns miss. So crosses are scored on out-of-fold residuals of such
trees: the ordered mean of the residuals over the joint values must predict the residuals, and better than that of fewer
columns.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from epiboost._encoding.target_statistics import ordered_means
from epiboost._typing import Floats, Integers

MayCross: TypeAlias = Callable[[Collection[int]], bool]
"""Tells whether the columns of these indices may be crossed."""

MAX_ROWS = 50_000
"""Number of rows on which crosses are scored."""

_ORDERS = 4  # random orders per score: with one, half of the choice would be chance
_MAX_RESCORED = 60  # crosses that are best in one order and are scored in all of them
_MAX_PAIRS = 20
_MAX_TRIPLES = 5
_MAX_COLUMNS = 48  # all pairs of these are scored
_MAX_EXTENDED = 8  # pairs that are extended by a third column
_MIN_VALUES = 200  # with fewer joint values, trees find the interaction themselves
_MIN_GAIN = 10.0  # in variances of the residuals; chance gives about one
_MIN_GAIN_SHARE = 0.001  # of the total variance; less is not worth a column
_ROWS_PER_TRIPLE = 5.0  # on average: statistics of fewer rows are too noisy
_TOLERANCE = 0.05  # relative difference at which two crosses count as equal
_MAX_KEYS = 1 << 20  # size of an array that is indexed by key; larger keys are renumbered


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A column that may become part of a cross.

    Attributes
    ----------
    column : int
        Index of the column.
    codes : array of shape (n,)
        Codes of its values, from 0.
    size : int
        Number of codes.
    is_number : bool
        Whether the codes are intervals of a numeric column.
    """

    column: int
    codes: Integers
    size: int
    is_number: bool = False

    def may_pair(self, other: "Candidate") -> bool:
        """Return whether a pair has enough values and is not of two numeric columns, which trees can split."""
        return self.size * other.size > _MIN_VALUES and not (self.is_number and other.is_number)


@dataclass(frozen=True, slots=True, eq=False)
class _Cross:
    """A feature cross and its gain."""

    parts: tuple[Candidate, ...]
    n_values: int
    gain: float

    @property
    def columns(self) -> tuple[int, ...]:
        return tuple(part.column for part in self.parts)

    def keys(self) -> Integers:
        """Return one key per row for the joint values."""
        keys = joint_keys([part.codes for part in self.parts], [part.size for part in self.parts])
        return np.unique(keys, return_inverse=True)[1] if keys.max() >= _MAX_KEYS else keys

    def is_redundant_with(self, other: "_Cross") -> bool:
        """Return whether the crosses differ in one column, and these two columns nearly determine each other."""
        only_self, only_other = set(self.parts) - set(other.parts), set(other.parts) - set(self.parts)
        if len(self.parts) != len(other.parts) or len(only_self) != 1:
            return False
        if not np.allclose([self.n_values, self.gain], [other.n_values, other.gain], rtol=_TOLERANCE):
            return False
        one, two = only_self.pop(), only_other.pop()
        joint = len(np.unique(joint_keys([one.codes, two.codes], [one.size, two.size])))
        return joint <= (1.0 + _TOLERANCE) * max(len(np.unique(one.codes)), len(np.unique(two.codes)))


def joint_keys(codes: Sequence[Integers], sizes: Sequence[int]) -> Integers:
    """Return one key per row for its codes in several columns.

    >>> joint_keys([np.array([0, 1, 1]), np.array([2, 0, 2])], [2, 3]).tolist()
    [2, 3, 5]
    """
    keys = codes[0].astype(np.int64)
    for code, size in zip(codes[1:], sizes[1:], strict=True):
        keys = keys * size + code
    return keys


def screen_columns(candidates: Sequence[Candidate], target: Floats, weight: Floats) -> list[Candidate]:
    """Return the columns that explain most of the target, of those that may pair; rows are in random order."""
    prior = float(np.average(target, weights=weight))
    in_order, deviations = np.arange(len(target)), (target - prior) ** 2
    scored = []
    for one in candidates:
        if any(one.may_pair(other) for other in candidates if other is not one):
            statistic = ordered_means(one.codes, target, weight, in_order, prior=prior)
            explained = float((weight * (deviations - (target - statistic) ** 2)).sum())
            scored.append((-explained, one.column, one))
    return [one for _, _, one in sorted(scored, key=lambda entry: entry[:2])[:_MAX_COLUMNS]]


def all_may_cross(_columns: Collection[int]) -> bool:
    """Return that these columns may be crossed."""
    return True


def select_crosses(
    candidates: Sequence[Candidate],
    residuals: Floats,
    weight: Floats,
    may_cross: MayCross = all_may_cross,
) -> list[tuple[int, ...]]:
    """Return the column indices of useful crosses, best first.

    Parameters
    ----------
    candidates : sequence of Candidate
    residuals, weight : arrays of shape (n,)
        Out-of-fold residuals and weights of the rows, which are in random order.
    may_cross : callable
        Whether the columns of these indices may be crossed.
    """
    weight = weight * (weight.sum() / (weight**2).sum())  # sums to the effective number of rows
    scorer = _CrossScorer(residuals, weight)
    min_gain = max(_MIN_GAIN, _MIN_GAIN_SHARE * float(weight.sum()))
    max_values = float(weight.sum()) / _ROWS_PER_TRIPLE
    single = {one: scorer.gain(one.codes, _ORDERS) for one in candidates}
    pairs = [
        pair
        for pair in scorer.score(_pairs(candidates, may_cross))
        if pair.gain > max(min_gain, *(single[p] for p in pair.parts))
    ]
    pairs = _select_best(pairs, _MAX_PAIRS)
    extended = dict.fromkeys(
        parts for pair in pairs[:_MAX_EXTENDED] for parts in _extensions(pair, candidates, may_cross)
    )
    triples = [
        one
        for one in scorer.score(extended)
        if one.n_values < max_values
        and one.gain > min_gain + max(pair.gain for pair in pairs if set(pair.parts) <= set(one.parts))
    ]
    return [one.columns for one in [*pairs, *_select_best(triples, _MAX_TRIPLES)]]


class _CrossScorer:
    """Computes the gain of crosses: the part of the residuals that their ordered means explain."""

    def __init__(self, residuals: Floats, weight: Floats) -> None:
        self._residuals, self._weight = residuals, weight
        self._weighted = weight * residuals
        self._variance = float(np.average(residuals**2, weights=weight))
        in_order, random = np.arange(len(residuals)), np.random.default_rng(0)
        self._orders = [in_order, *(random.permutation(in_order) for _ in range(_ORDERS - 1))]

    def score(self, all_parts: Iterable[tuple[Candidate, ...]]) -> list[_Cross]:
        """Return the best crosses with their gains; all are scored in one order of the rows, the best in several."""
        crosses = sorted((self._quick_score(parts) for parts in all_parts), key=lambda one: -one.gain)[:_MAX_RESCORED]
        return [replace(one, gain=self.gain(one.keys(), _ORDERS)) for one in crosses if one.gain > 0.0]

    def _quick_score(self, parts: tuple[Candidate, ...]) -> _Cross:
        cross = _Cross(parts, 0, 0.0)
        keys = cross.keys()
        n_values = int(np.count_nonzero(np.bincount(keys)))
        if n_values <= max(_MIN_VALUES, *(part.size for part in parts)):  # few, or one column determines the others
            return cross
        return replace(cross, n_values=n_values, gain=self.gain(keys))

    def gain(self, keys: Integers, n_orders: int = 1) -> float:
        """Return how much of the residuals a statistic explains, in variances; negative if it is misleading."""
        return sum(self._gain_in(order, keys) for order in self._orders[:n_orders]) / n_orders

    def _gain_in(self, order: Integers, keys: Integers) -> float:
        statistic = ordered_means(keys, self._residuals, self._weight, order, prior=0.0)
        covariance = float((self._weighted * statistic).sum())  # not a dot product: BLAS would start threads
        variance = float((self._weight * statistic**2).sum())
        scale = variance * self._variance
        return covariance * abs(covariance) / scale if scale > 0 else 0.0


def _pairs(candidates: Sequence[Candidate], may_cross: MayCross) -> Iterator[tuple[Candidate, ...]]:
    for position, one in enumerate(candidates):
        for other in candidates[:position]:
            if one.may_pair(other) and may_cross((one.column, other.column)):
                yield _by_column(one, other)


def _extensions(pair: _Cross, candidates: Sequence[Candidate], may_cross: MayCross) -> Iterator[tuple[Candidate, ...]]:
    for one in candidates:
        if one in pair.parts or (one.is_number and any(part.is_number for part in pair.parts)):
            continue
        if may_cross((*pair.columns, one.column)):
            yield _by_column(*pair.parts, one)


def _by_column(*parts: Candidate) -> tuple[Candidate, ...]:
    return tuple(sorted(parts, key=lambda part: part.column))


def _select_best(crosses: Iterable[_Cross], max_count: int) -> list[_Cross]:
    """Return the crosses of largest gain, without those that are redundant with a better one."""
    best: list[_Cross] = []
    for one in sorted(crosses, key=lambda one: (-one.gain, one.columns)):
        if not any(one.is_redundant_with(other) for other in best):
            best.append(one)
    return best[:max_count]
