"""The paper's protocol, fit by fit: what every model is trained on and with, and what is made of its posterior."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._boosting.recipe import Recipe
from epiboost._posterior.posterior import Posterior
from epiboost.paper import figures
from epiboost.paper.methods import boosted, forests, measures
from epiboost.paper.methods import ngboost as natural
from epiboost.paper.methods.timer import Timer
from epiboost.paper.methods.evaluation import evaluate
from epiboost.paper.problem import problem
from epiboost.paper.protocol import PAPER, QUICK

pytest.importorskip("pandas")

GRID = replace(QUICK, n_estimators=4, depths=(2, 3), rates=(0.1, 0.3))


pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def fits(monkeypatch):
    """Record what every estimator is given."""
    seen = []
    for kind in (EpiBoostRegressor, EpiBoostClassifier):

        def fit(self, X, y, *, before=kind.fit):
            seen.append(SimpleNamespace(X=X.copy(), y=y.copy(), **self.get_params()))
            return before(self, X, y)

        monkeypatch.setattr(kind, "fit", fit)
    return seen


def trainer(name, protocol=GRID):
    return boosted.Trainer(problem(name).fold(0), protocol, "native", 3, 1)


def kinds(fits):
    return [(one.ensemble, one.n_members, one.n_estimators) for one in fits]


# Which models are trained


@pytest.mark.parametrize("name", ["yacht", "adult"])
@pytest.mark.parametrize(
    ("method", "grid", "after"),
    [
        ("sgb", "sgb", [("sgb", 1, 4), ("sgb", 2, 4)]),
        ("sglb", "sglb", [("sglb", 2, 4), ("virtual", 2, 4)]),
    ],
)
def test_a_grid_learns_from_its_own_rows_and_the_models_after_it_from_all(fits, name, method, grid, after):
    own = trainer(name)
    made = getattr(boosted, method)(own, Timer())
    assert kinds(fits) == [(grid, 1, 4)] * 4 + after
    assert [(one.max_depth, one.learning_rate) for one in fits[:4]] == [(2, 0.1), (2, 0.3), (3, 0.1), (3, 0.3)]
    for one in fits[:4]:
        assert np.array_equal(one.X, own.fold.X[own.fold.fit], equal_nan=True)
        assert np.array_equal(one.y, own.fold.y[own.fold.fit])
    for one in fits[4:]:
        assert np.array_equal(one.X, own.fold.X, equal_nan=True)
        assert {"max_depth": one.max_depth, "learning_rate": one.learning_rate} == made["chosen"]


@pytest.mark.parametrize("name", ["yacht", "adult"])
def test_every_boosted_model_takes_categories_as_such_and_splits_from_all_rows(fits, name):
    own = trainer(name)
    boosted.sgb(own, Timer())
    boosted.sglb(own, Timer())
    assert len(fits) == 12
    for one in fits:
        assert one.structure_rows is None
        assert one.categorical_features == (list(own.fold.categorical) or None)
        assert one.subsample is None  # what the ensemble calls for
        assert (one.l2, one.random_state) == (3.0, 3)
    assert trainer("adult").fold.categorical == (1, 3)


def test_trees_of_sgb_see_half_of_the_rows_and_those_of_sglb_all():
    kinds_of = ("sgb", "sglb", "virtual")
    shares = [Recipe(ensemble=kind, n_members=2, n_estimators=4).specs(0)[0].subsample for kind in kinds_of]
    assert shares == [0.5, 1.0, 1.0]


def test_the_budget_has_the_depth_and_rate_that_were_chosen(fits):
    boosted.budget(trainer("yacht", replace(GRID, n_estimators=20)), Timer(), {"max_depth": 5, "learning_rate": 0.02})
    assert kinds(fits) == [("single", 10, 20), ("sglb", 10, 2), ("sglb", 20, 1)]
    assert [one.max_depth for one in fits] == [5, 5, 5]
    assert [one.learning_rate for one in fits] == pytest.approx([0.02, 0.2, 0.4])


@pytest.mark.parametrize(("method", "ensemble"), [("forest", "virtual"), ("forests", "sgb")])
def test_forests_have_trees_of_depth_ten_on_leave_one_out_means(fits, method, ensemble):
    fold = problem("adult").fold(0)
    getattr(forests, method)(fold, replace(PAPER, n_estimators=4, n_members=2), 7, 1, Timer())
    (one,) = fits
    assert (one.ensemble, one.n_members, one.n_estimators, one.engine) == (ensemble, 2, 4, "forest")
    assert one.engine_params == {"max_depth": 10}
    assert one.categorical_features is None
    for column in range(fold.X.shape[1]):
        plain = fold.X[:, column]
        encoded = forests.leave_one_out(plain, fold.y, seed=7 + column)[0] if column in fold.categorical else plain
        assert np.allclose(one.X[:, column], encoded)


def test_ngboost_is_cut_where_validation_rows_say_and_trained_anew_on_all(monkeypatch):
    fold = problem("yacht").fold(0)
    trained = []

    class Staged:
        def __init__(self, n_estimators, **_):
            self.trees = n_estimators

        def fit(self, X, _):
            trained.append((self.trees, len(X)))
            return self

        def staged_pred_dist(self, X):
            assert len(X) == len(fold.validation)
            return [norm(np.mean(fold.y), 1 + abs(stage - 5)) for stage in range(self.trees)]  # the sixth is best

        def pred_dist(self, X):
            return SimpleNamespace(params={"loc": np.zeros(len(X)), "scale": np.ones(len(X))})

    monkeypatch.setattr(natural, "require", lambda *_, **__: SimpleNamespace(NGBRegressor=Staged))
    made = natural.natural(fold, QUICK, 0, Timer())
    assert trained == [(40, len(fold.fit)), (6, len(fold.y))]
    assert made["chosen"]["n_estimators"] == 6


def test_each_panel_of_the_virtual_figure_is_of_the_ensemble_that_it_names(monkeypatch):
    monkeypatch.setattr(figures, "heart_map", lambda ensemble, **_: f"heart {ensemble}")
    monkeypatch.setattr(figures, "spiral_map", lambda ensemble, **_: f"spiral {ensemble}")
    assert figures._MAPS["virtual"]({}) == {
        "heart, SGLB ensemble": "heart sglb",
        "heart, vSGLB": "heart virtual",
        "spiral, SGLB ensemble": "spiral sglb",
        "spiral, vSGLB": "spiral virtual",
    }


# What is made of a posterior


def regression(**parts):
    """Return a fold of four test rows."""
    return SimpleNamespace(task="regression", y_test=np.array([0.0, 1.0, 2.0, 6.0]), by_rows=False, **parts)


MEANS = np.array([[0.0, 1.0, 1.0, 2.0], [0.0, 1.2, 2.0, 6.0]])
VARIANCES = np.array([[0.5, 0.5, 1.0, 2.0], [0.5, 0.5, 1.0, 2.0]])
INSIDE = Posterior(np.stack([MEANS, VARIANCES], axis=-1), "normal")
OUTSIDE = Posterior(np.stack([MEANS * [[-9.0], [9.0]] + [[-9.0], [9.0]], 9 * VARIANCES], axis=-1), "normal")


def test_figures_of_a_regression_are_those_worked_out_by_hand():
    found = measure(INSIDE, OUTSIDE, regression())
    y = regression().y_test
    density = 0.5 * (norm.pdf(y, MEANS[0], VARIANCES[0] ** 0.5) + norm.pdf(y, MEANS[1], VARIANCES[1] ** 0.5))
    assert found["nll"] == pytest.approx(-np.log(density).mean())
    assert found["nll"] > 0
    assert found["rmse"] == pytest.approx(np.sqrt((0 + 0.1**2 + 0.5**2 + 2**2) / 4))
    # Variances and disagreement grow with the error, and are larger outside.
    assert found["prr_total"] == found["prr_knowledge"] == pytest.approx(100)
    assert found["ood_auc_total"] == found["ood_auc_knowledge"] == pytest.approx(100)
    assert set(found) == {"nll", "rmse", "prr_total", "prr_knowledge", "ood_auc_total", "ood_auc_knowledge"}


def test_an_area_is_nothing_where_rows_inside_are_the_more_uncertain_ones():
    assert measure(OUTSIDE, INSIDE, regression())["ood_auc_knowledge"] == pytest.approx(0)


def test_figures_of_a_classification_are_those_worked_out_by_hand():
    ones = np.array([[0.9, 0.8, 0.9, 0.4], [0.9, 0.9, 0.7, 0.8]])
    fold = SimpleNamespace(task="classification", y_test=np.array([1, 1, 1, 0]), by_rows=True)
    sure = Posterior(np.stack([1 - ones, ones], axis=-1), "categorical")
    torn = Posterior(np.array([[[0.99, 0.01]] * 4, [[0.01, 0.99]] * 4]), "categorical")
    found = measure(sure, torn, fold)
    assert found["nll"] == pytest.approx(-np.log([0.9, 0.85, 0.8, 0.4]).mean())
    assert found["error_percent"] == 25
    assert found["prr_total"] == found["prr_knowledge"] == pytest.approx(100)
    assert found["ood_auc_total"] == found["ood_auc_knowledge"] == pytest.approx(100)
    assert measures.measure(torn, sure, fold)["ood_auc_total"] == pytest.approx(0)
    assert set(found["rows"]) == {"nll", "error_percent"}
