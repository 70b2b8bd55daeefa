"""Constraints on the trees: columns along which a prediction may only rise or fall, and columns that may interact.

Users name columns; engines take positions.

>>> schema = ColumnSchema("EpiBoostRegressor", 3, ("age", "dose", "weight"))
>>> resolve_constraints({"dose": 1}, [{"age", "dose"}], schema, n_classes=0)
Constraints(monotone=(0, 1, 0), groups=((0, 1), (2,)))
"""

import difflib
import numbers
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from epiboost._inputs.column_kinds import listed
from epiboost._inputs.schema import ColumnSchema
from epiboost._typing import Column

MonotonicConstraints: TypeAlias = Mapping[str, int] | Sequence[int] | Column | None
InteractionConstraints: TypeAlias = str | Sequence[Collection[str | int]] | None

_DIRECTIONS = (-1, 0, 1)
_MAX_PAIRWISE = 500  # columns; their 125,000 pairs take a second to prepare
_BINARY = 2


@dataclass(frozen=True, slots=True)
class Constraints:
    """Constraints on the trees, by the positions of the columns of the table.

    Attributes
    ----------
    monotone : tuple of int
        For each column 1, -1 or 0: the mean of a regression, or the log-odds of the second of two classes, never
        decreases, never increases or is free. Empty if all columns are free.
    groups : tuple of tuples of int
        Columns that may split the same path of a tree. Every column is in at least one group. Empty if all may.
    """

    monotone: tuple[int, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()

    def cross_rule(self) -> Callable[[Collection[int]], bool]:
        """Return the function that tells whether a feature cross of some columns keeps the constraints.

        The statistic of a cross is not monotone in any of its columns, and a split on it is a split on all of them.
        """
        groups_of: dict[int, set[int]] = {}
        for number, group in enumerate(self.groups):
            for column in group:
                groups_of.setdefault(column, set()).add(number)

        def may_cross(columns: Collection[int]) -> bool:
            if self.monotone and any(self.monotone[column] for column in columns):
                return False
            return not self.groups or bool(set.intersection(*(groups_of[column] for column in columns)))

        return may_cross


NO_CONSTRAINTS = Constraints()


def resolve_constraints(
    monotonic: MonotonicConstraints, interaction: InteractionConstraints, schema: ColumnSchema, n_classes: int
) -> Constraints:
    """Return the constraints that a user gives, for the columns of a table; a ValueError says what is wrong.

    Parameters
    ----------
    monotonic : mapping from names to -1, 0 and 1, or one of these numbers per column, or None
    interaction : "pairwise", "no_interactions", list of sets of names and positions, or None
    schema : ColumnSchema
    n_classes : int
        0 for regression.
    """
    monotone = _directions(monotonic, schema)
    if any(monotone) and n_classes > _BINARY:
        message = (
            f"monotonic_constraints are for regression and for two classes; y holds {n_classes}. A higher score of one "
            "class raises its probability only while the scores of all others stay; train one model per class"
        )
        raise ValueError(message)
    for column in np.flatnonzero(np.array(monotone) * schema.is_categorical if monotone else ()):
        message = f"monotonic_constraints are for numeric columns; {_name(int(column), schema)} is categorical"
        raise ValueError(message)
    return Constraints(monotone if any(monotone) else (), _groups(interaction, schema))


def _directions(given: MonotonicConstraints, schema: ColumnSchema) -> tuple[int, ...]:
    """Return one direction per column."""
    if given is None:
        return ()
    directions = [0] * schema.n_features
    if schema.names is not None and hasattr(given, "to_dict"):  # a pandas Series; one without names is a list
        by_name = given.to_dict()
        given = by_name if set(by_name) <= set(schema.names) else given
    if isinstance(given, Mapping):
        for name, value in given.items():
            directions[_position(name, schema, "monotonic_constraints")] = _direction(value, repr(name))
        return tuple(directions)
    entries = None if isinstance(given, str | bytes) or not np.iterable(given) else list(given)
    if entries is None or any(np.ndim(entry) for entry in entries):
        message = (
            "monotonic_constraints must be None, a dictionary from names of columns to -1, 0 or 1, or a list of one of "
            f"these numbers per column; got {given!r}"
        )
        raise ValueError(message)
    if len(entries) != schema.n_features:
        message = (
            f"monotonic_constraints must have one entry per column, {schema.n_features}; got {len(entries)}. "
            "A dictionary from names of columns need not hold them all"
        )
        raise ValueError(message)
    return tuple(_direction(value, _name(column, schema)) for column, value in enumerate(entries))


def _direction(value: object, name: str) -> int:
    """Return a direction as an integer."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_) and value in _DIRECTIONS:
        return int(float(value))
    message = (
        f"monotonic_constraints must be 1 (never decreases), -1 (never increases) or 0 (free); got {value!r} for {name}"
    )
    raise ValueError(message)


def _groups(given: InteractionConstraints, schema: ColumnSchema) -> tuple[tuple[int, ...], ...]:
    """Return the sets of columns that may interact; columns that no set names are one more set, as in scikit-learn."""
    columns = range(schema.n_features)
    if given is None:
        return ()
    if isinstance(given, str) and given == "no_interactions":
        groups: list[tuple[int, ...]] = [(column,) for column in columns]
    elif isinstance(given, str) and given == "pairwise":
        if schema.n_features > _MAX_PAIRWISE:
            message = (
                f"interaction_constraints='pairwise' is for at most {_MAX_PAIRWISE} columns; X has "
                f"{schema.n_features}. List the sets of columns that may interact"
            )
            raise ValueError(message)
        groups = list(combinations(columns, min(2, schema.n_features)))
    else:
        groups = [_group(entry, schema) for entry in _list_of_sets(given)]
        rest = tuple(sorted(set(columns).difference(*groups)))
        groups = [*dict.fromkeys(groups), *([rest] if rest else [])]
    return () if any(len(group) == schema.n_features for group in groups) else tuple(groups)


def _list_of_sets(given: object) -> list[Collection[str | int]]:
    """Return the entries of a list of sets."""
    entries = None if isinstance(given, str | bytes | Mapping) or not np.iterable(given) else list(given)
    if entries is None or any(isinstance(one, str | bytes | Mapping) or not np.iterable(one) for one in entries):
        message = (
            "interaction_constraints must be None, 'pairwise', 'no_interactions' or a list of sets of columns, such as "
            f"[{{'age', 'dose'}}, {{'weight'}}]; got {given!r}"
        )
        raise ValueError(message)
    return entries


def _group(entry: Collection[str | int], schema: ColumnSchema) -> tuple[int, ...]:
    """Return the positions of a set of columns, ascending."""
    positions = {_position(column, schema, "interaction_constraints", positions=True) for column in entry}
    if not positions:
        message = "interaction_constraints must not hold an empty set"
        raise ValueError(message)
    return tuple(sorted(positions))


def _position(column: object, schema: ColumnSchema, parameter: str, *, positions: bool = False) -> int:
    """Return the position of a column that is given by name or, if that is allowed, by position."""
    if isinstance(column, str):
        names = schema.names or ()
        if column in names:
            return names.index(column)
        similar = difflib.get_close_matches(column, names, n=3)
        known = f"X has {listed([repr(name) for name in names])}" if names else "X has no names of columns"
        hint = f"; did you mean {' or '.join(map(repr, similar))}?" if similar else ""
        message = f"{parameter} names the column {column!r}; {known}{hint}"
        raise ValueError(message)
    is_integer = isinstance(column, numbers.Integral) and not isinstance(column, bool)
    if positions and is_integer and 0 <= int(column) < schema.n_features:  # type: ignore[call-overload]
        return int(column)  # type: ignore[call-overload, no-any-return]
    allowed = f"names of columns, or positions from 0 to {schema.n_features - 1}" if positions else "names of columns"
    message = f"{parameter} must hold {allowed}; got {column!r}"
    raise ValueError(message)


def _name(column: int, schema: ColumnSchema) -> str:
    """Return the name of a column, or its position, for error texts."""
    return f"column {column}" if schema.names is None else repr(schema.names[column])
