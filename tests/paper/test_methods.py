"""The paper's methods: on which rows and with which parameters every model is trained."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._boosting.recipe import Recipe
from epiboost.paper.methods import boosted, forests, ngboost
from epiboost.paper.methods.inputs import MethodInputs
from epiboost.paper.problem import load_problem
from epiboost.paper.protocol import PAPER, QUICK

pytest.importorskip("pandas")
pytestmark = pytest.mark.usefixtures("folder")

GRID = replace(QUICK, n_estimators=4, depths=(2, 3), rates=(0.1, 0.3))


@pytest.fixture
def fits(monkeypatch):
    """Record rows and parameters of every fit."""
    seen = []
    for kind in (EpiBoostRegressor, EpiBoostClassifier):

        def fit(self, X, y, *, before=kind.fit):
            seen.append(SimpleNamespace(X=X.copy(), y=y.copy(), **self.get_params()))
            return before(self, X, y)

        monkeypatch.setattr(kind, "fit", fit)
    return seen


def inputs_for(name, protocol=GRID, *, seed=3, **options):
    return MethodInputs(load_problem(name).fold(0), protocol, "native", seed, 1, **options)


def trainer_for(name="yacht", protocol=QUICK, engine="native", fold=None):
    return boosted.Trainer(fold or load_problem(name).fold(0), protocol, engine=engine, seed=3, n_jobs=1)


def chosen_by_sglb(depth, rate):
    return {"cell_of": lambda _: {"chosen": {"max_depth": depth, "learning_rate": rate}}}


def ensembles(fits):
    return [(fit.ensemble, fit.n_members, fit.n_estimators) for fit in fits]


class TestGrid:
    def test_the_pair_of_smallest_validation_loss_is_chosen(self):
        trainer = trainer_for(protocol=replace(QUICK, depths=(1, 3), rates=(0.001, 0.3)))
        chosen, grid = trainer.choose("sglb")
        assert len(grid) == 4
        best = min(grid, key=lambda point: point["validation_nll"])
        assert chosen == {"max_depth": best["max_depth"], "learning_rate": best["learning_rate"]}
        assert chosen["learning_rate"] == 0.3

    @pytest.mark.parametrize("name", ["yacht", "adult"])
    @pytest.mark.parametrize(
        ("method", "after"),
        [
            (boosted.sgb, [("sgb", 1, 4), ("sgb", 2, 4)]),
            (boosted.sglb, [("sglb", 2, 4), ("virtual", 2, 4)]),
        ],
    )
    def test_it_trains_on_its_own_rows_and_later_models_on_all_training_rows(self, fits, name, method, after):
        inputs = inputs_for(name)
        outputs = method(inputs)
        fold = inputs.fold
        assert ensembles(fits) == [(method.__name__, 1, 4)] * 4 + after
        assert [(fit.max_depth, fit.learning_rate) for fit in fits[:4]] == [(2, 0.1), (2, 0.3), (3, 0.1), (3, 0.3)]
        for fit in fits[:4]:
            assert np.array_equal(fit.X, fold.X[fold.fit], equal_nan=True)
            assert np.array_equal(fit.y, fold.y[fold.fit])
        for fit in fits[4:]:
            assert np.array_equal(fit.X, fold.X, equal_nan=True)
            assert {"max_depth": fit.max_depth, "learning_rate": fit.learning_rate} == outputs["chosen"]


class TestBoosted:
    @pytest.mark.parametrize("name", ["yacht", "adult"])
    def test_categories_are_passed_and_splits_are_chosen_on_all_rows(self, fits, name):
        inputs = inputs_for(name)
        boosted.sgb(inputs)
        boosted.sglb(inputs)
        assert len(fits) == 12
        for fit in fits:
            assert fit.structure_rows is None
            assert fit.categorical_features == (list(inputs.fold.categorical) or None)
            assert fit.subsample is None  # the default of the ensemble
            assert (fit.l2, fit.random_state) == (3.0, 3)
        assert inputs_for("adult").fold.categorical == (1, 3)

    def test_trees_of_sgb_are_trained_on_half_of_the_rows_and_those_of_sglb_on_all(self):
        kinds = ("sgb", "sglb", "virtual")
        shares = [
            Recipe(ensemble=kind, n_members=2, n_estimators=4, learning_rate=0.1, max_depth=6).specs(0)[0].subsample
            for kind in kinds
        ]
        assert shares == [0.5, 1.0, 1.0]

    def test_the_single_model_is_the_first_chain_of_the_ensemble(self):
        inputs = inputs_for("yacht", QUICK)
        fold = inputs.fold
        scores = boosted.sglb(inputs)["results"]
        options = {"n_estimators": 20, "max_depth": 3, "learning_rate": 0.1, "variance_guard": 0.0, "n_jobs": 1}
        model = EpiBoostRegressor(ensemble="sglb", n_members=2, structure_rows=None, random_state=3, **options)
        mean = model.fit(fold.X, fold.y).predict_posterior(fold.X_test).parameters[0, :, 0]
        assert scores["sglb_single"]["rmse"] == pytest.approx(np.sqrt(np.mean((mean - fold.y_test) ** 2)))
        assert "prr_knowledge" not in scores["sglb_single"]
        assert scores["vsglb"]["rmse"] != scores["sglb_single"]["rmse"]

    def test_the_variance_guard_and_the_recalibration_are_off(self):
        assert trainer_for().common["out_of_fold"] == 0
        assert trainer_for().common["variance_guard"] == 0.0
        assert "variance_guard" not in trainer_for(engine="catboost").common  # it has none
        assert "variance_guard" not in trainer_for("adult").common


class TestBudget:
    def test_all_have_the_same_total_of_trees_and_a_rate_of_at_most_one(self):
        scores = boosted.budget(inputs_for("yacht", QUICK, **chosen_by_sglb(3, 0.06)))["results"]
        assert [(scores[name]["n_estimators"], scores[name]["learning_rate"]) for name in ("short_10", "short_20")] == [
            (2, pytest.approx(0.6)),
            (1, 1.0),
        ]
        assert 10 * scores["short_10"]["n_estimators"] == 20 * scores["short_20"]["n_estimators"] == QUICK.n_estimators

    def test_depth_and_rate_are_those_that_sglb_chose(self, fits):
        boosted.budget(inputs_for("yacht", replace(GRID, n_estimators=20), **chosen_by_sglb(5, 0.02)))
        assert ensembles(fits) == [("single", 10, 20), ("sglb", 10, 2), ("sglb", 20, 1)]
        assert [fit.max_depth for fit in fits] == [5, 5, 5]
        assert [fit.learning_rate for fit in fits] == pytest.approx([0.02, 0.2, 0.4])


class TestForests:
    @pytest.mark.parametrize(("method", "ensemble"), [(forests.forest, "virtual"), (forests.forests, "sgb")])
    def test_trees_have_depth_ten_on_leave_one_out_encodings(self, fits, method, ensemble):
        inputs = inputs_for("adult", replace(PAPER, n_estimators=4, n_members=2), seed=7)
        fold = inputs.fold
        method(inputs)
        (fit,) = fits
        assert (fit.ensemble, fit.n_members, fit.n_estimators, fit.engine) == (ensemble, 2, 4, "forest")
        assert fit.engine_params == {"max_depth": 10}
        assert fit.categorical_features is None
        for column in range(fold.X.shape[1]):
            values = fold.X[:, column]
            if column in fold.categorical:
                values = forests.leave_one_out(values, fold.y, seed=7 + column)[0]
            assert np.allclose(fit.X[:, column], values)

    def test_leave_one_out_is_the_mean_of_the_other_rows_times_noise(self):
        codes, y = np.array([3, 3, 3, 8, 8, 9]), np.array([0.0, 1.0, 1.0, 0.0, 1.0, 1.0])
        train, test = forests.leave_one_out(codes, y, np.array([3, 8, 9, 4]), seed=5)
        mean = 4 / 6
        without_noise = np.array([1.0, 0.5, 0.5, 1.0, 0.0, mean])
        assert np.allclose(train, without_noise * np.random.default_rng(5).normal(1.0, 0.3, size=6))
        assert np.allclose(test, [2 / 3, 1 / 2, mean, mean])

    def test_the_parts_of_a_forest_average_to_the_forest(self):
        scores = forests.forest(inputs_for("yacht", QUICK, seed=0))["results"]
        assert scores["vrf"]["rmse"] == pytest.approx(scores["rf_single"]["rmse"])
        assert "nll" not in scores["vrf"]  # a regression forest has no variance
        assert "prr_total" not in scores["vrf"]
        assert "prr_knowledge" in scores["vrf"]


def test_ngboost_has_as_many_trees_as_the_validation_rows_favour(monkeypatch):
    inputs = inputs_for("yacht", QUICK, seed=0)
    fold, trained = inputs.fold, []

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

    monkeypatch.setattr(ngboost, "require", lambda *_, **__: SimpleNamespace(NGBRegressor=Staged))
    outputs = ngboost.ngboost(inputs)
    assert trained == [(40, len(fold.fit)), (6, len(fold.y))]
    assert outputs["chosen"]["n_estimators"] == 6


def test_deep_ensembles_learn_mean_and_variance_and_are_deterministic():
    pytest.importorskip("torch")
    from epiboost.paper.methods.deep_ensembles import Networks

    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 7.0, size=(955, 13))
    spread = 0.3 + 0.5 * (X[:, 1] > 3)
    y = 50 + 20 * (np.sin(X[:, 0] / 7) + spread * rng.normal(size=955))
    first, second = (Networks(X[:455], y[:455], units=50, seed=1).predict(X[455:]) for _ in range(2))
    assert first.shape == (5, 500, 2)
    assert np.array_equal(first, second)
    assert np.sqrt(np.mean((first[..., 0].mean(axis=0) - y[455:]) ** 2)) < 0.8 * y.std()
    assert np.corrcoef(first[..., 1].mean(axis=0), spread[455:])[0, 1] > 0.2
