"""Training rows in the form that the native core needs: bins, in canonical order, one table per random order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np

from epiboost._binning.bins import BinnedTable, Bins
from epiboost._binning.canonical_rows import canonical_order, row_bytes
from epiboost._binning.sparse_bins import bin_sparse, transform_sparse
from epiboost._boosting.objectives import OBJECTIVES, Objective
from epiboost._boosting.recipe import MemberSpec
from epiboost._encoding.encoding import Encoding
from epiboost._encoding.fit import ResidualFunction, fit_encoding
from epiboost._inputs.dataset import Dataset
from epiboost._inputs.sparse_table import SparseTable
from epiboost._native import native
from epiboost._typing import AnyArray, Bytes, Floats, Integers
from epiboost.engines.native.forest import NativeForest

_MAX_DEVIATIONS = 1e12  # squares of the target must fit single precision
_STATISTIC_BINS = 63  # target statistics are too noisy for more
_STATISTIC_BINS_OF_FEW_ROWS = 31  # and noisier still with few rows
_MANY_ROWS = 16_000
_MIN_ORDERS = 3  # random orders of the rows, if there are so many members
_MAX_ENCODED_CELLS = 1 << 28  # cells of the encoded tables of all orders together, unless `_MIN_ORDERS` need more
_MIN_SHARE_DIFFERING_IN_TARGET_ONLY = 0.5  # of the rows of a table of counts
_COPIES_PER_ROW = 4  # on average; more as long as the table stays small
_MANY_COPIES = 50_000


@dataclass(frozen=True, slots=True)
class BinnedRows:
    """Binned training rows in canonical order.

    Attributes
    ----------
    bins : Bins
    encoding : Encoding or None
        Encoding of the categorical columns; None if there are none.
    objective : Objective
    tables : list of arrays of shape (n, columns)
        Bins, for each random order of the rows; one table if there are no categories.
    y : array of shape (n,), or (n, 2) of bounds
        Targets in their own units.
    weight : array of shape (n,)
    offset : array of shape (n,) or (n, classes), or None
        See `Dataset`.
    """

    bins: Bins
    encoding: Encoding | None
    objective: Objective
    tables: list[Bytes]
    y: Floats
    weight: Floats
    offset: Floats | None = None


def bin_rows(
    data: Dataset,
    specs: Sequence[MemberSpec],
    threads: int,
    borders: Bins | None = None,
    *,
    residual_function: ResidualFunction,
) -> BinnedRows:
    """Bin numeric columns, encode categorical columns, bin the encoded columns, and put rows into canonical order.

    Parameters
    ----------
    borders : Bins, optional
        Borders to use in place of quantiles.
    residual_function : callable
        Returns the residuals by which feature crosses are selected, see `fit_encoding`.
    """
    max_bins = specs[0].max_bins
    if borders is not None and any(data.n_codes):
        message = "borders can be given for tables of numbers only; X has categorical columns"
        raise ValueError(message)
    if not any(data.n_codes):
        return bin_numeric_rows(data, max_bins, threads, borders)
    sizes = np.asarray(data.n_codes)
    numbers = data.X[:, sizes == 0]
    bins = Bins.fit(numbers, data.weight, max_bins, threads=threads)
    codes = bins.transform(numbers, threads=threads)
    rows, weight = _distinct_rows(data, codes, sizes)
    y = data.y[rows]
    offset = None if data.offset is None else data.offset[rows]
    objective = _objective(data, y, weight, offset)
    encoding, tables = fit_encoding(
        data.X[rows],
        objective.expected(y),
        weight,
        data.n_codes,
        bins=bins,
        binned=codes[rows],
        n_classes=data.n_classes,
        seed=specs[0].seed,
        n_orders=len(specs),
        residual_function=residual_function,
        may_cross=specs[0].constraints.cross_rule(),
    )
    first = next(tables)
    statistic_bins = min(max_bins, _STATISTIC_BINS if len(y) >= _MANY_ROWS else _STATISTIC_BINS_OF_FEW_ROWS)
    bins = bins.joined(Bins.fit(first[:, numbers.shape[1] :], weight, statistic_bins, threads=threads))
    others = islice(tables, _n_orders(len(specs), first) - 1)
    binned = [bins.transform(table, threads=threads) for table in chain([first], others)]
    return BinnedRows(bins, encoding, objective, binned, y, weight, offset)


def bin_numeric_rows(data: Dataset, max_bins: int, threads: int, borders: Bins | None = None) -> BinnedRows:
    """Bin a table of numbers, which may be binned already, and put rows into canonical order."""
    table = bin_numbers(data, max_bins, threads, borders)
    rows, weight, _ = canonical_order(_with_offset(table.codes, data.offset), data.y, data.weight, threads)
    y = data.y[rows]
    offset = None if data.offset is None else data.offset[rows]
    objective = _objective(data, y, weight, offset)
    return BinnedRows(table.bins, None, objective, [table.codes[rows]], y, weight, offset)


def rows_for(forest: NativeForest, data: Dataset, max_bins: int, threads: int) -> BinnedRows:
    """Return other rows than those of training with the bins, the encoding and the units of a forest.

    Statistics of categories come from the rows of training: the targets of these rows are not part of them.
    """
    if forest.encoding is not None:
        numbers = forest.encoding.transform(data.X)[0]
        data = replace(data, X=BinnedTable(forest.bins, forest.bins.transform(numbers, threads=threads)), n_codes=())
    rows = bin_numeric_rows(data, max_bins, threads, forest.bins)
    return replace(rows, encoding=forest.encoding, objective=forest.objective)


def bin_numbers(data: Dataset, max_bins: int, threads: int, borders: Bins | None = None) -> BinnedTable:
    """Return the bins of a table of numbers, which may be binned already."""
    if isinstance(data.X, BinnedTable):
        return data.X
    if borders is not None:
        borders.check_width(data.X.shape[1])
    if isinstance(data.X, SparseTable):
        return bin_sparse(data.X, data.weight, max_bins, borders)
    bins = borders or Bins.fit(data.X, data.weight, max_bins, threads=threads)
    return BinnedTable(bins, bins.transform(data.X, threads=threads))


def bin_evaluation(data: Dataset, rows: BinnedRows, threads: int) -> tuple[AnyArray, Floats, Floats, Floats | None]:
    """Return bins, targets in the units of the score, weights and offsets of the evaluation rows."""
    y = rows.objective.encode(data.y)
    if not np.abs(y, where=np.isfinite(y), out=np.zeros_like(y)).max() < _MAX_DEVIATIONS:
        message = (
            f"eval_set holds targets that are more than {_MAX_DEVIATIONS:g} standard deviations away from those of y"
        )
        raise ValueError(message)
    if isinstance(data.X, BinnedTable):
        return data.X.codes, y, data.weight, data.offset
    if isinstance(data.X, SparseTable):
        return transform_sparse(rows.bins, data.X), y, data.weight, data.offset
    table = data.X if rows.encoding is None else rows.encoding.transform(data.X)[0]
    return rows.bins.transform(table, threads=threads), y, data.weight, data.offset


def _objective(data: Dataset, y: Floats, weight: Floats, offset: Floats | None) -> Objective:
    """Return the objective of rows in canonical order."""
    objective = OBJECTIVES[data.objective].of(y, weight, data.n_classes, data.settings)
    return objective if offset is None else objective.beside(offset, y, weight)


def _with_offset(identity: Bytes, offset: Floats | None) -> Bytes:
    """Return what tells rows apart beside the target: rows of different offsets are not merged."""
    if offset is None:
        return identity
    return np.concatenate([identity, row_bytes(offset.reshape(len(offset), -1))], axis=1)


def _n_orders(members: int, table: AnyArray) -> int:
    """Return the number of random orders of the rows: one per member, unless that would take too much memory."""
    return min(members, max(_MIN_ORDERS, _MAX_ENCODED_CELLS // table.size))


def _distinct_rows(data: Dataset, codes: Bytes, sizes: Integers) -> tuple[Integers, Floats]:
    """Return rows in canonical order and their weights, given the bins of the numeric columns."""
    categories = np.nan_to_num(data.X[:, sizes > 0], nan=-1.0).astype(np.int32)
    identity = np.concatenate([codes, np.ascontiguousarray(categories).view(np.uint8)], axis=1)
    identity = _with_offset(identity, data.offset)
    rows, weight, copies = canonical_order(identity, data.y, data.weight)
    return _split_copies(rows, weight, weight if _are_counts(weight, copies, identity, rows) else copies)


def _are_counts(weight: Floats, copies: Integers, identity: Bytes, rows: Integers) -> bool:
    """Return whether weights are counts of equal rows, not importances, which often depend on the target.

    In a table of counts, most rows have another row that differs from them in the target only.
    """
    if (copies > 1).any() or (weight != np.floor(weight)).any() or (weight == 1.0).all() or len(weight) == 1:
        return False
    hashes = native().hash_rows(identity[rows])  # ascending, since rows are in canonical order
    same = hashes[1:] == hashes[:-1]
    return bool((np.append(same, False) | np.append(False, same)).mean() > _MIN_SHARE_DIFFERING_IN_TARGET_ONLY)


def _split_copies(rows: Integers, weight: Floats, copies: AnyArray) -> tuple[Integers, Floats]:
    """Split merged rows into copies again, at most about `_COPIES_PER_ROW` per row.

    Target statistics use the rows that come before in a random order. All of a merged row's weight falls before or
    after another row, which leaks that row's target. Copies are shuffled among the other rows, as distinct rows are.
    Weights that are not counts are not split: copies would leak their own target.
    """
    max_copies = max(_COPIES_PER_ROW * len(rows), _MANY_COPIES)
    n_copies = np.maximum(np.floor(copies * min(1.0, max_copies / copies.sum())), 1).astype(np.int64)
    return np.repeat(rows, n_copies), np.repeat(weight / n_copies, n_copies)
