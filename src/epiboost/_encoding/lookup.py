"""The values of categorical columns and of combinations of columns, and what each is encoded as."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from epiboost._encoding.crosses import joint_keys
from epiboost._files.checks import require_arrays, require_facts
from epiboost._native import native
from epiboost._typing import AnyArray, Floats, Integers

_MOST_COLUMNS = 3  # of one group


@dataclass(frozen=True, slots=True)
class Group:
    """The values of one column, or of several columns together, and what is known of them.

    Attributes
    ----------
    columns : tuple of one to three int
        Positions in the table.
    keys : array of shape (m,)
        The codes that training has seen, or the keys of several codes together; ascending.
    rows : array of shape (m,)
        The weight of each value's rows.
    values : array of shape (m + 1, width)
        What a row of each value is encoded as; the last row is for values that were not seen.
    ready : Keys
        The keys, to be looked up in the native core.
    """

    columns: tuple[int, ...]
    keys: Integers
    rows: Floats
    values: Floats
    ready: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Make the keys ready to be looked up."""
        object.__setattr__(self, "ready", native().Keys(self.keys))

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        """Leave out what can be made again."""
        return type(self), (self.columns, self.keys, self.rows, self.values)

    @property
    def width(self) -> int:
        """How many columns the group becomes."""
        return int(self.values.shape[1])

    def places(self, codes: Mapping[int, Integers], sizes: Integers) -> Integers:
        """Return where each row's value stands among the keys; the number of keys for values that were not seen."""
        places: Integers = self.ready.find(keys_of(self.columns, codes, sizes))
        return places


def codes_of(X: AnyArray, sizes: Integers) -> dict[int, Integers]:
    """Return the codes of the categorical columns by their positions; a missing value has the last code."""
    codes = {}
    for column in np.flatnonzero(sizes).tolist():
        own = X[:, column]
        codes[column] = np.where(np.isnan(own), sizes[column] - 1, own).astype(np.int64)
    return codes


def keys_of(columns: Sequence[int], codes: Mapping[int, Integers], sizes: Integers) -> Integers:
    """Return one number for each row's value of a column, or of several columns together; -1 if it is unseen."""
    own = [codes[column] for column in columns]
    if len(own) == 1:
        return own[0]
    unseen = np.any([part < 0 for part in own], axis=0)
    return np.where(unseen, -1, joint_keys(own, [int(sizes[column]) for column in columns]))


def groups_to_file(groups: Sequence[Group]) -> dict[str, AnyArray]:
    """Return the arrays that a model file must hold."""
    columns = [group.columns + (-1,) * (_MOST_COLUMNS - len(group.columns)) for group in groups]
    shapes = [(len(group.keys), group.width) for group in groups]
    return {
        "group_columns": np.array(columns, dtype=np.int64).reshape(-1, _MOST_COLUMNS),
        "group_shapes": np.array(shapes, dtype=np.int64).reshape(-1, 2),
        "group_keys": np.concatenate([np.empty(0, dtype=np.int64), *(group.keys for group in groups)]),
        "group_rows": np.concatenate([np.empty(0), *(group.rows for group in groups)]),
        "group_values": np.concatenate([np.empty(0), *(group.values.reshape(-1) for group in groups)]),
    }


def groups_from_file(arrays: Mapping[str, AnyArray], sizes: Integers) -> tuple[Group, ...]:
    """Build groups from the arrays of a model file; anything that does not fit together is a ValueError.

    ``sizes`` says how many codes each column has, 0 for a column of numbers that is in no combination.
    """
    _check_arrays(arrays, np.flatnonzero(sizes))
    shapes = arrays["group_shapes"]
    key_ends = np.cumsum(shapes[:, 0])
    value_ends = np.cumsum((shapes[:, 0] + 1) * shapes[:, 1])
    groups = []
    for place, padded in enumerate(arrays["group_columns"].tolist()):
        n_keys, width = shapes[place].tolist()
        own = slice(key_ends[place] - n_keys, key_ends[place])
        values = arrays["group_values"][value_ends[place] - (n_keys + 1) * width : value_ends[place]]
        keys = arrays["group_keys"][own]
        if (np.diff(keys) <= 0).any():
            message = "the keys of a group must ascend"
            raise ValueError(message)
        columns = tuple(column for column in padded if column >= 0)
        n_codes = math.prod(int(sizes[column]) for column in columns)
        if keys[0] < 0 or keys[-1] >= n_codes:
            message = f"the keys of a group must lie between 0 and {n_codes - 1}; got {keys[0]} to {keys[-1]}"
            raise ValueError(message)
        groups.append(Group(columns, keys, arrays["group_rows"][own], values.reshape(n_keys + 1, width)))
    return tuple(groups)


_FILE_TYPES = {
    "group_columns": (np.int64, 2),
    "group_shapes": (np.int64, 2),
    "group_keys": (np.int64, 1),
    "group_rows": (np.float64, 1),
    "group_values": (np.float64, 1),
}


def _check_arrays(arrays: Mapping[str, AnyArray], coded: Integers) -> None:
    require_arrays(arrays, _FILE_TYPES)
    columns, shapes, keys, rows, values = (arrays[name] for name in _FILE_TYPES)
    if columns.shape != (len(columns), _MOST_COLUMNS) or shapes.shape != (len(columns), 2):
        message = f"group_columns must hold {_MOST_COLUMNS} numbers a group, and group_shapes two"
        raise ValueError(message)
    known, absent = np.isin(columns, coded), columns == -1
    facts = {
        "groups must be of columns that have codes": bool((known | absent).all() and known[:, 0].all()),
        "the columns of a group must come before what is left empty": bool((absent[:, 2] >= absent[:, 1]).all()),
        "combinations must come after single columns": bool((np.diff((~absent[:, 1]).astype(int)) >= 0).all()),
        "groups must have keys": bool((shapes >= [1, 0]).all()) and int(shapes[:, 0].sum()) == len(keys),
        "every key must have rows": rows.shape == keys.shape and bool((np.isfinite(rows) & (rows > 0)).all()),
        "group_values must be finite, and fill their shapes": bool(np.isfinite(values).all())
        and int(((shapes[:, 0] + 1) * shapes[:, 1]).sum()) == len(values),
    }
    require_facts(facts)
