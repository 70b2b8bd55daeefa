"""Lookup of the known values of categorical columns and feature crosses, and what each value is encoded as."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from epiboost._encoding.crosses import joint_keys
from epiboost._files.requirements import require_arrays, require_facts
from epiboost._native import KeyIndex, native
from epiboost._typing import AnyArray, Floats, Integers

_MAX_COLUMNS = 3  # crosses are pairs or triples


@dataclass(frozen=True, slots=True)
class ValueLookup:
    """The known values of a categorical column or a feature cross, and their encodings.

    Attributes
    ----------
    columns : tuple of one to three int
        Column indices.
    keys : array of shape (m,)
        Codes seen in training, or joint keys of a cross; ascending.
    weights : array of shape (m,)
        Total weight of each value's rows.
    values : array of shape (m + 1, width)
        Encoding of each value; the last row is for unseen values.
    index : KeyIndex
        Finds keys in the native core.
    """

    columns: tuple[int, ...]
    keys: Integers
    weights: Floats
    values: Floats
    index: KeyIndex = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Build the index of the keys."""
        object.__setattr__(self, "index", native().KeyIndex(self.keys))

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        """Pickle without the index, which is built again."""
        return type(self), (self.columns, self.keys, self.weights, self.values)

    @property
    def width(self) -> int:
        """Number of encoded columns; 0 for a passthrough column."""
        return int(self.values.shape[1])

    @property
    def is_cross(self) -> bool:
        """Whether this is a feature cross."""
        return len(self.columns) > 1

    def find(self, codes: Mapping[int, Integers], sizes: Integers) -> Integers:
        """Return the position of each row's value among the keys; the number of keys for unseen values."""
        return self.index.find(keys_of(self.columns, codes, sizes))


def codes_of(X: AnyArray, sizes: Integers) -> dict[int, Integers]:
    """Return the codes of the categorical columns, by column index; a missing value has the last code."""
    codes = {}
    for column in np.flatnonzero(sizes).tolist():
        values = X[:, column]
        codes[column] = np.where(np.isnan(values), sizes[column] - 1, values).astype(np.int64)
    return codes


def keys_of(columns: Sequence[int], codes: Mapping[int, Integers], sizes: Integers) -> Integers:
    """Return one key per row for the value of a column or of a cross; -1 if a value is unseen."""
    parts = [codes[column] for column in columns]
    if len(parts) == 1:
        return parts[0]
    unseen = np.any([part < 0 for part in parts], axis=0)
    return np.where(unseen, -1, joint_keys(parts, [int(sizes[column]) for column in columns]))


def lookups_to_file(lookups: Sequence[ValueLookup]) -> dict[str, AnyArray]:
    """Return the arrays of a model file."""
    columns = [lookup.columns + (-1,) * (_MAX_COLUMNS - len(lookup.columns)) for lookup in lookups]
    shapes = [(len(lookup.keys), lookup.width) for lookup in lookups]
    return {
        "group_columns": np.array(columns, dtype=np.int64).reshape(-1, _MAX_COLUMNS),
        "group_shapes": np.array(shapes, dtype=np.int64).reshape(-1, 2),
        "group_keys": np.concatenate([np.empty(0, dtype=np.int64), *(lookup.keys for lookup in lookups)]),
        "group_rows": np.concatenate([np.empty(0), *(lookup.weights for lookup in lookups)]),
        "group_values": np.concatenate([np.empty(0), *(lookup.values.reshape(-1) for lookup in lookups)]),
    }


def lookups_from_file(arrays: Mapping[str, AnyArray], sizes: Integers) -> tuple[ValueLookup, ...]:
    """Build lookups from the arrays of a model file; raise ValueError if they are inconsistent.

    ``sizes`` is the number of codes per column, 0 for a numeric column that is in no cross.
    """
    _check_arrays(arrays, np.flatnonzero(sizes))
    shapes = arrays["group_shapes"]
    key_ends = np.cumsum(shapes[:, 0])
    value_ends = np.cumsum((shapes[:, 0] + 1) * shapes[:, 1])
    lookups = []
    for position, padded in enumerate(arrays["group_columns"].tolist()):
        n_keys, width = shapes[position].tolist()
        key_range = slice(key_ends[position] - n_keys, key_ends[position])
        values = arrays["group_values"][value_ends[position] - (n_keys + 1) * width : value_ends[position]]
        keys = arrays["group_keys"][key_range]
        if (np.diff(keys) <= 0).any():
            message = "group_keys must ascend within each lookup"
            raise ValueError(message)
        columns = tuple(column for column in padded if column >= 0)
        n_codes = math.prod(int(sizes[column]) for column in columns)
        if keys[0] < 0 or keys[-1] >= n_codes:
            message = f"group_keys of columns {columns} must be from 0 to {n_codes - 1}; got {keys[0]} to {keys[-1]}"
            raise ValueError(message)
        weights = arrays["group_rows"][key_range]
        lookups.append(ValueLookup(columns, keys, weights, values.reshape(n_keys + 1, width)))
    return tuple(lookups)


_FILE_TYPES = {
    "group_columns": (np.int64, 2),
    "group_shapes": (np.int64, 2),
    "group_keys": (np.int64, 1),
    "group_rows": (np.float64, 1),
    "group_values": (np.float64, 1),
}


def _check_arrays(arrays: Mapping[str, AnyArray], coded: Integers) -> None:
    require_arrays(arrays, _FILE_TYPES)
    columns, shapes, keys, weights, values = (arrays[name] for name in _FILE_TYPES)
    if columns.shape != (len(columns), _MAX_COLUMNS) or shapes.shape != (len(columns), 2):
        message = f"group_columns must have {_MAX_COLUMNS} numbers per lookup, and group_shapes two"
        raise ValueError(message)
    known, absent = np.isin(columns, coded), columns == -1
    facts = {
        "group_columns must be columns that have codes": bool((known | absent).all() and known[:, 0].all()),
        "group_columns must have their empty entries last": bool((absent[:, 2] >= absent[:, 1]).all()),
        "group_columns must have crosses after single columns": bool((np.diff((~absent[:, 1]).astype(int)) >= 0).all()),
        "group_shapes must give each lookup at least one of group_keys": bool((shapes >= [1, 0]).all())
        and int(shapes[:, 0].sum()) == len(keys),
        "group_rows must be positive, one per key": weights.shape == keys.shape
        and bool((np.isfinite(weights) & (weights > 0)).all()),
        "group_values must be finite and fit group_shapes": bool(np.isfinite(values).all())
        and int(((shapes[:, 0] + 1) * shapes[:, 1]).sum()) == len(values),
    }
    require_facts(facts)
