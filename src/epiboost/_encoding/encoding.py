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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from epiboost._encoding.intervals import Cuts
from epiboost._encoding.lookup import Group, codes_of, groups_from_file, groups_to_file
from epiboost._typing import AnyArray, Floats, Integers

_GOLDEN = (5.0**0.5 - 1.0) / 2.0  # steps of this length, modulo one, fill an interval evenly
_MOST_OF_ONE = 0.85  # of the draws: of ten members, at least one then draws another value


@dataclass(frozen=True, slots=True)
class Script:
    """What values are written as: numbers, or bins.

    Attributes
    ----------
    values : tuple of arrays of shape (m + 1, width)
        For each group, as `Group.values` has them.
    plain : mapping of arrays of shape (m,)
        By the place of the group, for columns that are taken as they are.
    """

    values: tuple[AnyArray, ...]
    plain: Mapping[int, AnyArray]


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
        codes, sizes = self.codes(X)
        script = self.numbers()
        table, unseen = np.empty((len(X), self.n_encoded), order="F"), np.zeros(len(X), dtype=bool)
        table[:, : len(self.plain)] = X[:, self.plain]
        end = len(self.plain)
        for place, (group, written) in enumerate(zip(self.groups, script.values, strict=True)):
            places = group.places(codes, sizes)
            begin, end = end, end + group.width
            table[:, begin:end] = written[places]
            if len(group.columns) == 1:
                new = places == len(group.keys)
                unseen |= new
                if not group.width:  # a column of two values: the more common one
                    table[new, self.plain_place(group)] = script.plain[place][group.rows.argmax()]
        return table, unseen

    def codes(self, X: AnyArray) -> tuple[dict[int, Integers], Integers]:
        """Return the codes of the columns that have some, by their positions, and how many codes every column has."""
        return codes_of(X, self.sizes) | self.cuts.codes(X), self.cuts.sizes(self.sizes)

    def numbers(self) -> "Script":
        """Return the numbers that values are written as."""
        plain = {place: self._plain_values(group) for place, group in enumerate(self.groups) if not group.width}
        return Script(tuple(group.values for group in self.groups), plain)

    def lend(
        self, X: AnyArray, encoded: AnyArray, n_members: int, script: "Script | None" = None
    ) -> Iterator[AnyArray]:
        """Yield an encoded table as each of several members takes it: with known values in place of those unseen.

        What a new value means is a draw from what values mean. So every member draws the value of a known row, for each
        column its own: rows stand in the order of their values' statistics, and the members are spread evenly over
        them, the first ones in the same places whatever their number. They disagree as much as rows differ, and their
        mean is near the prior. The combinations of a new value stay unseen.

        Each table takes the place of the one before: array of shape (n, n_encoded).
        """
        loans = list(self._loans(codes_of(X, self.sizes), n_members, script or self.numbers()))
        lent = np.array(encoded, order="F")
        for member in range(n_members):
            for column, rows, values in loans:
                lent[rows, column] = values[member]
            yield lent

    def _loans(
        self, codes: Mapping[int, Integers], n_members: int, script: "Script"
    ) -> Iterator[tuple[int, Integers, AnyArray]]:
        """Yield which column of which rows gets which value, one a member."""
        end = len(self.plain)
        for place, (group, written) in enumerate(zip(self.groups, script.values, strict=True)):
            begin, end = end, end + group.width
            if len(group.columns) > 1:
                return  # combinations come last
            rows = np.flatnonzero(group.places(codes, self.sizes) == len(group.keys)).astype(np.int64)
            if not len(rows):
                continue
            drawn = self._draw(group, n_members)
            for column, values in zip(range(begin, end), written.T, strict=True):
                yield column, rows, values[drawn]
            if not group.width:
                yield self.plain_place(group), rows, script.plain[place][drawn]

    def plain_place(self, group: Group) -> int:
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


def _shares(rows: Floats) -> Floats:
    """Return the share of the rows that each value has, but for one that would leave nothing to the others."""
    shares: Floats = rows / rows.sum()
    common = int(shares.argmax())
    if shares[common] > _MOST_OF_ONE and len(shares) > 1:
        shares *= (1.0 - _MOST_OF_ONE) / (1.0 - shares[common])
        shares[common] = _MOST_OF_ONE
    return shares
