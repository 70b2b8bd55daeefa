"""Chains on parts of the rows, trained beside those on all rows, are the chains of these rows alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epiboost._binning.bins import BinnedTable, Bins
from epiboost._boosting.recipe import Recipe
from epiboost._estimators.training_rows import GivenRows
from epiboost.engines.base import Subset, fit_subsets
from epiboost.engines.native.engine import NativeEngine
from tests.support.cities import city_target, draw
from tests.support.compare import TREES
from tests.support.models import every_ensemble, every_task, small_estimator
from tests.support.tables import regression_table, target_for, with_missing

SIZE = {"n_members": 2, "n_estimators": 8, "learning_rate": 0.1, "max_depth": 3}
N = 240
PARTS = [np.arange(0, N, 2), np.arange(150), np.arange(60, N)]


def dataset_of(task, X, y, **options):
    """Return the checked rows of a table."""
    model = small_estimator(task)
    return model._read_rows(GivenRows(X, y, **options), model._checked_engine()).data


def ignore(_done, _total, /):
    """Report no progress."""


def trained(data, ensemble="sglb", engine=None):
    """Return the forests of all rows and of each part, and the specs of all chains."""
    recipe = Recipe(ensemble=ensemble, **SIZE)
    specs, parts = recipe.specs(0), recipe.out_of_fold_specs(0, len(PARTS))
    subsets = [Subset(rows, (spec,)) for rows, spec in zip(PARTS, parts, strict=True)]
    return fit_subsets(engine or NativeEngine(n_jobs=1), data, specs, subsets, ignore), specs, parts


def assert_same_forest(one, other):
    for name in TREES:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    np.testing.assert_array_equal(one.bins.borders, other.bins.borders)
    assert one.objective.to_header() == other.objective.to_header()
    assert one.decay == other.decay


@every_task
@every_ensemble
def test_parts_of_a_table_of_numbers_are_trained_with_the_bins_of_all_rows(task, ensemble):
    X, y = regression_table(N)
    weight = np.random.default_rng(1).integers(1, 4, size=N).astype(float)
    data = dataset_of(task, with_missing(X), target_for(task, y), sample_weight=weight)
    bins = Bins.fit(data.X, data.weight, 255)
    binned = replace(data, X=BinnedTable(bins, bins.transform(data.X)))
    forests, specs, parts = trained(data, ensemble)
    engine = NativeEngine(n_jobs=1)
    assert_same_forest(forests[0], engine.fit(data, specs, ignore))
    for forest, rows, spec in zip(forests[1:], PARTS, parts, strict=True):
        assert_same_forest(forest, engine.fit(binned.take(rows), (spec,), ignore))


@every_task
def test_parts_of_a_table_with_categories_are_encoded_without_the_other_rows(task):
    frame, y = draw(n=N, known=12)
    data = dataset_of(task, frame, city_target(task, y))
    forests, specs, parts = trained(data)
    engine = NativeEngine(n_jobs=1)
    assert_same_forest(forests[0], engine.fit(data, specs, ignore))
    for forest, rows, spec in zip(forests[1:], PARTS, parts, strict=True):
        alone = engine.fit(data.take(rows), (spec,), ignore)
        assert_same_forest(forest, alone)
        np.testing.assert_array_equal(forest.predict(data.X), alone.predict(data.X))
        assert forest.n_codes == forests[0].n_codes


def test_targets_of_other_rows_do_not_change_the_chain_of_a_part():
    frame, y = draw(n=N, known=12)
    for table in (frame, frame[["size"]]):
        changed = y.copy()
        changed[150:] = 1.0 - changed[150:]
        before, after = (trained(dataset_of("regression", table, target))[0][2] for target in (y, changed))
        assert_same_forest(before, after)


def test_an_engine_without_such_a_method_trains_one_part_after_the_other():
    X, y = regression_table(N)
    data, reports, engine = dataset_of("regression", X, y), [], NativeEngine(n_jobs=1)

    class Plain:
        capabilities = NativeEngine().capabilities

        def fit(self, data, specs, progress):
            return engine.fit(data, specs, progress)

    recipe = Recipe(**SIZE)
    specs, part = recipe.specs(0), recipe.out_of_fold_specs(0, 2)
    subsets = [Subset(rows, (spec,)) for rows, spec in zip(PARTS[:2], part, strict=True)]
    forests = fit_subsets(Plain(), data, specs, subsets, lambda *report: reports.append(report))
    assert len(forests) == 3
    for forest, subset in zip(forests[1:], subsets, strict=True):
        assert_same_forest(forest, engine.fit(data.take(subset.rows), subset.specs, ignore))
    assert {total for _, total in reports} == {4 * SIZE["n_estimators"]}
    assert reports[-1] == (4 * SIZE["n_estimators"], 4 * SIZE["n_estimators"])
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)


@pytest.mark.parametrize("ensemble", ["sglb", "sgb"])
def test_extra_chains_have_other_seeds_than_members(ensemble):
    recipe = Recipe(ensemble=ensemble, **{**SIZE, "n_members": 50})
    seeds = [spec.seed for spec in (*recipe.specs(3), *recipe.out_of_fold_specs(3, 50))]
    assert len(set(seeds)) == 100
    assert recipe.out_of_fold_specs(3, 4) == recipe.out_of_fold_specs(3, 50)[:4]


@given(
    st.lists(st.lists(st.floats(-1e300, 1e300), unique=True, max_size=6), min_size=1, max_size=3),
    st.integers(0, 2**32 - 1),
)
def test_numbers_of_a_binned_table_fall_into_its_bins(borders, seed):
    bins = Bins.of([sorted(column) for column in borders], max_bins=255)
    random = np.random.default_rng(seed)
    codes = np.stack([random.integers(0, count, size=20) for count in bins.counts], axis=1).astype(np.uint8)
    np.testing.assert_array_equal(bins.transform(BinnedTable(bins, codes).numbers()), codes)
