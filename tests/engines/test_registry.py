"""The door: engines by name, with parameters of their own."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from epiboost import EpiBoostRegressor, ModelFileError
from epiboost.engines import engine_named, engine_names, register_engine, unregister_engine
from tests.support.toy_engine import ToyEngine, ToyForest

X = np.random.default_rng(0).normal(size=(60, 2))
Y = X[:, 0]


@pytest.fixture
def toy():
    register_engine("toy", ToyEngine, ToyForest.from_file)
    yield "toy"
    if "toy" in engine_names():
        unregister_engine("toy")


def small(**params):
    return EpiBoostRegressor(n_members=2, n_estimators=5, random_state=0, **params)


def test_a_registered_engine_is_known_by_its_name_until_it_is_forgotten(toy, tmp_path):
    model = small(engine=toy).fit(X, Y)
    assert isinstance(model.forest_, ToyForest)
    model.save(tmp_path / "model.epib")
    unregister_engine(toy)
    with pytest.raises(ValueError, match=r"engine must be one of 'native'.*; got 'toy'"):
        small(engine=toy).fit(X, Y)
    with pytest.raises(ModelFileError, match=r"engine must be one of 'native'.*register_engine.*; got 'toy'"):
        EpiBoostRegressor.load(tmp_path / "model.epib")


def test_an_engine_is_imported_from_its_place_when_it_is_asked_for():
    register_engine("toy", "tests.support.toy_engine:ToyEngine", "tests.support.toy_engine:ToyForest.from_file")
    register_engine("nowhere", "no_such_module:Engine", "no_such_module:Forest")
    try:
        assert small(engine="toy").fit(X, Y).forest_.n_features == 2
        with pytest.raises(ModuleNotFoundError, match="no_such_module"):
            small(engine="nowhere").fit(X, Y)
    finally:
        unregister_engine("toy")
        unregister_engine("nowhere")


def test_engine_params_reach_the_engine_and_the_file(toy, tmp_path):
    plain, own = (small(engine=toy, engine_params=params).fit(X, Y) for params in (None, {"quantiles": np.int64(3)}))
    assert (plain.predict(X) != own.predict(X)).any()
    own.save(tmp_path / "model.epib")
    assert EpiBoostRegressor.load(tmp_path / "model.epib").engine_params == {"quantiles": 3}


@pytest.mark.parametrize(("params", "fault"), [
    ({"steam": 3}, r"engine_params must be among \['quantiles'\] for engine='toy'; got \{'steam': 3\}"),
    (["quantiles"], r"engine_params must be None or a dictionary from names to values; got \['quantiles'\]"),
    ({3: 4}, "engine_params must be None or a dictionary"),
])  # fmt: skip
def test_engine_params_that_are_none_are_refused(toy, params, fault):
    with pytest.raises(ValueError, match=fault):
        small(engine=toy, engine_params=params).fit(X, Y)


def test_an_engine_that_is_given_whole_takes_no_engine_params():
    with pytest.raises(ValueError, match="give them to the Engine itself"):
        small(engine=ToyEngine(), engine_params={"quantiles": 3}).fit(X, Y)
    assert small(engine=ToyEngine(quantiles=3)).fit(X, Y).predict(X).shape == (60,)


def test_a_parameter_left_at_its_default_is_not_asked_for(toy):
    small(engine=toy, max_depth=6).fit(X, Y)
    with pytest.raises(ValueError, match="engine='toy' cannot honour max_depth=5; leave it at its default, 6"):
        small(engine=toy, max_depth=5).fit(X, Y)
    with pytest.raises(ValueError, match="cannot honour max_depth=5"):
        small(engine=ToyEngine(), max_depth=5).fit(X, Y)


def test_a_name_is_taken_once():
    with pytest.raises(ValueError, match="there is an engine 'native' already; replace=True"):
        register_engine("native", ToyEngine, ToyForest.from_file)
    register_engine("toy", ToyEngine, ToyForest.from_file)
    register_engine("toy", lambda **_: ToyEngine(quantiles=2), ToyForest.from_file, replace=True)
    assert engine_named("toy", n_jobs=1) == ToyEngine(quantiles=2)
    unregister_engine("toy")


def test_what_is_registered_must_be_callable_and_named():
    with pytest.raises(ValueError, match="the name of an engine must be text; got 3"):
        register_engine(3, ToyEngine, ToyForest.from_file)
    with pytest.raises(TypeError, match=r"must be callables or 'package.module:name'; got 'toy'"):
        register_engine("toy", "toy", ToyForest.from_file)
    with pytest.raises(ValueError, match="engine must be one of"):
        unregister_engine("steam")


def test_an_estimator_is_no_engine():
    with pytest.raises(ValueError, match=r"or an Engine; got RandomForestRegressor\(\); posterior_from takes models"):
        small(engine=RandomForestRegressor()).fit(X, Y)


def test_threads_are_no_option_of_an_engine(toy):
    with pytest.raises(ValueError, match="engine_params must not hold 'n_jobs': it is set by n_jobs"):
        small(engine=toy, engine_params={"n_jobs": 1}).fit(X, Y)


def test_a_seed_that_is_none_is_refused_by_name():
    with pytest.raises(ValueError, match=r"random_state must be None, a number from 0 .*; got -1"):
        EpiBoostRegressor(random_state=-1).fit(X, Y)


def test_the_documentation_shows_the_toy_engine_as_it_is():
    root = Path(__file__).parents[2]
    toy_engine = (root / "tests" / "support" / "toy_engine.py").read_text()
    assert toy_engine in (root / "docs" / "engines.md").read_text()
