"""Engines of libraries learn every family by the gradient of its objective, or say why they cannot."""

import numpy as np
import pytest

from epiboost import EpiBoostRegressor, load
from epiboost._boosting.objectives import number_families
from epiboost.datasets import make_family

FAMILIES = [name for name in number_families() if name != "normal"]
SMALL = {"n_members": 2, "n_estimators": 15, "learning_rate": 0.2, "max_depth": 4, "out_of_fold": 0, "random_state": 0}


def loss_of(model, table):
    return -model.predict_posterior(table.X).logpdf(table.y).mean()


@pytest.mark.parametrize("engine", ["native", "lightgbm", "xgboost"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_learned_better_than_its_start(engine, family):
    if engine != "native":
        pytest.importorskip(engine)
    train, test = (make_family(600, distribution=family, random_state=seed) for seed in (0, 1))
    parameters = {**SMALL, "engine": engine, "distribution": family}
    start = EpiBoostRegressor(**{**parameters, "n_estimators": 2, "learning_rate": 1e-6}).fit(train.X, train.y)
    model = EpiBoostRegressor(**parameters).fit(train.X, train.y)
    assert loss_of(model, test) < loss_of(start, test) - 0.02


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("family", ["poisson", "gamma"])
def test_a_model_of_a_library_keeps_its_family_in_a_file(engine, family, tmp_path):
    pytest.importorskip(engine)
    table = make_family(300, distribution=family, random_state=0)
    model = EpiBoostRegressor(**SMALL, engine=engine, distribution=family).fit(table.X, table.y)
    model.save(tmp_path / "model.epib")
    assert np.array_equal(load(tmp_path / "model.epib").predict(table.X), model.predict(table.X))


@pytest.mark.parametrize(
    ("engine", "reason"), [("catboost", "a Normal, by a loss of the library"), ("forest", "a mean alone")]
)
def test_an_engine_that_cannot_learn_a_family_says_why(engine, reason):
    if engine == "catboost":
        pytest.importorskip("catboost")
    table = make_family(100, distribution="poisson", random_state=0)
    model = EpiBoostRegressor(engine=engine, distribution="poisson", ensemble="sgb", n_members=2, n_estimators=5)
    with pytest.raises(ValueError, match=rf"cannot learn distribution='poisson'; .* {reason}.*use engine='native'"):
        model.fit(table.X, table.y)
