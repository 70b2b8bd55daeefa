"""Tables on a GPU: the checks of a schema, made there, and summaries of the posterior."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from epiboost._estimators.out_of_fold.recalibration import Recalibration
from epiboost._inputs.device_arrays import as_cupy, like, on_host
from epiboost._inputs.number_tables import check_numbers
from epiboost._inputs.schema import CheckedTable, ColumnSchema
from epiboost._inputs.sparse_table import SparseTable
from epiboost._inputs.table import check_feature_names, check_n_features, feature_names
from epiboost._posterior.summary import Summary
from epiboost._typing import AnyArray, Device, Floats, LibraryObject, Table
from epiboost.engines.base import DeviceForest, Forest
from epiboost.engines.cuda.choice import is_gpu_used

_TWO_AXES = 2
_LARGE_BYTES = 8 << 20  # a millisecond for one thread


def on_device(forest: Forest, device: Device) -> Forest:
    """Return the forest that predicts on a device; the only one there is if the forest knows no other."""
    return forest.on(device) if isinstance(forest, DeviceForest) else forest


def _summarising_forest(forest: Forest, device: Device) -> DeviceForest | None:
    """Return the forest that predicts on a device, if it can summarise its members there."""
    if not isinstance(forest, DeviceForest):  # this takes a tenth of the time of a prediction of one row
        return None
    there = forest.on(device)
    return there if type(there) is type(forest) or isinstance(there, DeviceForest) else None


def near_table(X: Table, schema: ColumnSchema, forest: Forest, device: Device) -> Table:
    """Return a table on a GPU as a checked table of CuPy, if the forest can predict it there; otherwise on the host."""
    if schema.categories or not isinstance(forest, DeviceForest) or not is_gpu_used(device, pays=True):
        return on_host(X)
    names = tuple(X.columns) if hasattr(X, "columns") else None
    if names is not None and schema.names is not None and sorted(names) == sorted(schema.names):
        X, names = X[list(schema.names)], schema.names
    table = as_cupy(X)
    if table.ndim != _TWO_AXES or table.dtype.kind not in "fiub" or not table.size:
        return on_host(X)
    check_feature_names(None if names is None else feature_names(names), schema.names, schema.owner)
    check_n_features(table.shape[1], schema.n_features, schema.owner)
    if str(table.dtype) not in {"float64", "float32"}:
        table = table.astype("float64")
    if bool((abs(table) == float("inf")).any()):
        check_numbers(on_host(table), schema.owner)  # its error says where
    return CheckedTable(table)


def read_table(X: Table, schema: ColumnSchema, threads: int) -> AnyArray:
    """Return a table on the host as `ColumnSchema.transform` does, on several threads if it is large."""
    is_large = type(X) is np.ndarray and X.ndim == _TWO_AXES and X.nbytes >= _LARGE_BYTES
    if not (is_large and threads > 1 and schema.may_be_plain(X)):
        return schema.transform(X)
    with ThreadPoolExecutor(threads) as pool, np.errstate(all="ignore"):
        total = sum(pool.map(_sum, np.array_split(X, threads)))
    return X if np.isfinite(total) else schema.transform(X)


def _sum(part: AnyArray) -> float:
    with np.errstate(all="ignore"):  # each thread has its own
        return float(part.sum())


def summary_of(
    forest: Forest,
    table: LibraryObject,
    *,
    device: Device,
    prefixes: tuple[int, ...] | None,
    recalibration: Recalibration | None,
    offset: Floats | None,
    index: LibraryObject,
) -> Summary | None:
    """Return the summary that a forest computes of a table, on the GPU or the host; None if it cannot."""
    there = None if isinstance(table, SparseTable) else _summarising_forest(forest, device)
    if there is None:
        return None
    if there.family == "normal":
        parts = there.normal_summary(table, prefixes, None if recalibration is None else numbers_of(recalibration))
        if parts is None:
            return None
        mean, data, knowledge = parts
        if isinstance(mean, np.ndarray) and not _are_finite(parts):
            return None  # the posterior says what is wrong
        return Summary(mean if offset is None else mean + like(mean, offset), data, knowledge, index)
    if recalibration is not None or offset is not None:
        return None
    probabilities = there.mean_probabilities(table, prefixes)
    return None if probabilities is None else Summary(probabilities, index=index)


def _are_finite(arrays: Sequence[Floats]) -> bool:
    """Return whether all numbers are finite; False also if their sum is not."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(sum(array.sum() for array in arrays)))


def numbers_of(recalibration: Recalibration) -> Sequence[float]:
    """Return the numbers of a recalibration, in the order of its fields."""
    return tuple(recalibration.to_header().values())
