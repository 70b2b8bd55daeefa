"""A family that a user registers trains with the engines of libraries, and is refused by name where it cannot."""

import re

import numpy as np
import pytest

from epiboost import EpiBoostRegressor, Posterior, load
from epiboost._boosting.objectives import OBJECTIVES, number_families
from epiboost.engines import register_family, unregister_family
from tests.support.documentation import DOCS, blocks_of

SMALL = {"n_members": 2, "n_estimators": 20, "random_state": 0}


@pytest.fixture
def logistic():
    """Return the namespace of the page that registers a family, which is forgotten afterwards."""
    pytest.importorskip("lightgbm")
    (block,) = [block for block in blocks_of("python", (DOCS / "contributing.md").read_text()) if "Logistic" in block]
    names = {"__name__": "page"}
    exec(compile(re.sub(r"print\(.*\)", "", block), "contributing.md", "exec"), names)  # noqa: S102 (our own page)
    yield names
    unregister_family("logistic")


class TestOfThePage:
    @pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
    def test_a_library_learns_it(self, logistic, engine):
        pytest.importorskip(engine)
        X, y = logistic["X"], logistic["y"]
        model = EpiBoostRegressor(distribution="logistic", engine=engine, **SMALL).fit(X, y)
        location = X[:, 0]
        truth = Posterior(np.column_stack([location, np.full_like(location, 0.1)])[np.newaxis], "logistic")
        assert -model.predict_posterior(X).logpdf(y).mean() < -truth.logpdf(y).mean() + 0.2

    def test_its_model_is_recalibrated_and_saved(self, logistic, tmp_path):
        model = EpiBoostRegressor(distribution="logistic", engine="lightgbm", **{**SMALL, "out_of_fold": 4})
        model.fit(logistic["X"], logistic["y"]).save(tmp_path / "model.epib")
        X = logistic["X"]
        assert np.array_equal(load(tmp_path / "model.epib").predict_interval(X, 0.8), model.predict_interval(X, 0.8))

    def test_auto_compares_it_with_the_others(self, logistic):
        model = EpiBoostRegressor(distribution="auto", engine="lightgbm", **SMALL, out_of_fold=0)
        assert "logistic" in model.fit(logistic["X"][:100], logistic["y"][:100]).family_choice_.losses

    def test_the_gradient_is_the_slope_of_the_loss_in_the_fisher_metric(self, logistic):
        objective = logistic["Logistic"].of(logistic["y"], np.ones(len(logistic["y"])))
        scores = np.random.default_rng(0).normal(size=(50, 2))
        y, step = objective.encode(logistic["y"][:50]), 1e-6
        for output in range(2):
            moved = [scores + sign * step * np.eye(2)[output] for sign in (1, -1)]
            slope = (objective.row_losses(moved[0], y) - objective.row_losses(moved[1], y)) / (2 * step)
            natural = slope * np.square(objective.noise_scale(scores)[:, output])
            assert objective.gradient(scores, y)[:, output] == pytest.approx(natural, rel=1e-4, abs=1e-6)

    def test_the_native_engine_says_what_is_missing(self, logistic):
        with pytest.raises(ValueError, match="no formulas of the family 'logistic'; use engine='lightgbm'"):
            EpiBoostRegressor(distribution="logistic", **SMALL).fit(logistic["X"], logistic["y"])

    def test_auto_leaves_it_out_where_the_engine_cannot_learn_it(self, logistic):
        model = EpiBoostRegressor(distribution="auto", **SMALL, out_of_fold=4)
        assert "logistic" not in model.fit(logistic["X"], logistic["y"]).family_choice_.losses


def test_a_name_is_registered_once():
    with pytest.raises(ValueError, match="there is a family 'poisson' already"):
        register_family(OBJECTIVES["poisson"])
    with pytest.raises(TypeError, match="subclass of NumberObjective"):
        register_family(OBJECTIVES["bernoulli"])


def test_no_family_is_left_over():
    assert "logistic" not in number_families()
    with pytest.raises(ValueError, match="unknown distribution 'logistic'"):
        unregister_family("logistic")
