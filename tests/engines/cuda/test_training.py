"""Training on a GPU gives the bits of the native core. The kernels run on the processor here, in `EmulatedGpu`."""

import ctypes
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from epiboost._progress import no_progress
from epiboost.engines.cuda.device import DeviceError
from epiboost.engines.cuda.sources import folder, text_of
from epiboost.engines.cuda.training import train_on_gpu, unsupported
from epiboost.engines.cuda.training.backend import Definitions
from epiboost.engines.cuda.training.layout import structure
from epiboost.engines.native.training import train_here
from epiboost.engines.rounds import Rounds
from tests.support.chain_tables import CASES, SGLB, assert_same_bits, chain_table
from tests.support.emulated_gpu import COMPILER, EmulatedGpu, library

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")


def emulated(**options):
    return partial(train_on_gpu, backend=EmulatedGpu(**options))


@pytest.mark.parametrize("name", CASES)
def test_trees_have_the_bits_of_the_native_core(name):
    assert_same_bits([chain_table(**CASES[name])], emulated())


@pytest.mark.parametrize("name", ["sglb", "drawn", "classes", "columns", "censored_lognormal", "monotone_everywhere"])
def test_bits_do_not_depend_on_the_order_of_threads(name):
    assert_same_bits([chain_table(**CASES[name])], emulated(descending=True, threads=128))


@pytest.mark.parametrize("name", ["sglb", "classes", "many_classes", "monotone_everywhere"])
@pytest.mark.parametrize("kilobytes", [11, 9])
def test_histograms_that_do_not_fit_are_summed_in_parts(name, kilobytes):
    assert_same_bits([chain_table(**CASES[name])], emulated(shared_bytes=kilobytes * 1024))


@pytest.mark.parametrize("name", ["sglb", "drawn", "columns"])
def test_several_blocks_may_share_the_rows_of_a_column(name, monkeypatch):
    monkeypatch.setattr("epiboost.engines.cuda.training.plan._MIN_TILE_ROWS", 40)
    assert_same_bits([chain_table(**CASES[name])], emulated(processors=16))


@pytest.mark.parametrize("name", ["sglb", "drawn", "classes", "columns_of_interactions", "monotone_drawn"])
@pytest.mark.parametrize("tile_rows", [4096, 40])
def test_a_block_may_take_several_columns(name, tile_rows, monkeypatch):
    monkeypatch.setattr("epiboost.engines.cuda.training.plan._CROWDED_WAVES", 0)
    monkeypatch.setattr("epiboost.engines.cuda.training.plan._MIN_TILE_ROWS", tile_rows)
    assert_same_bits([chain_table(**CASES[name])], emulated(processors=16, shared_bytes=96 * 1024))


def test_tables_of_different_sizes_train_side_by_side():
    tables = [
        chain_table(n=rows, seed=rows, learning_rate=0.1 * i + 0.1, **SGLB) for i, rows in enumerate((150, 64, 333))
    ]
    assert_same_bits(tables, emulated())


def test_tables_with_and_without_constraints_train_side_by_side():
    tables = [chain_table(**CASES["monotone"]), chain_table(n=90, seed=5, **SGLB)]
    assert_same_bits(tables, emulated())


def test_a_heavy_table_changes_the_order_of_additions_of_all():
    heavy = chain_table("normal", "real", n=100, **SGLB)
    tables = [chain_table(**SGLB), replace(heavy, weight=heavy.weight * np.float32(1000.0))]
    assert_same_bits(tables, emulated())


def test_one_row_with_most_of_the_weight():
    table = chain_table(weights="real", **SGLB)
    weight = table.weight.copy()
    weight[3] = 1e7
    assert_same_bits([replace(table, weight=weight)], emulated())


@pytest.mark.parametrize("objective", ["normal", "student"])
def test_rows_with_the_same_bins_are_neighbours(objective):
    table = chain_table(objective, n=60, **SGLB)
    twice = np.repeat(np.arange(60), 3)
    copies = replace(table, tables=(table.tables[0][twice],), y=table.y[twice], weight=table.weight[twice])
    assert_same_bits([copies], emulated())


def test_orders_of_rows_are_shared_by_chains():
    table = chain_table(chains=5, **SGLB)
    other = table.tables[0].copy()
    other[:, 0] = other[::-1, 0]
    assert_same_bits([replace(table, tables=(table.tables[0], other))], emulated())


def test_a_column_without_splits_is_left_out():
    table = chain_table(**SGLB)
    constant = table.tables[0].copy()
    constant[:, 1:] = 1
    assert_same_bits([replace(table, tables=(constant,))], emulated())


def test_no_split_at_all_gives_trees_of_one_leaf():
    table = chain_table(**SGLB)
    assert_same_bits([replace(table, tables=(np.ones_like(table.tables[0]),))], emulated())


class TestRounds:
    @pytest.mark.parametrize("objective", ["normal", "negative_binomial", "censored_weibull"])
    @pytest.mark.parametrize("stop_at", [4, 100])
    def test_scores_and_trees_at_each_pause_are_those_of_the_native_core(self, stop_at, objective):
        seen = []

        def done(n_trees, predicted):
            seen.append((n_trees, [None if one is None else one.copy() for one in predicted]))
            return n_trees >= stop_at

        tables = [chain_table(objective, evaluation=True, **SGLB), chain_table(objective, n=90, seed=5, **SGLB)]
        assert_same_bits(tables, emulated(), Rounds(2, done))
        of_core, of_gpu = seen[: len(seen) // 2], seen[len(seen) // 2 :]
        assert [trees for trees, _ in of_core] == [trees for trees, _ in of_gpu]
        for (_, left), (_, right) in zip(of_core, of_gpu, strict=True):
            np.testing.assert_array_equal(left[0], right[0])
            assert left[1] is None
            assert right[1] is None


class TestGivenTrees:
    @pytest.mark.parametrize("options", [{}, {"objective": "gamma"}, {"monotone": (1, -1, 0, 0)}])
    @pytest.mark.parametrize("other_rows", [False, True])
    def test_chains_continue_as_in_the_native_core(self, other_rows, options):
        table = chain_table(evaluation=True, **options, **SGLB)
        (trees,) = train_here([table], 1, no_progress)
        given = tuple(array[:, :3] for array in (trees.feature, trees.threshold, trees.parent, trees.leaf))
        given = tuple(np.ascontiguousarray(array) for array in given)
        rows = chain_table(evaluation=True, seed=3, **options, **SGLB) if other_rows else table
        counts = np.maximum(rows.counts, table.counts)
        assert_same_bits([replace(rows, given=given, counts=counts)], emulated())


class TestMemory:
    def test_chains_train_in_groups_where_memory_is_short(self):
        backend = EmulatedGpu(free=60_000)
        assert_same_bits([chain_table(chains=5, **SGLB)], partial(train_on_gpu, backend=backend))
        together = EmulatedGpu()
        train_on_gpu([chain_table(chains=5, **SGLB)], 1, no_progress, backend=together)
        assert backend.launches > together.launches

    def test_too_little_memory_is_an_error_with_the_numbers(self):
        with pytest.raises(DeviceError, match=r"1 chains of 150 rows need .* GB of GPU memory, and 0.00 GB are free"):
            train_on_gpu([chain_table()], 1, no_progress, backend=EmulatedGpu(free=1000))


class TestUnsupported:
    def test_what_kernels_lack_is_refused_by_name(self):
        table = chain_table(depth=9)
        assert unsupported(table) == "max_depth"
        with pytest.raises(ValueError, match="max_depth"):
            train_on_gpu([table], 1, no_progress, backend=EmulatedGpu())

    def test_usual_recipes_are_supported(self):
        assert unsupported(chain_table(**SGLB)) is None
        assert unsupported(chain_table(leaves=255, depth=255)) is None


def test_the_list_of_tables_is_emptied():
    tables = [chain_table()]
    train_on_gpu(tables, 1, no_progress, backend=EmulatedGpu())
    assert not tables


def test_progress_ends_at_all_trees():
    reports = []
    train_on_gpu([chain_table(chains=3)], 1, lambda *report: reports.append(report), backend=EmulatedGpu())
    assert reports[-1] == (18, 18)
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)


def test_an_exception_of_the_progress_stops_training():
    def interrupt(_done, _total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_on_gpu([chain_table()], 1, interrupt, backend=EmulatedGpu())


def test_kernels_take_from_the_standard_library_what_nvrtc_is_given():
    (given,) = re.findall(r"namespace std {\n(.*?)}  // namespace std", text_of("core/standard.hpp"), re.DOTALL)
    kernels = [path for path in (folder() / "cuda").rglob("*") if path.suffix in {".cu", ".cuh"}]
    used = {name for path in kernels for name in re.findall(r"\bstd::(\w+)", path.read_text())}
    assert used <= set(re.findall(r"\w+", given))
    assert "uint32_t" in used


@pytest.mark.parametrize("name", ["Chains", "Member", "Step", "TablePart"])
def test_structures_have_the_size_that_kernels_read(name):
    kernels = library(Definitions(0, 2, 1, counts_squares=True))
    assert structure(name).itemsize == kernels.size_of(ctypes.c_char_p(name.encode()))
