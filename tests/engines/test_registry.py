"""Engines by name, with parameters of their own."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from epiboost import EpiBoostRegressor, ModelFileError
from epiboost.engines import Capabilities, register_engine, unregister_engine
from epiboost.engines.registry import engine_named
from tests.support.toy_engine import ToyEngine, ToyForest

X = np.random.default_rng(0).normal(size=(60, 2))
Y = X[:, 0]


def small(**params):
    return EpiBoostRegressor(n_members=2, n_estimators=5, random_state=0, **params)


def test_a_registered_engine_is_known_by_name_until_it_is_removed(toy, tmp_path):
    model = small(engine=toy).fit(X, Y)
    assert isinstance(model.forest_, ToyForest)
    model.save(tmp_path / "model.epib")
    unregister_engine(toy)
    with pytest.raises(ValueError, match=r"engine must be one of 'native'.*; got 'toy'"):
        small(engine=toy).fit(X, Y)
    with pytest.raises(ModelFileError, match=r"engine must be one of 'native'.*register_engine.*; got 'toy'"):
        EpiBoostRegressor.load(tmp_path / "model.epib")


def test_an_engine_given_as_text_is_imported_on_first_use():
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
    plain, other = (small(engine=toy, engine_params=params).fit(X, Y) for params in (None, {"quantiles": np.int64(3)}))
    assert (plain.predict(X) != other.predict(X)).any()
    other.save(tmp_path / "model.epib")
    assert EpiBoostRegressor.load(tmp_path / "model.epib").engine_params == {"quantiles": 3}


@pytest.mark.parametrize(("params", "fault"), [
    ({"steam": 3}, r"engine_params must be among \['quantiles'\] for engine='toy'; got \{'steam': 3\}"),
    (["quantiles"], r"engine_params must be None or a dictionary from names to values; got \['quantiles'\]"),
    ({3: 4}, "engine_params must be None or a dictionary"),
])  # fmt: skip
def test_unknown_engine_params_are_refused(toy, params, fault):
    with pytest.raises(ValueError, match=fault):
        small(engine=toy, engine_params=params).fit(X, Y)


def test_an_engine_given_as_an_object_takes_no_engine_params():
    with pytest.raises(ValueError, match="give them to the Engine itself"):
        small(engine=ToyEngine(), engine_params={"quantiles": 3}).fit(X, Y)
    assert small(engine=ToyEngine(quantiles=3)).fit(X, Y).predict(X).shape == (60,)


def test_an_unsupported_parameter_may_stay_at_its_default(toy):
    small(engine=toy, max_depth="auto").fit(X, Y)
    with pytest.raises(ValueError, match="engine='toy' does not support max_depth=5; leave it at its default, 'auto'"):
        small(engine=toy, max_depth=5).fit(X, Y)
    with pytest.raises(ValueError, match="does not support max_depth=5"):
        small(engine=ToyEngine(), max_depth=5).fit(X, Y)


def test_a_registered_name_is_replaced_only_on_request():
    with pytest.raises(ValueError, match="there is an engine 'native' already; replace it with replace=True"):
        register_engine("native", ToyEngine, ToyForest.from_file)
    register_engine("toy", ToyEngine, ToyForest.from_file)
    register_engine("toy", lambda **_: ToyEngine(quantiles=2), ToyForest.from_file, replace=True)
    assert engine_named("toy", n_jobs=1) == ToyEngine(quantiles=2)
    unregister_engine("toy")


def test_an_engine_is_registered_with_a_name_and_callables():
    with pytest.raises(ValueError, match="the name of an engine must be a text that is not empty; got 3"):
        register_engine(3, ToyEngine, ToyForest.from_file)
    with pytest.raises(TypeError, match=r"must be callables or 'package.module:name'; got 'toy'"):
        register_engine("toy", "toy", ToyForest.from_file)
    with pytest.raises(ValueError, match="engine must be one of"):
        unregister_engine("steam")


def test_an_estimator_is_not_an_engine():
    fault = r"or an Engine; got RandomForestRegressor\(\); posterior_from takes fitted models"
    with pytest.raises(ValueError, match=fault):
        small(engine=RandomForestRegressor()).fit(X, Y)


def test_n_jobs_is_not_an_option_of_an_engine(toy):
    with pytest.raises(ValueError, match="engine_params must not hold 'n_jobs': it is set by n_jobs"):
        small(engine=toy, engine_params={"n_jobs": 1}).fit(X, Y)


class NumbersOnly(ToyEngine):
    capabilities = Capabilities(categories=False, sample_weight=False, evaluation_set=False)


@pytest.mark.parametrize(("table", "arguments", "fault"), [
    ([["a", 1.0], ["b", 2.0]] * 10, {}, "categorical columns; turn them into numbers"),
    (X[:20], {"sample_weight": np.arange(1, 21)}, "sample_weight; leave it out"),
    (X[:20], {"eval_set": (X, Y)}, "eval_set; leave it out"),
], ids=["categories", "sample_weight", "eval_set"])  # fmt: skip
def test_data_that_an_engine_does_not_declare_is_refused(table, arguments, fault):
    table = np.array(table, dtype=object) if isinstance(table, list) else table
    with pytest.raises(ValueError, match=rf"engine='NumbersOnly.*' does not support {fault}"):
        small(engine=NumbersOnly()).fit(table, Y[:20], **arguments)
    small(engine=NumbersOnly()).fit(X[:20], Y[:20], sample_weight=np.ones(20))


def test_what_a_factory_returns_must_be_an_engine():
    register_engine("toy", lambda n_jobs: n_jobs, ToyForest.from_file)
    try:
        with pytest.raises(TypeError, match=r"engine='toy' is registered with .*, whose result has no capabilities"):
            small(engine="toy").fit(X, Y)
    finally:
        unregister_engine("toy")


def test_a_class_that_is_not_called_is_not_an_engine():
    with pytest.raises(ValueError, match="or an Engine; got <class"):
        small(engine=ToyEngine).fit(X, Y)


def test_an_invalid_seed_is_refused_by_name():
    with pytest.raises(ValueError, match=r"random_state must be None, a number from 0 .*; got -1"):
        EpiBoostRegressor(random_state=-1).fit(X, Y)


def test_the_documentation_shows_the_toy_engine_verbatim():
    root = Path(__file__).parents[2]
    toy_engine = (root / "tests" / "support" / "toy_engine.py").read_text()
    assert toy_engine in (root / "docs" / "engines.md").read_text()


def test_the_toy_engine_needs_the_public_names_alone():
    toy_engine = (Path(__file__).parents[1] / "support" / "toy_engine.py").read_text()
    assert set(re.findall(r"(?:from|import) (epiboost[.\w]*)", toy_engine)) == {"epiboost.engines"}
