"""The players of an explanation: features, or groups of features that become known together.

>>> players = Players.of([["a", 2]], ("a", "b", "c"), np.zeros((5, 3)), (0, 0, 0))
>>> players.names, players.of_feature
(('a + c', 'b'), array([0, 1, 0]))
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

import numpy as np

from epiboost._typing import AnyArray, Integers
from epiboost.explain.association import associated_groups

Groups: TypeAlias = Literal["correlated"] | Mapping[str, Sequence[str | int]] | Sequence[Sequence[str | int]]
"""Groups of features: "correlated", lists of names or positions, or a dictionary from names of groups to lists."""

CORRELATED = "correlated"


@dataclass(frozen=True, slots=True, eq=False)
class Players:
    """Features or groups of features.

    Attributes
    ----------
    names : tuple of str
        Of the players.
    columns : tuple of tuples of int
        Positions of the features of each player.
    """

    names: tuple[str, ...]
    columns: tuple[tuple[int, ...], ...]

    @classmethod
    def single(cls, names: Sequence[str]) -> Self:
        """Return one player per feature."""
        return cls(tuple(names), tuple((column,) for column in range(len(names))))

    @classmethod
    def of(cls, groups: Groups | None, names: Sequence[str], rows: AnyArray, n_codes: Sequence[int]) -> Self:
        """Return the players of given groups; features in no group are players of their own.

        Parameters
        ----------
        groups : Groups or None
        names : sequence of str
            Of the features.
        rows : array of shape (n, features)
            Rows in which features are correlated, as the trees read them.
        n_codes : sequence of int
            Number of codes per feature, 0 for numbers.

        Raises
        ------
        ValueError
            If a group is empty, or a feature is unknown or in two groups.
        """
        if groups is None:
            return cls.single(names)
        titled: list[tuple[str | None, tuple[int, ...]]]
        if groups != CORRELATED and (isinstance(groups, str) or not isinstance(groups, Iterable)):
            message = f"groups must be 'correlated', lists of features or a dictionary of lists; got {groups!r}"
            raise ValueError(message)
        if isinstance(groups, str):
            titled = [(None, group) for group in associated_groups(rows, n_codes)]
        else:
            given = groups.items() if isinstance(groups, Mapping) else ((None, group) for group in groups)
            titled = [(title, _positions(group, names)) for title, group in given]
        return cls._with_the_others(titled, names)

    @classmethod
    def _with_the_others(cls, titled: Iterable[tuple[str | None, tuple[int, ...]]], names: Sequence[str]) -> Self:
        grouped: dict[int, tuple[str | None, tuple[int, ...]]] = {}
        taken: set[int] = set()
        for title, columns in titled:
            twice = sorted(taken & set(columns))
            if twice or len(set(columns)) < len(columns):
                repeated = twice or [column for column in columns if columns.count(column) > 1]
                message = f"a feature can be in one group only; {names[repeated[0]]!r} is named twice"
                raise ValueError(message)
            taken |= set(columns)
            grouped[min(columns)] = (title, tuple(sorted(columns)))
        for column in set(range(len(names))) - taken:
            grouped[column] = (None, (column,))
        parts = [grouped[first] for first in sorted(grouped)]
        titles = tuple(title or " + ".join(names[column] for column in columns) for title, columns in parts)
        for title, _ in parts:
            if title is not None and titles.count(title) > 1:
                message = f"the group {title!r} has the name of a feature that is not in it; name it otherwise"
                raise ValueError(message)
        return cls(titles, tuple(columns for _, columns in parts))

    def __len__(self) -> int:
        """Return the number of players."""
        return len(self.names)

    @property
    def of_feature(self) -> Integers:
        """The player of each feature, shape (features,)."""
        owner = np.empty(sum(map(len, self.columns)), dtype=np.int64)
        for player, columns in enumerate(self.columns):
            owner[list(columns)] = player
        return owner

    @property
    def are_features(self) -> bool:
        """Whether each player is one feature."""
        return all(len(columns) == 1 for columns in self.columns)

    def data(self, values: AnyArray) -> AnyArray:
        """Return the values of each player, shape (n, players); those of a group are one text."""
        if self.are_features:
            return values
        joined = np.empty((len(values), len(self)), dtype=object)
        for player, columns in enumerate(self.columns):
            if len(columns) == 1:
                joined[:, player] = values[:, columns[0]]
            else:
                joined[:, player] = [", ".join(map(_text, row)) for row in values[:, list(columns)]]
        return joined


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _positions(group: Sequence[str | int], names: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of features that are given by name or position."""
    if isinstance(group, str) or not isinstance(group, Iterable):
        message = f"a group must be a list of features, given by name or position; got {group!r}"
        raise ValueError(message)  # noqa: TRY004 (as for any other value that is not allowed)
    columns = []
    for feature in group:
        if isinstance(feature, str) and feature in names:
            columns.append(list(names).index(feature))
        elif isinstance(feature, int | np.integer) and not isinstance(feature, bool) and 0 <= feature < len(names):
            columns.append(int(feature))
        else:
            message = f"groups names {feature!r}; features are {', '.join(map(repr, names))}, or positions from 0"
            raise ValueError(message)
    if not columns:
        message = "a group must have at least one feature; got an empty one"
        raise ValueError(message)
    return tuple(columns)
