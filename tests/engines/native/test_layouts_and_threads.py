"""What the core computes of rows and columns is the same for every layout, precision and number of threads."""

import numpy as np
import pytest

from epiboost._binning.bins import Bins
from epiboost._binning.canonical_rows import hash_numbers, row_bytes
from epiboost._native import native

THREADS = (1, 2, 5)
SHAPES = ((1, 1), (3, 70), (64, 1), (65, 3), (20_000, 5), (700, 130))
LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "backwards": lambda X: np.ascontiguousarray(X[::-1])[::-1],
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "every third row": lambda X: np.repeat(X, 3, axis=0)[::3],
}


def numbers(shape, dtype):
    """Return numbers with zeros of both signs, infinities, missing values, and a first column without any."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape).astype(dtype)
    X[rng.random(shape) < 0.3] = np.nan
    X[rng.random(shape) < 0.1] = -0.0
    X[rng.random(shape) < 0.1] = 0.0
    X[rng.random(shape) < 0.05] = np.inf
    X[:, :1] = np.nan
    return X


@pytest.fixture(params=SHAPES, ids=str)
def shape(request):
    return request.param


@pytest.fixture(params=[np.float32, np.float64])
def table(shape, request):
    return numbers(shape, request.param)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_ranges_are_those_of_numpy(table, layout):
    has_numbers = ~np.isnan(table).all(axis=0)
    low, high = (np.where(has_numbers, f.reduce(table), end) for f, end in ((np.fmin, np.inf), (np.fmax, -np.inf)))
    for threads in THREADS:
        found_low, found_high, missing = native().column_ranges(LAYOUTS[layout](table), threads)
        np.testing.assert_array_equal(found_low, low)
        np.testing.assert_array_equal(found_high, high)
        np.testing.assert_array_equal(missing, np.isnan(table).any(axis=0))
        assert not np.signbit(found_low[found_low == 0.0]).any()
        assert not np.signbit(found_high[found_high == 0.0]).any()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_hashes_of_numbers_are_those_of_their_bytes(table, layout):
    more = numbers((len(table), 2), np.float64)
    expected = native().hash_rows(row_bytes(np.column_stack([table, more])))
    for threads in THREADS:
        found = hash_numbers(LAYOUTS[layout](table), more[:, 0], more[:, 1], threads=threads)
        np.testing.assert_array_equal(found, expected)


def test_hashes_of_more_rows_than_a_block(monkeypatch):
    X, y = numbers((1000, 3), np.float64), np.arange(1000.0)
    whole = hash_numbers(X, y)
    monkeypatch.setattr("epiboost._binning.canonical_rows._BLOCK_ROWS", 7)
    np.testing.assert_array_equal(hash_numbers(X, y), whole)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bins_do_not_depend_on_precision_layout_or_threads(shape, layout):
    single = numbers(shape, np.float32)
    weight = np.ones(len(single))
    double = Bins.fit(single.astype(np.float64), weight, max_bins=255)
    expected = double.transform(single.astype(np.float64))
    for threads in THREADS:
        bins = Bins.fit(LAYOUTS[layout](single), weight, max_bins=255, threads=threads)
        np.testing.assert_array_equal(bins.borders, double.borders)
        np.testing.assert_array_equal(bins.transform(LAYOUTS[layout](single), threads=threads), expected)


@pytest.mark.parametrize("rows", [100, 2500, 9000])
def test_bins_depend_on_the_order_of_values_only(rows):
    rank = np.random.default_rng(0).permutation(rows).astype(np.float64)
    columns = {
        "of one sign and exponent": 1e15 + rank,
        "that differ in their last bits": np.ldexp(1.0 + rank * 2.0**-52, 3),
        "in short runs of nearly equal ones": (rank // 7 + 1.0) * (1.0 + 2.0**-45 * (rank % 7)),
        "of both signs": -1e15 + 2e15 * (rank > rows / 2) + rank,
        "of all sizes": np.exp((rank - rows / 2) * 1400.0 / rows),
    }
    expected = fitted_codes(rank)
    for name, column in columns.items():
        np.testing.assert_array_equal(fitted_codes(column), expected, err_msg=name)


def fitted_codes(column):
    X = column[:, np.newaxis]
    return Bins.fit(X, np.ones(len(X)), max_bins=255).transform(X)


def test_nearest_rows_do_not_depend_on_threads():
    rng = np.random.default_rng(1)
    queries, rows = rng.normal(size=(500, 7)).astype(np.float32), rng.normal(size=(7, 300)).astype(np.float32)
    weight, groups = np.zeros(7, dtype=np.float32), np.empty(0, dtype=np.int64)
    distance, nearest = native().nearest_rows(queries, rows, weight, groups, 1)
    assert (nearest == np.abs(queries[:, :, None] - rows).sum(axis=1).argmin(axis=1)).all()
    for threads in THREADS:
        np.testing.assert_array_equal(
            native().nearest_rows(queries, rows, weight, groups, threads), (distance, nearest)
        )
