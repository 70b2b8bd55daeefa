"""Leaf-wise trees of a GPU have the bits of the native core. Their kernels run on the processor, in `EmulatedGpu`."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from epiboost._progress import no_progress
from epiboost.engines.cuda.training import train_on_gpu
from epiboost.engines.cuda.training.backend import Definitions
from epiboost.engines.cuda.training.layout import structure
from epiboost.engines.native.training import train_here
from epiboost.engines.rounds import Rounds
from tests.support.chain_tables import LEAF_WISE, LEAF_WISE_CASES, SGLB, assert_same_bits, chain_table
from tests.support.emulated_gpu import COMPILER, EmulatedGpu, library

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")


def emulated(**options):
    return partial(train_on_gpu, backend=EmulatedGpu(**options))


def splits_made(trees):
    """Return the number of splits of each tree."""
    return (trees.parent != 255).sum(axis=2)


@pytest.mark.parametrize("name", LEAF_WISE_CASES)
def test_trees_have_the_bits_of_the_native_core(name):
    assert_same_bits([chain_table(**LEAF_WISE_CASES[name])], emulated())


@pytest.mark.parametrize("name", ["sglb", "drawn", "classes", "columns_of_interactions", "255_leaves", "monotone"])
def test_bits_do_not_depend_on_the_order_of_threads(name):
    assert_same_bits([chain_table(**LEAF_WISE_CASES[name])], emulated(descending=True, threads=128))


@pytest.mark.parametrize("name", ["sglb", "classes", "many_classes"])
def test_histograms_that_do_not_fit_are_in_global_memory(name):
    assert_same_bits([chain_table(**LEAF_WISE_CASES[name])], emulated(shared_bytes=9 * 1024))


@pytest.mark.parametrize("name", ["sglb", "drawn", "six_classes", "columns", "255_leaves"])
def test_several_blocks_may_share_the_rows_of_a_leaf(name, monkeypatch):
    monkeypatch.setattr("epiboost.engines.cuda.training.plan._MIN_TILE_ROWS", 40)
    assert_same_bits([chain_table(**{**LEAF_WISE_CASES[name], "trees": 1})], emulated(processors=16))


@pytest.mark.parametrize("tile_rows", [4096, 40])
@pytest.mark.parametrize("name", ["sglb", "classes", "drawn_weights"])
def test_both_children_are_summed_where_memory_is_short(name, tile_rows, monkeypatch):
    monkeypatch.setattr("epiboost.engines.cuda.training.plan._MIN_TILE_ROWS", tile_rows)
    fields = []
    put = EmulatedGpu.put

    def watch(array):
        if array.dtype == structure("Growth"):
            fields.extend(array["sums"])
        return put(array)

    monkeypatch.setattr(EmulatedGpu, "put", staticmethod(watch))
    table = chain_table(**{**LEAF_WISE_CASES[name], "trees": 1})
    assert_same_bits([table], emulated(processors=16))
    assert all(fields)
    fields.clear()
    monkeypatch.setattr("epiboost.engines.cuda.training.trainer._Training._chain_bytes", without_sums)
    assert_same_bits([table], emulated(processors=16))
    assert fields
    assert not any(fields)


def without_sums(training):
    """Return bytes of a chain that fit only without prefix sums."""
    return training.backend.free if training.shape.keeps_sums else 1


def test_columns_of_256_bins():
    table = chain_table(n=3_000, evaluation=True, **SGLB, **LEAF_WISE)
    rng = np.random.default_rng(0)
    wide = tuple(rng.integers(0, 256, (rows, 4), dtype=np.uint8) for rows in (3_000, len(table.evaluation[1])))
    counts = np.full(4, 256, dtype=table.counts.dtype)
    (trees,) = assert_same_bits(
        [replace(table, tables=wide[:1], counts=counts, evaluation=(wide[1], *table.evaluation[1:]))], emulated()
    )
    assert trees.threshold[trees.parent != 255].max() > 200


def test_tables_of_different_sizes_train_side_by_side():
    options = {**SGLB, **LEAF_WISE}
    tables = [
        chain_table(n=rows, seed=rows, learning_rate=0.1 * i + 0.1, **options) for i, rows in enumerate((150, 20, 333))
    ]
    found = assert_same_bits(tables, emulated())
    assert splits_made(found[1]).max() < splits_made(found[2]).min()


def test_a_tree_makes_no_split_without_gain():
    table = chain_table(**SGLB, **LEAF_WISE)
    (trees,) = assert_same_bits([replace(table, tables=(np.ones_like(table.tables[0]),))], emulated())
    assert not splits_made(trees).any()
    (trees,) = assert_same_bits([chain_table(n=10, **LEAF_WISE)], emulated())
    assert splits_made(trees).max() < 10


def test_of_equal_gains_the_first_leaf_is_split():
    table = chain_table("bernoulli", n=160, start=(0.0,), chains=1, **{**LEAF_WISE, "leaves": 4, "trees": 1})
    side, part = np.repeat([0, 1], 80), np.tile(np.repeat([0, 1], 40), 2)
    y = np.tile(np.concatenate([np.ones(40), np.repeat([1, 0], [30, 10])]), 2)
    y = np.where(side == 0, y, 1 - y).astype(np.float32)  # both sides gain the same
    bins = np.column_stack([side, part, part, part]).astype(np.uint8)
    (trees,) = assert_same_bits([replace(table, tables=(bins,), y=y)], emulated())
    np.testing.assert_array_equal(trees.parent[0, 0], [0, 0, 1])


@pytest.mark.parametrize("stop_at", [4, 100])
def test_scores_and_trees_at_each_pause_are_those_of_the_native_core(stop_at):
    options = {**SGLB, **LEAF_WISE, "leaves": 9, "trees": 6}
    tables = [chain_table(evaluation=True, **options), chain_table(n=90, seed=5, **options)]
    assert_same_bits(tables, emulated(), Rounds(2, lambda n_trees, _predicted: n_trees >= stop_at))


@pytest.mark.parametrize(
    "options", [{}, {"objective": "gamma"}, {"interactions": ((0, 1), (1, 2))}, {"monotone": (1, -1, 0, 0)}]
)
@pytest.mark.parametrize("other_rows", [False, True])
def test_chains_continue_as_in_the_native_core(other_rows, options):
    options = {"evaluation": True, **options, **SGLB, **LEAF_WISE, "leaves": 9, "trees": 5}
    table = chain_table(**options)
    (trees,) = train_here([table], 1, no_progress)
    arrays = trees.feature, trees.threshold, trees.parent, trees.leaf
    given = tuple(np.ascontiguousarray(array[:, :3]) for array in arrays)
    rows = chain_table(seed=3, **options) if other_rows else table
    assert_same_bits([replace(rows, given=given, counts=np.maximum(rows.counts, table.counts))], emulated())


def test_chains_train_in_groups_where_memory_is_short():
    table = chain_table(chains=5, **SGLB, **LEAF_WISE)
    alone, together = EmulatedGpu(free=65_000), EmulatedGpu()
    for backend in (alone, together):
        assert_same_bits([table], partial(train_on_gpu, backend=backend))
    assert alone.launches > together.launches


@pytest.mark.parametrize("name", ["Chains", "Member", "Node", "Growth"])
def test_structures_have_the_size_that_kernels_read(name):
    kernels = library(Definitions(0, 2, 1, counts_squares=True, is_leaf_wise=True))
    assert structure(name).itemsize == kernels.size_of(name.encode())
