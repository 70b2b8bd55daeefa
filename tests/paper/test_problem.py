"""Protocol, folds and out-of-domain rows."""

import numpy as np
import pytest

from epiboost._boosting.recipe import Recipe
from epiboost.paper.problem import load_problem, n_folds, out_of_domain_rows
from epiboost.paper.protocol import PAPER
from tests.support import paper_files

pytest.importorskip("pandas")
pytestmark = pytest.mark.usefixtures("folder")


def test_the_default_protocol_is_that_of_the_paper():
    assert (PAPER.n_estimators, PAPER.n_members, PAPER.forest_depth) == (1000, 10, 10)
    assert (PAPER.depths, PAPER.rates) == ((3, 4, 5, 6), (0.001, 0.01, 0.1))
    assert Recipe(ensemble="virtual", n_members=10, n_estimators=1000).prefixes == tuple(range(550, 1001, 50))
    assert [n_folds(name) for name in ("protein", "yacht", "year", "kick")] == [5, 20, 1, 1]


class TestSplits:
    def test_validation_rows_of_a_regression_are_the_last_fifth_of_the_training_rows(self):
        fold = load_problem("yacht").fold(0)
        assert np.array_equal(np.concatenate([fold.fit, fold.validation]), np.arange(len(fold.y)))
        assert len(fold.validation) == len(fold.y) - int(0.8 * len(fold.y))

    @pytest.mark.parametrize("name", ["adult", "kick"])
    def test_a_classification_is_split_65_15_20(self, name):
        fold = load_problem(name).fold(0)
        shares = np.array([len(fold.fit), len(fold.validation), len(fold.y_test)]) / paper_files.ROWS
        assert np.allclose(shares, [0.65, 0.15, 0.20], atol=0.011)
        assert not set(fold.fit) & set(fold.validation)

    def test_a_standard_split_is_used_if_there_is_one(self, folder):
        test = np.loadtxt(folder / "splits" / "kick_test_idx.txt").astype(int)
        assert np.array_equal(load_problem("kick").fold(0).y_test, load_problem("kick").y[test])


class TestOutOfDomainRows:
    @pytest.mark.parametrize("name", ["yacht", "kick", "churn"])
    def test_they_have_the_means_and_deviations_of_the_training_columns(self, name):
        fold = load_problem(name).fold(0)
        numbers = [c for c in range(fold.X.shape[1]) if c not in fold.categorical and np.nanstd(fold.X[:, c]) > 0]
        assert fold.X_ood.shape == fold.X_test.shape
        assert np.allclose(fold.X_ood[:, numbers].mean(axis=0), np.nanmean(fold.X[:, numbers], axis=0))
        assert np.allclose(fold.X_ood[:, numbers].std(axis=0), np.nanstd(fold.X[:, numbers], axis=0))

    def test_their_categories_are_drawn_uniformly_from_those_of_the_training_rows(self):
        X = np.array([[0.0], [0.0], [0.0], [0.0], [5.0], [7.0]])
        drawn = out_of_domain_rows(X, (0,), 3000, dataset="adult", seed=0)[:, 0]
        values, counts = np.unique(drawn, return_counts=True)
        assert values.tolist() == [0.0, 5.0, 7.0]
        assert (np.abs(counts - 1000) < 110).all()

    def test_they_are_the_same_each_time_and_differ_between_folds(self):
        first, second = load_problem("yacht").fold(0), load_problem("yacht").fold(0)
        assert np.array_equal(first.X_ood, second.X_ood)
        assert not np.array_equal(first.X_ood, load_problem("yacht").fold(1).X_ood)

    def test_column_j_comes_from_column_j_of_the_source(self, folder):
        source = np.loadtxt(folder / "msd" / "timbre_4680x90.csv", delimiter=",", skiprows=1)
        X = np.random.default_rng(0).normal(size=(9, 3))
        rows = out_of_domain_rows(X, (), len(source), dataset="yacht", seed=0)
        for column in range(3):
            ours, theirs = (np.sort((x - x.mean()) / x.std()) for x in (rows[:, column], source[:, column]))
            assert np.allclose(ours, theirs)
