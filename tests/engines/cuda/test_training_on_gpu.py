"""Training on a real GPU gives the bits of the native core; `make test-cuda` runs this where there is one."""

import numpy as np
import pytest

from epiboost._progress import no_progress
from epiboost.engines.cuda.device import is_available
from epiboost.engines.cuda.training import train_on_gpu
from epiboost.engines.native.training import train_here
from epiboost.engines.rounds import Rounds
from tests.support.chain_tables import CASES, LEAF_WISE, LEAF_WISE_CASES, SGLB, assert_same_bits, chain_table
from tests.support.family_targets import TARGETS

pytestmark = [pytest.mark.cuda, pytest.mark.skipif(not is_available(), reason="needs an NVIDIA GPU and CuPy")]


@pytest.mark.parametrize("name", CASES)
def test_trees_have_the_bits_of_the_native_core(name):
    assert_same_bits([chain_table(**CASES[name])], train_on_gpu)


@pytest.mark.parametrize(
    "name",
    [
        "sglb",
        "drawn_weights",
        "classes_offset",
        "columns_of_interactions",
        "gamma_drawn",
        "censored_bootstrap",
        "monotone_drawn",
    ],
)
def test_sanitized_kernels_have_the_bits_of_the_native_core(name):
    assert_same_bits([chain_table(**{**CASES[name], "trees": 2})], train_on_gpu)


@pytest.mark.parametrize("name", LEAF_WISE_CASES)
def test_leaf_wise_trees_have_the_bits_of_the_native_core(name):
    assert_same_bits([chain_table(**LEAF_WISE_CASES[name])], train_on_gpu)


@pytest.mark.parametrize(
    "name", ["sglb", "drawn_weights", "classes", "columns_of_interactions", "255_leaves", "monotone"]
)
def test_sanitized_kernels_of_leaf_wise_trees_have_the_bits_of_the_native_core(name):
    assert_same_bits([chain_table(**{**LEAF_WISE_CASES[name], "trees": 1})], train_on_gpu)


@pytest.mark.parametrize("leaves", [31, 64, 255])
@pytest.mark.parametrize("rows", [10, 5_000, 100_000])
def test_leaf_wise_trees_have_the_same_bits_for_few_and_for_many_rows(rows, leaves):
    options = {**SGLB, **LEAF_WISE, "leaves": leaves}
    assert_same_bits([chain_table(n=rows, chains=3, evaluation=True, **options)], train_on_gpu)


@pytest.mark.parametrize("objective", ["normal", "categorical", "gamma"])
def test_leaf_wise_trees_of_a_large_table_and_of_a_sample(objective):
    options = {"n": 300_000, "leaves": 255, "depth": 255, "trees": 3}
    assert_same_bits([chain_table(objective, chains=1, **options)], train_on_gpu)
    assert_same_bits([chain_table(objective, chains=20, structure_rows=60_000.0, **options)], train_on_gpu)


def test_monotone_leaf_wise_trees_of_many_rows_have_the_bits_of_the_native_core():
    options = {**SGLB, **LEAF_WISE, "leaves": 255, "monotone": (1, -1, 1, 0)}
    assert_same_bits([chain_table(n=20_000, chains=3, evaluation=True, **options)], train_on_gpu)


@pytest.mark.parametrize("rows", [10, 5_000, 100_000])
def test_bits_are_the_same_for_few_and_for_many_rows(rows):
    assert_same_bits([chain_table(n=rows, depth=6, chains=3, **SGLB)], train_on_gpu)


@pytest.mark.parametrize("depth", [1, 6, 8])
def test_monotone_trees_of_many_rows_have_the_bits_of_the_native_core(depth):
    table = chain_table(n=20_000, depth=depth, chains=3, trees=20, evaluation=True, monotone=(1, -1, 1, 0), **SGLB)
    assert_same_bits([table], train_on_gpu)


@pytest.mark.parametrize("objective", TARGETS)
def test_families_of_many_rows_have_the_bits_of_the_native_core(objective):
    assert_same_bits([chain_table(objective, n=20_000, depth=6, chains=3, evaluation=True, **SGLB)], train_on_gpu)


def test_a_large_table_that_chooses_splits_by_all_rows():
    assert_same_bits([chain_table(n=300_000, depth=8, chains=1, trees=3, **SGLB)], train_on_gpu)


def test_tables_pause_together():
    tables = [chain_table(evaluation=True, **SGLB), chain_table(n=90, seed=5, **SGLB)]
    assert_same_bits(tables, train_on_gpu, Rounds(2, lambda n_trees, _predicted: n_trees >= 4))


@pytest.mark.parametrize("shape", [{}, LEAF_WISE])
def test_two_runs_have_the_same_bits(shape):
    first, second = (train_on_gpu([chain_table(n=20_000, **SGLB, **shape)], 1, no_progress)[0] for _ in range(2))
    np.testing.assert_array_equal(first.leaf, second.leaf)


def test_an_interrupted_training_leaves_the_gpu_usable():
    def interrupt(_done, _total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_on_gpu([chain_table(trees=500)], 1, interrupt)
    (expected,) = train_here([chain_table()], 1, no_progress)
    (found,) = train_on_gpu([chain_table()], 1, no_progress)
    np.testing.assert_array_equal(found.leaf, expected.leaf)
