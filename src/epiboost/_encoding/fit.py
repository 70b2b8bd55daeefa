"""How to encode the categories of a table, learned from its training rows; see `encoding` for what becomes of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._encoding.crosses import MOST_ROWS, Candidate, choose_combinations, worth_trying
from epiboost._encoding.encoding import Encoding
from epiboost._encoding.intervals import Cuts
from epiboost._encoding.lookup import Group, codes_of, keys_of
from epiboost._encoding.low_cardinality import frequency, orders_of_few
from epiboost._encoding.target_statistics import ordered, whole
from epiboost._typing import AnyArray, Bytes, Floats, Integers

_FEW_VALUES = 24
_ROWS_FOR_FEW = 100  # a value, on average
_MOST_CLASSES = 8  # that have a statistic of their own


class Left(Protocol):
    """Says what trees leave of a target, given a table of numbers whose rows stand in random order."""

    def __call__(self, table: Floats, target: Floats, weight: Floats, *, is_class: bool) -> Floats | None:
        """Return what is left, shape (n,), or None if that cannot be said."""


def fit_encoding(
    X: AnyArray,
    target: Floats,
    weight: Floats,
    sizes: Sequence[int],
    *,
    bins: Bins,
    binned: Bytes,
    n_classes: int,
    seed: int,
    n_orders: int,
    left: Left,
) -> tuple[Encoding, Iterator[Floats]]:
    """Learn how to encode a table, and encode it for training.

    Parameters
    ----------
    X : array of shape (n, features)
        Numbers, and codes of categories: -1 for unseen ones, NaN for missing ones.
    target : array of shape (n,)
        Standardised values, or class numbers.
    weight : array of shape (n,)
    sizes : sequence of int
        How many codes each column has, the one for missing values included; 0 for a column of numbers.
    bins : Bins
        Of the columns of numbers.
    binned : array of shape (n, p)
        The bins of those columns. Nothing else of their numbers matters to what is learned.
    n_classes : int
        0 for regression.
    seed : int
        Names the random orders.
    n_orders : int
        How many are needed.
    left : callable
        Says what trees leave of a target: by that it is judged which combinations of columns pay.

    Returns
    -------
    Encoding
    tables : iterator of arrays of shape (n, n_encoded)
        One for each random order of the rows.
    """
    targets = _targets(target, weight, n_classes)
    fit = _Fit(X, targets, weight, np.asarray(sizes, dtype=np.int64), regression=n_classes == 0)
    cuts = Cuts.fit(bins, binned, weight, np.flatnonzero(fit.sizes == 0).astype(np.int64))
    return fit.result(seed, n_orders, cuts, binned, left)


@dataclass(frozen=True, slots=True)
class _Part:
    """What training rows become by one group of columns.

    Attributes
    ----------
    group : array of shape (n,)
        The place of each row's value.
    n_statistics : int
        How many targets have an ordered mean.
    has_spread : bool
        Whether there is an ordered mean of how far off targets lie.
    fixed : array of shape (values, columns)
        What is the same in every order of the rows.
    """

    group: Integers
    n_statistics: int
    has_spread: bool
    fixed: Floats


class _Fit:
    """The work of `fit_encoding`."""

    def __init__(self, X: AnyArray, targets: Floats, weight: Floats, sizes: Integers, *, regression: bool) -> None:
        self.X, self.targets, self.weight, self.sizes, self.regression = X, targets, weight, sizes, regression
        self.codes = codes_of(X, sizes)
        self.priors = np.average(targets, axis=0, weights=weight).tolist()
        self.groups: list[Group] = []
        self.parts: list[_Part] = []

    def result(
        self, seed: int, n_orders: int, cuts: Cuts, binned: Bytes, left: Left
    ) -> tuple[Encoding, Iterator[Floats]]:
        random = np.random.default_rng(seed)
        order = random.permutation(len(self.X))
        plain: list[int] = np.flatnonzero(self.sizes == 0).tolist()
        large: list[int] = []
        for column in list(self.codes):
            kind = self._kind(int(self.sizes[column]) - 1)
            (plain if kind == "plain" else large).append(column)
            self._add((column,), kind, order)
        bare = [column for column in plain if self.sizes[column]]
        combinations = self._combinations(large, cuts, [binned, self.X[:, bare]], order, left)
        cuts = cuts.only(np.intersect1d(cuts.columns, np.array(sum(combinations, ()), dtype=np.int64)))
        sizes = self.sizes
        self.codes, self.sizes = self.codes | cuts.codes(self.X), cuts.sizes(sizes)
        for columns in combinations:
            self._add(columns, "together", order)
        encoding = Encoding(sizes, np.array(plain, dtype=np.int64), tuple(self.groups), cuts, seed)
        return encoding, self._tables(plain, order, random, n_orders)

    def _tables(
        self, plain: list[int], first: Integers, random: np.random.Generator, n_orders: int
    ) -> Iterator[Floats]:
        """Yield the table of each random order, of which one at a time is in memory."""
        for place in range(n_orders):
            order = random.permutation(len(self.X)) if place else first
            yield np.concatenate([self.X[:, plain], *self._columns(order)], axis=1, dtype=np.float64)

    def _columns(self, order: Integers) -> Iterator[Floats]:
        """Yield what the groups become in an order, arrays of shape (n, columns)."""
        for part in self.parts:
            for target, prior in zip(self.targets.T[: part.n_statistics], self.priors, strict=False):
                mean = ordered(part.group, target, self.weight, order, prior=prior)
                yield mean[:, np.newaxis]
            if part.has_spread:
                off, prior = self._off(mean)
                yield ordered(part.group, off, self.weight, order, prior=prior)[:, np.newaxis]
            yield part.fixed[part.group]

    def _kind(self, n_values: int) -> str:
        if n_values <= 2:  # noqa: PLR2004 (one split tells two values apart)
            return "plain"
        if n_values > _FEW_VALUES:
            return "many"
        return "few" if len(self.weight) >= _ROWS_FOR_FEW * n_values else "each"

    def _combinations(
        self, large: list[int], cuts: Cuts, plain: list[AnyArray], order: Integers, left: Left
    ) -> list[tuple[int, ...]]:
        """Return the columns that pay together, given those taken as they are; one of them may hold numbers."""
        rows = order[:MOST_ROWS]
        target, weight = self.targets[rows, 0], self.weight[rows]
        candidates = [Candidate(column, self.codes[column][rows], int(self.sizes[column])) for column in large]
        sizes = cuts.sizes(self.sizes)
        for column, codes in cuts.codes(self.X[rows]).items():
            candidates.append(Candidate(column, codes, int(sizes[column]), is_number=True))
        candidates = worth_trying(candidates, target, weight)
        if not candidates:
            return []
        alone = np.concatenate([*plain, *self._columns(order)], axis=1)[rows]
        rest = left(alone, target, weight, is_class=not self.regression)
        return [] if rest is None else choose_combinations(candidates, rest, weight)

    def _add(self, columns: tuple[int, ...], kind: str, order: Integers) -> None:
        distinct, group = np.unique(keys_of(columns, self.codes, self.sizes), return_inverse=True)
        rows = np.bincount(group, weights=self.weight, minlength=len(distinct)).astype(np.float64)
        counts = np.bincount(group, minlength=len(distinct)).astype(np.float64)  # weights may go with the target
        n_statistics = self.targets.shape[1] if kind in {"many", "together"} else 0
        values: list[Floats] = []
        for target, prior in zip(self.targets.T[:n_statistics], self.priors, strict=False):
            values.append(np.append(whole(group, target, self.weight, len(distinct), prior=prior), prior))
        has_spread = kind == "many" and self.regression
        if has_spread:
            values.append(self._spread(group, len(distinct), order))
        fixed: list[Floats] = []
        if kind == "few":
            fixed = orders_of_few(group, counts, self.targets, self.weight)
        elif kind == "each":
            fixed = list(np.eye(len(rows) + 1, len(rows)).T)
        elif kind in {"many", "together"}:
            fixed = [frequency(counts, unseen="middle" if kind == "many" else "none")]
        self.groups.append(Group(columns, distinct, rows, _stacked([*values, *fixed], len(distinct) + 1)))
        self.parts.append(_Part(group, n_statistics, has_spread, _stacked(fixed, len(distinct) + 1)))

    def _spread(self, group: Integers, n_values: int, order: Integers) -> Floats:
        """Return how far targets of each value lie off the mean that was expected of them."""
        mean = ordered(group, self.targets[:, 0], self.weight, order, prior=self.priors[0])
        off, prior = self._off(mean)
        return np.append(whole(group, off, self.weight, n_values, prior=prior), prior)

    def _off(self, mean: Floats) -> tuple[Floats, float]:
        """Return how far targets lie off what was expected of them, and that on average."""
        off = np.abs(self.targets[:, 0] - mean)
        return off, float(np.average(off, weights=self.weight))


def _stacked(columns: list[Floats], n_values: int) -> Floats:
    return np.stack(columns, axis=1) if columns else np.empty((n_values, 0))


def _targets(target: Floats, weight: Floats, n_classes: int) -> Floats:
    """Return what statistics are taken of, shape (n, k).

    Of many classes the most common have one each. The others are numbered from one, and the digits of their numbers to
    the base of two have one each: together these still tell one class from another.
    """
    if n_classes <= 2:  # noqa: PLR2004 (the share of one class is that of the other)
        return target[:, np.newaxis]
    own = target.astype(np.int64)
    ranked = np.argsort(-np.bincount(own, weights=weight, minlength=n_classes), kind="stable")
    number = np.zeros(n_classes, dtype=np.int64)
    number[ranked[_MOST_CLASSES:]] = np.arange(1, max(n_classes - _MOST_CLASSES, 0) + 1)
    digits = np.arange(int(number.max()).bit_length())
    common = own[:, np.newaxis] == ranked[:_MOST_CLASSES]
    return np.concatenate([common, number[own][:, np.newaxis] >> digits & 1], axis=1).astype(np.float64)
