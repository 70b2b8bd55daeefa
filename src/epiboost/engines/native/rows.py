"""The training rows as the native core takes them: bins, in an order of their own, one table a random order of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from epiboost._binning.bins import BinnedTable, Bins
from epiboost._binning.canonical_rows import own_order
from epiboost._boosting.objectives import Objective, objective_of
from epiboost._boosting.recipe import MemberSpec
from epiboost._encoding.encoding import Encoding
from epiboost._encoding.fit import Left, fit_encoding
from epiboost._inputs.dataset import Dataset
from epiboost._native import native
from epiboost._typing import AnyArray, Bytes, Floats, Integers

_MOST_DEVIATIONS = 1e12  # squares of the target must fit single precision
_STATISTIC_BINS = 63  # a statistic of categories is too noisy for more
_FEW_STATISTIC_BINS = 31  # and of few rows it is noisier still
_MANY_ROWS = 16_000
_LEAST_ORDERS = 3  # of the rows, where there are members enough
_MOST_CELLS = 1 << 28  # of the encoded table, in all orders together, if there are more
_SHARE_OF_TWINS = 0.5  # in a table of counts
_PIECES_A_ROW = 4  # on average; more as long as there are not many in all
_MANY_PIECES = 50_000


@dataclass(frozen=True, slots=True)
class BinnedRows:
    """Training rows, ready.

    Attributes
    ----------
    tables : list of arrays of shape (n, columns)
        Bins, for each random order of the rows; one table where there are no categories.
    y, weight : arrays of shape (n,)
        Targets in their own units, and what each row counts for.
    """

    bins: Bins
    encoding: Encoding | None
    objective: Objective
    tables: list[Bytes]
    y: Floats
    weight: Floats


def bin_rows(
    data: Dataset, specs: Sequence[MemberSpec], threads: int, given: Bins | None = None, *, left: Left
) -> BinnedRows:
    """Bin the numbers, encode the categories, bin what they became; put rows into an order of their own.

    Parameters
    ----------
    given : Bins, optional
        Borders to take instead of quantiles.
    left : callable
        Says what trees leave of a target, see `fit_encoding`.
    """
    max_bins = specs[0].max_bins
    if given is not None:
        _check_given(given, data)
    if not any(data.sizes):
        bins, codes = _binned_numbers(data, max_bins, threads, given)
        rows, weight, _ = own_order(codes, data.y, data.weight)
        y = data.y[rows]
        return BinnedRows(bins, None, objective_of(y, weight, data.n_classes), [codes[rows]], y, weight)
    sizes = np.asarray(data.sizes)
    numbers = data.X[:, sizes == 0]
    bins = Bins.fit(numbers, data.weight, max_bins, threads=threads)
    codes = bins.transform(numbers, threads=threads)
    categories = np.nan_to_num(data.X[:, sizes > 0], nan=-1.0).astype(np.int32)
    alike = np.concatenate([codes, np.ascontiguousarray(categories).view(np.uint8)], axis=1)
    rows, weight, copies = own_order(alike, data.y, data.weight)
    rows, weight = _in_pieces(rows, weight, weight if _are_counts(weight, copies, alike, rows) else copies)
    y = data.y[rows]
    objective = objective_of(y, weight, data.n_classes)
    encoding, tables = fit_encoding(
        data.X[rows],
        objective.encode(y),
        weight,
        data.sizes,
        bins=bins,
        binned=codes[rows],
        n_classes=data.n_classes,
        seed=specs[0].seed,
        n_orders=len(specs),
        left=left,
    )
    first = next(tables)
    most = min(max_bins, _STATISTIC_BINS if len(y) >= _MANY_ROWS else _FEW_STATISTIC_BINS)
    bins = bins.joined(Bins.fit(first[:, numbers.shape[1] :], weight, most, threads=threads))
    others = islice(tables, _orders_of(len(specs), first) - 1)
    binned = [bins.transform(table, threads=threads) for table in chain([first], others)]
    return BinnedRows(bins, encoding, objective, binned, y, weight)


def _orders_of(members: int, table: AnyArray) -> int:
    """Return how many random orders of the rows there are: one a member, unless that would take too much memory."""
    return min(members, max(_LEAST_ORDERS, _MOST_CELLS // table.size))


def _binned_numbers(data: Dataset, max_bins: int, threads: int, given: Bins | None) -> tuple[Bins, Bytes]:
    """Return the bins of a table of numbers; a table may come in bins already."""
    if isinstance(data.X, BinnedTable):
        return data.X.bins, data.X.codes
    bins = given or Bins.fit(data.X, data.weight, max_bins, threads=threads)
    return bins, bins.transform(data.X, threads=threads)


def _check_given(bins: Bins, data: Dataset) -> None:
    if any(data.sizes):
        message = "borders are for tables of numbers; this one has columns of categories"
        raise ValueError(message)
    if not isinstance(data.X, BinnedTable):
        bins.check_width(data.X.shape[1])


def _are_counts(weight: Floats, copies: Integers, alike: Bytes, rows: Integers) -> bool:
    """Say whether weights tell how often rows were seen: in a table of counts, most rows differ by the target alone.

    Else they say how much a row matters, often by its target.
    """
    if (copies > 1).any() or (weight != np.floor(weight)).any() or (weight == 1.0).all() or len(weight) == 1:
        return False
    hashes = native().hash_rows(alike[rows])  # rows come sorted by these
    same = hashes[1:] == hashes[:-1]
    return bool((np.append(same, False) | np.append(False, same)).mean() > _SHARE_OF_TWINS)


def _in_pieces(rows: Integers, weight: Floats, copies: AnyArray) -> tuple[Integers, Floats]:
    """Take rows that were seen several times apart.

    One row in a random order is before or after another with all its weight, and then tells which target the other has.
    In pieces they are shuffled into each other, as rows are that differ. Weights that are no counts make no pieces, in
    which a row would see its own target.
    """
    most = max(_PIECES_A_ROW * len(rows), _MANY_PIECES)
    pieces = np.maximum(np.floor(copies * min(1.0, most / copies.sum())), 1).astype(np.int64)
    return np.repeat(rows, pieces), np.repeat(weight / pieces, pieces)


def bin_evaluation(data: Dataset, rows: BinnedRows, threads: int) -> tuple[AnyArray, Floats, Floats]:
    """Return bins, targets in the units of the score, and weights of rows that are watched."""
    y = rows.objective.encode(data.y)
    if not np.abs(y).max() < _MOST_DEVIATIONS:
        message = f"eval_set holds targets that are more than {_MOST_DEVIATIONS:g} standard deviations off those of y"
        raise ValueError(message)
    if isinstance(data.X, BinnedTable):
        return data.X.codes, y, data.weight
    table = data.X if rows.encoding is None else rows.encoding.transform(data.X)[0]
    return rows.bins.transform(table, threads=threads), y, data.weight
