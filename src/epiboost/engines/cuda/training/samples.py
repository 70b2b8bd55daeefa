"""Training rows on the device: bins by columns, targets and weights, shared by all chains that are trained on them."""

from dataclasses import dataclass, field

import numpy as np

from epiboost._typing import AnyArray, Floats32, LibraryObject
from epiboost.engines.cuda.training.backend import Backend, Launch
from epiboost.engines.cuda.training.layout import record
from epiboost.engines.cuda.training.plan import padded
from epiboost.engines.cuda.training.rows import RowWeights, count_draws, neighbour_weight, round_weights, total_weight
from epiboost.engines.native.chain_recipe import ChainRecipe
from epiboost.engines.native.chains import SampleArrays

_UPLOAD_BYTES = 1 << 26  # of a table by rows that is on the device at once
_TILE = 32  # rows and columns, as in table.cu
_THREADS = 256


@dataclass(frozen=True, slots=True)
class BinnedColumns:
    """A binned table on the device.

    Attributes
    ----------
    bins : array of shape (columns, stride)
    lowest, highest : arrays of shape (columns,)
        The bins that occur.
    """

    bins: LibraryObject
    lowest: LibraryObject
    highest: LibraryObject


@dataclass(frozen=True, slots=True)
class DeviceSample:
    """Training rows on the device.

    Attributes
    ----------
    rows, columns : int
    weights : RowWeights
    fields : dict
        Fields of ``Member`` that are pointers to the arrays.
    arrays : list
        The arrays, which live as long as the sample.
    """

    rows: int
    columns: int
    weights: RowWeights
    fields: dict[str, int]
    arrays: list[LibraryObject] = field(default_factory=list)


def upload_sample(backend: Backend, arrays: SampleArrays, recipe: ChainRecipe, weights: RowWeights) -> DeviceSample:
    """Copy training rows to the device."""
    rows, columns = arrays.bins.shape
    stride = padded(rows)
    table = upload_table(backend, arrays.bins)
    sample = DeviceSample(rows, columns, weights, {}, [])
    have = {
        "bins": table.bins,
        "lowest": table.lowest,
        "highest": table.highest,
        "y": _targets(backend, arrays.y, stride),
    }
    if (arrays.weight != 1.0).any():
        have["weight"] = _column(backend, arrays.weight, stride)
    if (weights.integer != 1).any():
        have["integer_weight"] = _column(backend, weights.integer, stride)
    if recipe.subsample < 1.0:
        have["draws"] = _column(backend, count_draws(arrays.weight), stride)
    if not np.array_equal(arrays.keys, np.arange(rows, dtype=np.uint32)):
        have["key"] = _column(backend, arrays.keys, stride)
    if arrays.offset is not None:
        have["offset"] = _columns(backend, arrays.offset, stride)
    if recipe.guards_variance:
        others = neighbour_weight(_same_rows(backend, table, rows, columns), arrays.weight)
        if others is not None:
            have["neighbour_weight"] = _column(backend, others, stride)
    for name, array in have.items():
        sample.fields[name] = backend.pointer(array)
        sample.arrays.append(array)
    return sample


def upload_evaluation(backend: Backend, arrays: SampleArrays) -> DeviceSample:
    """Copy evaluation rows to the device."""
    rows, columns = arrays.bins.shape
    stride = padded(rows)
    have = {
        "evaluation_bins": upload_table(backend, arrays.bins).bins,
        "evaluation_y": _targets(backend, arrays.y, stride),
        "evaluation_weight": _column(backend, arrays.weight, stride),
    }
    if arrays.offset is not None:
        have["evaluation_offset"] = _columns(backend, arrays.offset, stride)
    nothing = np.zeros(0, dtype=np.int32)
    weights = RowWeights(nothing, 1.0, 1.0, 1.0, total_weight(arrays.weight))
    fields = {name: backend.pointer(array) for name, array in have.items()}
    return DeviceSample(rows, columns, weights, fields, list(have.values()))


def upload_table(backend: Backend, table: AnyArray) -> BinnedColumns:
    """Copy a binned table of shape (n, columns) to the device, part by part, and transpose it there."""
    rows, columns = table.shape
    stride = padded(rows)
    bins = backend.zeros((columns, stride), np.uint8)
    lowest, highest = backend.put(np.full(columns, 255, dtype=np.int32)), backend.zeros(columns, np.int32)
    at_once = max(_TILE, _UPLOAD_BYTES // max(columns, 1))
    for first in range(0, rows, at_once):
        part = backend.put(np.ascontiguousarray(table[first : first + at_once]))
        arguments = record(
            "TablePart",
            by_row=backend.pointer(part),
            by_column=backend.pointer(bins),
            lowest=backend.pointer(lowest),
            highest=backend.pointer(highest),
            first=first,
            rows=min(at_once, rows - first),
            stride=stride,
            columns=columns,
        )
        grid = (-(-min(at_once, rows - first) // _TILE), -(-columns // _TILE))
        backend.launch(Launch("transpose_table", grid, _THREADS), arguments)
    return BinnedColumns(bins, lowest, highest)


def _same_rows(backend: Backend, table: BinnedColumns, rows: int, columns: int) -> AnyArray:
    """Return whether each row has the bins of the row before it."""
    same = backend.zeros(rows, np.uint8)
    arguments = record(
        "TablePart",
        by_column=backend.pointer(table.bins),
        same_as_before=backend.pointer(same),
        rows=rows,
        stride=padded(rows),
        columns=columns,
    )
    backend.launch(Launch("compare_rows", (-(-rows // _THREADS), 1), _THREADS), arguments)
    return backend.get(same)


def _column(backend: Backend, values: AnyArray, stride: int) -> LibraryObject:
    """Copy one number per row, padded with zeros."""
    if len(values) == stride:
        return backend.put(np.ascontiguousarray(values))
    padding = np.zeros(stride - len(values), dtype=values.dtype)
    return backend.put(np.concatenate([values, padding]))


def _targets(backend: Backend, y: AnyArray, stride: int) -> LibraryObject:
    """Copy targets of shape (n,), or bounds of shape (n, 2), by columns."""
    return _column(backend, y, stride) if y.ndim == 1 else _columns(backend, y, stride)


def _columns(backend: Backend, values: Floats32, stride: int) -> LibraryObject:
    """Copy numbers of shape (n, columns) as (columns, stride)."""
    by_output = np.zeros((values.shape[1], stride), dtype=np.float32)
    by_output[:, : len(values)] = values.T
    return backend.put(by_output)


def weights_of(arrays: SampleArrays) -> RowWeights:
    """Return the weights of training rows as integers."""
    return round_weights(arrays.weight)
