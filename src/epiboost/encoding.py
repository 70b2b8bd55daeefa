"""Categories to numbers that trees can split on.

========================= ===========================================================================================
a column of               becomes
========================= ===========================================================================================
two values or fewer       itself
few values, many rows     two orders of its values, each of which has a bin of its own: by the mean target, where that
                          is more than chance, or else by name; and by how often they occur
few values, few rows      a column of zeros and ones for each value
many values               the ordered mean target of its value (see `target_statistics`), how often it occurs, and for
                          a regression how far off that mean the targets lie
========================= ===========================================================================================

Pairs and triples of columns that pay (see `combinations`), of which one may hold numbers (see `cuts`), get an ordered
mean target too, and how often they occur. A classification of more than two classes has a mean target a class, of its
most common classes, and one a digit of the others' numbers.

Training sees random orders of the rows, one a member; of large tables a few, which the members share. A row to be
predicted is encoded by all training rows. For a value that was not seen the statistic is the prior; an ensemble does
better, see `Encoding.lend`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from epiboost._typing import AnyArray, Bytes, Floats, Integers
from epiboost.binning import Bins
from epiboost.combinations import MOST_ROWS, Candidate, choose_combinations, worth_trying
from epiboost.cuts import Cuts
from epiboost.few_values import frequency, orders_of_few
from epiboost.groups import Group, codes_of, groups_from_file, groups_to_file, keys_of
from epiboost.target_statistics import ordered, whole

_FEW_VALUES = 24
_ROWS_FOR_FEW = 100  # a value, on average
_GOLDEN = (5.0**0.5 - 1.0) / 2.0  # steps of this length, modulo one, fill an interval evenly
_MOST_OF_ONE = 0.85  # of the draws: of ten members, at least one then draws another value
_MOST_CLASSES = 8  # that have a statistic of their own


class Left(Protocol):
    """Says what trees leave of a target, given a table of numbers whose rows stand in random order."""

    def __call__(self, table: Floats, target: Floats, weight: Floats, *, is_class: bool) -> Floats | None:
        """Return what is left, shape (n,), or None if that cannot be said."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a table with categories becomes one of numbers.

    Attributes
    ----------
    sizes : array of shape (features,)
        How many codes each column has, the one for missing values included; 0 for a column of numbers.
    plain : array of shape (p,)
        Positions of the columns that are taken as they are. They come first.
    groups : tuple of Group
        Columns and combinations of columns, in the order of what they become.
    cuts : Cuts
        Of the columns of numbers that stand in combinations.
    seed : int
        Names the random numbers of `lend`.
    """

    sizes: Integers
    plain: Integers
    groups: tuple[Group, ...]
    cuts: Cuts
    seed: int
    _drawn: dict[tuple[int, int], Integers] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def n_features(self) -> int:
        """How many columns a table must have."""
        return len(self.sizes)

    @property
    def n_encoded(self) -> int:
        """How many columns an encoded table has."""
        return len(self.plain) + sum(group.width for group in self.groups)

    def transform(self, X: AnyArray) -> tuple[Floats, AnyArray]:
        """Encode a table.

        Returns
        -------
        table : array of shape (n, n_encoded)
        unseen : array of bool, of shape (n,)
            Whether one of the row's categories was not seen in training.
        """
        codes, sizes = self._codes(X), self.cuts.sizes(self.sizes)
        table, unseen = np.empty((len(X), self.n_encoded), order="F"), np.zeros(len(X), dtype=bool)
        table[:, : len(self.plain)] = X[:, self.plain]
        end = len(self.plain)
        for group in self.groups:
            places = group.places(codes, sizes)
            begin, end = end, end + group.width
            for column, values in zip(range(begin, end), group.values.T, strict=True):
                table[:, column] = values[places]
            if len(group.columns) == 1:
                new = places == len(group.keys)
                unseen |= new
                if not group.width:  # a column of two values: the more common one
                    table[new, self._plain_place(group)] = self._plain_values(group)[group.rows.argmax()]
        return table, unseen

    def _codes(self, X: AnyArray) -> dict[int, Integers]:
        return codes_of(X, self.sizes) | self.cuts.codes(X)

    def lend(self, X: AnyArray, encoded: Floats, n_members: int) -> Iterator[Floats]:
        """Yield an encoded table as each of several members takes it: with known values in place of those unseen.

        What a new value means is a draw from what values mean. So every member draws the value of a known row, for each
        column its own: rows stand in the order of their values' statistics, and the members are spread evenly over
        them, the first ones in the same places whatever their number. They disagree as much as rows differ, and their
        mean is near the prior. The combinations of a new value stay unseen.

        Each table takes the place of the one before: array of shape (n, n_encoded).
        """
        loans = list(self._loans(codes_of(X, self.sizes), n_members))
        lent = np.array(encoded, order="F")
        for member in range(n_members):
            for column, rows, values in loans:
                lent[rows, column] = values[member]
            yield lent

    def _loans(self, codes: Mapping[int, Integers], n_members: int) -> Iterator[tuple[int, Integers, Floats]]:
        """Yield which column of which rows gets which value, one a member."""
        end = len(self.plain)
        for group in self.groups:
            begin, end = end, end + group.width
            if len(group.columns) > 1:
                return  # combinations come last
            rows = np.flatnonzero(group.places(codes, self.sizes) == len(group.keys)).astype(np.int64)
            if not len(rows):
                continue
            drawn = self._draw(group, n_members)
            for column, values in zip(range(begin, end), group.values.T, strict=True):
                yield column, rows, values[drawn]
            if not group.width:
                yield self._plain_place(group), rows, self._plain_values(group)[drawn]

    def _plain_place(self, group: Group) -> int:
        """Return where a column that is taken as it is stands in an encoded table."""
        return int(np.flatnonzero(self.plain == group.columns[0])[0])

    def _plain_values(self, group: Group) -> Floats:
        """Return the values of such a column: codes, and NaN for the one of missing values."""
        return np.where(group.keys == self.sizes[group.columns[0]] - 1, np.nan, group.keys)

    def _draw(self, group: Group, n_members: int) -> Integers:
        """Return the place of a known value for each member."""
        key = group.columns[0], n_members
        if key not in self._drawn:
            self._drawn[key] = self._fresh_draw(group, n_members)
        return self._drawn[key]

    def _fresh_draw(self, group: Group, n_members: int) -> Integers:
        order = np.argsort(group.values[:-1, 0], kind="stable") if group.width else np.arange(len(group.keys))
        share = np.cumsum(_shares(group.rows[order]))
        start = np.random.default_rng([self.seed, group.columns[0]]).uniform()
        place = (start + _GOLDEN * np.arange(n_members)) % 1.0
        drawn: Integers = order[np.minimum(np.searchsorted(share, place), len(order) - 1)]
        return drawn

    def to_file(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Return what a model file must hold."""
        arrays = {"category_sizes": self.sizes, "plain_columns": self.plain}
        return {"seed": self.seed}, arrays | groups_to_file(self.groups) | self.cuts.to_file()

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> "Encoding":
        """Build an encoding from a model file's parts; anything that does not fit together is a ValueError."""
        sizes, plain = arrays["category_sizes"], arrays["plain_columns"]
        for name, array in (("category_sizes", sizes), ("plain_columns", plain)):
            if array.dtype != np.int64 or array.ndim != 1 or (array < 0).any():
                message = f"{name} must be a row of whole numbers, none of them negative"
                raise ValueError(message)
        cuts = Cuts.from_file(arrays, sizes)
        groups = groups_from_file(arrays, cuts.sizes(sizes))
        single = [group.columns[0] for group in groups if len(group.columns) == 1]
        bare = [group.columns[0] for group in groups if not group.width]
        if single != np.flatnonzero(sizes).tolist() or sorted([*np.flatnonzero(sizes == 0), *bare]) != sorted(plain):
            message = "every column must be encoded once"
            raise ValueError(message)
        if type(header["seed"]) is not int or header["seed"] < 0:
            message = f"the seed must be a whole number of at least 0; got {header['seed']!r}"
            raise ValueError(message)
        return cls(sizes, plain, groups, cuts, header["seed"])


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
                off = np.abs(self.targets[:, 0] - mean)
                prior = float(np.average(off, weights=self.weight))
                yield ordered(part.group, off, self.weight, order, prior=prior)[:, np.newaxis]
            yield part.fixed[part.group]

    def _kind(self, n_values: int) -> str:
        if n_values <= 2:  # noqa: PLR2004 (one split tells two values apart)
            return "plain"
        if n_values > _FEW_VALUES:
            return "many"
        return "few" if self.weight.sum() >= _ROWS_FOR_FEW * n_values else "each"

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
        n_statistics = self.targets.shape[1] if kind in {"many", "together"} else 0
        values: list[Floats] = []
        for target, prior in zip(self.targets.T[:n_statistics], self.priors, strict=False):
            values.append(np.append(whole(group, target, self.weight, len(distinct), prior=prior), prior))
        has_spread = kind == "many" and self.regression
        if has_spread:
            values.append(self._spread(group, len(distinct), order))
        fixed: list[Floats] = []
        if kind == "few":
            fixed = orders_of_few(group, rows, self.targets, self.weight)
        elif kind == "each":
            fixed = list(np.eye(len(rows) + 1, len(rows)).T)
        elif kind in {"many", "together"}:
            fixed = [frequency(rows, unseen="middle" if kind == "many" else "none")]
        self.groups.append(Group(columns, distinct, rows, _stacked([*values, *fixed], len(distinct) + 1)))
        self.parts.append(_Part(group, n_statistics, has_spread, _stacked(fixed, len(distinct) + 1)))

    def _spread(self, group: Integers, n_values: int, order: Integers) -> Floats:
        """Return how far targets of each value lie off the mean that was expected of them."""
        mean = ordered(group, self.targets[:, 0], self.weight, order, prior=self.priors[0])
        off = np.abs(self.targets[:, 0] - mean)
        prior = float(np.average(off, weights=self.weight))
        return np.append(whole(group, off, self.weight, n_values, prior=prior), prior)


def _stacked(columns: list[Floats], n_values: int) -> Floats:
    return np.stack(columns, axis=1) if columns else np.empty((n_values, 0))


def _shares(rows: Floats) -> Floats:
    """Return the share of the rows that each value has, but for one that would leave nothing to the others."""
    shares: Floats = rows / rows.sum()
    common = int(shares.argmax())
    if shares[common] > _MOST_OF_ONE and len(shares) > 1:
        shares *= (1.0 - _MOST_OF_ONE) / (1.0 - shares[common])
        shares[common] = _MOST_OF_ONE
    return shares


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
