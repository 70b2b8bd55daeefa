"""What is true of engines over other libraries alone."""

import importlib
import importlib.util

import numpy as np
import pytest

from epiboost import EpiBoostRegressor, ModelFileError, persistence

X = np.random.default_rng(0).normal(size=(80, 2))
Y = X[:, 0] + np.random.default_rng(1).normal(scale=0.2, size=80)
OWN = {
    "catboost": {"bootstrap_type": "Bayesian", "model_shrink_rate": 0.1, "posterior_sampling": True, "depth": 3},
    "lightgbm": {"num_leaves": 7, "bagging_fraction": 0.5, "objective": "l1", "lambda_l2": 1.0},
    "xgboost": {"eta": 0.2, "subsample": 0.5, "objective": "reg:squarederror", "max_depth": 2},
}
FREE = {"catboost": {"random_strength": 30.0}, "lightgbm": {"min_data_in_leaf": 20}, "xgboost": {"gamma": 5.0}}


@pytest.fixture(params=list(OWN))
def library(request):
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return request.param


def model(engine, **params):
    return EpiBoostRegressor(
        engine=engine, **{"n_members": 2, "n_estimators": 5, "n_jobs": 1, "random_state": 0, **params}
    )


def test_options_that_our_parameters_set_are_refused_with_the_parameter_that_sets_them(library):
    for name, value in OWN[library].items():
        with pytest.raises(ValueError, match=f"engine_params must not hold '{name}': it is set by "):
            model(library, engine_params={name: value}).fit(X, Y)


def test_other_options_reach_the_library(library):
    plain, own = (model(library, engine_params=params).fit(X, Y).predict(X) for params in (None, FREE[library]))
    assert (plain != own).any()


def test_noise_has_the_same_name_everywhere_members_differ_by_seed_alone(library):
    members = model(library).fit(X, Y).predict_posterior(X).parameters
    assert (members[0] != members[1]).any()
    cold = model(library, temperature=0.0).fit(X, Y).predict_posterior(X).parameters
    if library != "catboost":  # it chooses splits at random as well
        np.testing.assert_array_equal(cold[0], cold[1])


def test_damaged_models_within_an_intact_file_are_refused(library, tmp_path):
    path = tmp_path / "model.epib"
    model(library).fit(X, Y).save(path)
    header, arrays = persistence.read(path)
    damages = {
        "cannot read a model": {"models": np.full_like(arrays["models"], 65)},
        "model_sizes must add up": {"model_sizes": arrays["model_sizes"] + 1},
        "count must say": {"count": arrays["count"] * 0},
        "evaluation must have a row": {"evaluation": arrays["evaluation"][:1]},
    }  # fmt: skip
    for fault, damage in damages.items():
        persistence.write(path, header, {**arrays, **damage})
        with pytest.raises(ModelFileError, match=fault):
            EpiBoostRegressor.load(path)


def test_a_chain_that_forgets_its_beginning_is_refused(library):
    if library == "catboost":
        pytest.skip("it keeps its score in its own units")
    with pytest.raises(
        ValueError, match="forgets its beginning on a table of 3 rows; lower either, or use engine='native'"
    ):
        model(library, n_estimators=1000, learning_rate=1.0).fit(X[:3], Y[:3])


FAULTS = {
    "catboost": (np.ones((20, 2)), "CatBoost cannot train on this: .*All features are either constant or ignored"),
    "xgboost": (np.full((20, 2), 1e300), "XGBoost cannot train on this: .*too large"),
    "lightgbm": (np.arange(40.0).reshape(20, 2), "LightGBM cannot train on this: .*min_data_in_leaf"),
}


def test_the_errors_of_a_library_become_ours(library):
    table, fault = FAULTS[library]
    params = {"min_data_in_leaf": -3} if library == "lightgbm" else None
    with pytest.raises(ValueError, match=fault):
        model(library, engine_params=params).fit(table, Y[:20])


def test_catboost_samples_no_rows_and_keeps_its_shrinkage():
    pytest.importorskip("catboost")
    booster = model("catboost", temperature=2.0).fit(X, Y).forest_.boosters[0]
    params = booster.get_all_params()
    assert params["bootstrap_type"] == "No"
    assert params["model_shrink_rate"] == pytest.approx(1 / (2 * len(X)))
    assert params["diffusion_temperature"] == pytest.approx(len(X) / 2)
    assert params["leaf_estimation_method"] == "Gradient"


def test_rows_are_binned_once_for_all_members(library, monkeypatch):
    kind = {"catboost": "Pool", "lightgbm": "Dataset", "xgboost": "QuantileDMatrix"}[library]
    module = importlib.import_module(library)
    original, made = getattr(module, kind), []

    def counted(*args, **params):
        made.append(kind)
        return original(*args, **params)

    monkeypatch.setattr(module, kind, counted)
    model(library, n_members=4).fit(X, Y)
    assert len(made) == 1


def test_members_side_by_side_share_the_threads(library, monkeypatch):
    crew = importlib.import_module("epiboost.engines.crew")
    module = importlib.import_module(f"epiboost.engines.{library}")
    shares = []

    def noted(train, specs, **options):
        def one(spec, threads, grown):
            shares.append(threads)
            return train(spec, threads, grown)

        return crew.train_members(one, specs, **options)

    monkeypatch.setattr(module, "train_members", noted)
    model(library, n_members=2, n_jobs=4).fit(X, Y)
    assert shares == [2, 2]
