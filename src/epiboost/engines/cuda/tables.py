"""Prediction of whole tables, on the host or on the GPU, in chunks that fit its memory."""

from collections.abc import Callable, Sequence

import numpy as np

from epiboost._inputs.device_arrays import is_on_device
from epiboost._typing import AnyArray, Floats, LibraryObject
from epiboost.engines.cuda.device import cupy, device_errors, free_memory
from epiboost.engines.cuda.plan import chunk_rows
from epiboost.engines.cuda.prediction import CudaPredictor, NormalSummary, Recalibration
from epiboost.engines.cuda.transfer import in_chunks


def parameters_of(predictor: CudaPredictor, table: AnyArray, threads: int) -> Floats:
    """Return the parameters of all members for a table on the host, shape (members, rows, parameters), on the host."""
    parameters = np.empty((predictor.trees.n_members, len(table), predictor.link.n_parameters))
    _compute(predictor, table, lambda chunk: [predictor.parameters(chunk)], [(parameters, 1)], threads)
    return parameters


def summary_of(
    predictor: CudaPredictor, table: LibraryObject, recalibration: Recalibration | None, threads: int
) -> NormalSummary:
    """Return mean, data and knowledge uncertainty of each row of a table, where the table is."""
    results = [_empty_like(table, (len(table),)) for _ in NormalSummary._fields]

    def compute(chunk: LibraryObject) -> Sequence[LibraryObject]:
        return predictor.summarize_normal(predictor.parameters(chunk), recalibration)

    _compute(predictor, table, compute, [(result, 0) for result in results], threads)
    return NormalSummary(*results)


def probabilities_of(predictor: CudaPredictor, table: LibraryObject, threads: int) -> LibraryObject:
    """Return the average probabilities of the members, shape (rows, classes), where the table is."""
    mean = _empty_like(table, (len(table), predictor.link.n_parameters))

    def compute(chunk: LibraryObject) -> Sequence[LibraryObject]:
        return [predictor.mean_probabilities(predictor.parameters(chunk))]

    _compute(predictor, table, compute, [(mean, 0)], threads)
    return mean


def _compute(
    predictor: CudaPredictor,
    table: LibraryObject,
    compute: Callable[[LibraryObject], Sequence[LibraryObject]],
    results: Sequence[tuple[LibraryObject, int]],
    threads: int,
) -> None:
    """Write the results of all chunks of a table."""
    rows, columns = table.shape
    on_gpu = is_on_device(table)
    with device_errors(f"the prediction of {rows} rows"):
        table_bytes = 0 if on_gpu else columns * table.itemsize
        size = chunk_rows(rows, predictor.row_bytes, columns, table_bytes, free_memory())
        if not on_gpu:
            in_chunks(table, size, compute, results, threads=threads)
            return
        for first in range(0, rows, size):
            chunk = slice(first, min(first + size, rows))
            for (result, axis), part in zip(results, compute(table[chunk]), strict=True):
                result[(slice(None),) * axis + (chunk,)] = part
            if first + size < rows:
                cupy().cuda.get_current_stream().synchronize()  # so that an interrupt need not wait for all chunks


def _empty_like(table: LibraryObject, shape: tuple[int, ...]) -> LibraryObject:
    return cupy().empty(shape) if is_on_device(table) else np.empty(shape)
