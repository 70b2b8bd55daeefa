"""The native search for the nearest row agrees with NumPy on every instruction set."""

import numpy as np
import pytest

from epiboost._native import VARIABLE, available_instruction_sets, native

NO_GROUPS = np.empty(0, dtype=np.int64)


@pytest.fixture(params=available_instruction_sets())
def core(request, monkeypatch):
    """Return the native core of an instruction set."""
    monkeypatch.setenv(VARIABLE, request.param)
    native.cache_clear()
    yield native()
    native.cache_clear()


def distances(queries, reference, weight):
    """Return the distance of each query to each reference row, summed column by column in single precision."""
    total = np.zeros((len(queries), reference.shape[1]), dtype=np.float32)
    for column, of_category in enumerate(weight):
        value, other = queries[:, column, np.newaxis], reference[column]
        total += np.where(value == other, np.float32(0), of_category) if of_category else np.abs(other - value)
    return total


@pytest.mark.parametrize("n_reference", [1, 7, 1024, 2500])
def test_the_nearest_row_is_that_of_numpy_bit_by_bit(core, n_reference):
    rng = np.random.default_rng(n_reference)
    weight = np.array([0.0, 2.5, 0.0, 1.0], dtype=np.float32)
    reference = rng.normal(size=(4, n_reference)).astype(np.float32)
    queries = rng.normal(size=(50, 4)).astype(np.float32)
    for table in (reference.T, queries):
        table[:, [1, 3]] = rng.integers(0, 3, size=(len(table), 2))
    expected = distances(queries, reference, weight)
    distance, nearest = core.nearest_rows(queries, reference, weight, NO_GROUPS)
    assert (distance == expected.min(axis=1)).all()
    assert (nearest == expected.argmin(axis=1)).all()


@pytest.mark.parametrize("n_groups", [1500, 40])
def test_rows_of_the_same_group_are_left_out(core, n_groups):
    table = np.random.default_rng(0).normal(size=(1500, 3)).astype(np.float32)
    expected = distances(table, np.ascontiguousarray(table.T), np.zeros(3, dtype=np.float32))
    groups = np.arange(1500) % n_groups
    expected[groups[:, np.newaxis] == groups] = np.inf
    weight = np.zeros(3, dtype=np.float32)
    distance, nearest = core.nearest_rows(table, np.ascontiguousarray(table.T), weight, groups)
    assert (distance == expected.min(axis=1)).all()
    assert (nearest == expected.argmin(axis=1)).all()


def test_tables_of_other_columns_are_refused(core):
    table = np.zeros((2, 3), dtype=np.float32)
    with pytest.raises(ValueError, match="the same columns"):
        core.nearest_rows(table, table, np.zeros(3, dtype=np.float32), NO_GROUPS)


def test_values_are_compared_with_those_of_their_column(core):
    rng = np.random.default_rng(0)
    columns = [np.sort(rng.normal(size=size)).astype(np.float32) for size in (1, 40, 0, 3000)]
    offsets = np.cumsum([0, *map(len, columns)])
    queries = rng.normal(size=(60, 4)).astype(np.float32)
    queries[:20, 1] = columns[1][:20]
    distance = core.nearest_values(queries, np.concatenate(columns), offsets)
    count = core.count_values(queries, np.concatenate(columns), offsets)
    for column, values in enumerate(columns):
        query = queries[:, column, np.newaxis]
        assert (distance[:, column] == np.abs(query - values).min(axis=1, initial=np.inf)).all()
        assert (count[:, column] == (values >= query).sum(axis=1)).all()
    for wrong in (offsets[:-1], offsets[[0, 2, 1, 3, 4]], offsets + 1):
        with pytest.raises(ValueError, match="offsets must divide"):
            core.nearest_values(queries, np.concatenate(columns), wrong)
