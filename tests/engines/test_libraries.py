"""Engines over other libraries: their options, their model files, and what they share."""

import importlib
import importlib.util

import numpy as np
import pandas as pd
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor, ModelFileError
from epiboost._files import model_file
from epiboost.engines.parallel import train_members

X = np.random.default_rng(0).normal(size=(80, 2))
Y = X[:, 0] + np.random.default_rng(1).normal(scale=0.2, size=80)
REFUSED = {
    "catboost": {
        "bootstrap_type": "it is set by subsample", "model_shrink_rate": "it is set by ensemble",
        "posterior_sampling": "it is set by ensemble", "depth": "it is set by max_depth",
        "target_border": "it is set by this package", "scale_pos_weight": "it is set by sample_weight",
        "auto_class_weights": "it is set by sample_weight", "verbose": "it is set by verbose",
        "eval_metric": "it has no effect here", "n_jobs": "it is set by n_jobs",
    },
    "lightgbm": {
        "num_leaves": "it is set by max_leaves", "bagging_fraction": "it is set by subsample",
        "objective": "it is set by this package", "lambda_l2": "it is set by l2",
        "boosting_type": "it is set by this package", "boost": "it is set by this package",
        "data_sample_strategy": "it is set by subsample", "application": "it is set by this package",
        "loss": "it is set by this package", "shrinkage_rate": "it is set by learning_rate",
        "sub_row": "it is set by subsample", "n_iter": "it is set by n_estimators", "lambda": "it is set by l2",
        "early_stopping_rounds": "it is set by early_stopping_rounds", "is_unbalance": "it is set by sample_weight",
        "class_weight": "it is set by sample_weight", "categorical_feature": "it is set by categorical_features",
        "metric": "it has no effect here", "linear_tree": "it is set by this package", "n_jobs": "it is set by n_jobs",
        "min_data_in_laef": "LightGBM does not know it; did you mean 'min_data_in_leaf'",
        "foo": "LightGBM does not know it",
        "options": "LightGBM does not know it", "num_leave": r"does not know it; 'num_leaves' is set by max_leaves$",
        "learning_rat": r"does not know it; 'learning_rate' is set by learning_rate$",
    },
    "xgboost": {
        "eta": "it is set by learning_rate", "subsample": "it is set by subsample", "lambda_": "it is set by l2",
        "objective": "it is set by this package", "max_depth": "it is set by max_depth",
        "booster": "it is set by this package", "scale_pos_weight": "it is set by sample_weight",
        "early_stopping_rounds": "it is set by early_stopping_rounds", "missing": "it has no effect here",
        "nthreads": "it is set by n_jobs", "num_parallel_tree": "it is set by this package",
        "gama": "XGBoost does not know it; did you mean 'gamma'", "rate_drop": "XGBoost does not know it",
        "max_dept": r"does not know it; 'max_depth' is set by max_depth$", "etta": "'eta' is set by learning_rate",
    },
    "forest": {
        "class_weight": "it is set by sample_weight", "bootstrap": "it is set by this package",
        "oob_score": "it has no effect here", "max_featurs": "did you mean 'max_features'",
        "n_jobs": "it is set by n_jobs", "n_estimator": r"does not know it; 'n_estimators' is set by n_estimators$",
    },
}  # fmt: skip
ALLOWED = {
    "catboost": [{"rsm": 0.4}],
    "lightgbm": [{"min_data_in_leaf": 20}, {"min_child_samples": 20}, {"min_data": 20}, {"min_child_weight": 20.0},
                 {"feature_fraction": 0.5}, {"reg_alpha": 5.0}, {"max_delta_step": 0.1}],
    "xgboost": [{"gamma": 5.0}, {"min_split_loss": 5.0}, {"colsample_bytree": 0.5}, {"alpha": 5.0},
                {"max_delta_step": 0.1}, {"min_child_weight": 20.0}],
}  # fmt: skip


@pytest.fixture(params=list(ALLOWED))
def library(request):
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return request.param


def model(engine, **params):
    return EpiBoostRegressor(
        engine=engine, **{"n_members": 2, "n_estimators": 5, "n_jobs": 1, "random_state": 0, **params}
    )


@pytest.mark.parametrize("engine", REFUSED)
def test_an_option_that_is_set_elsewhere_is_refused_by_name(engine):
    if engine != "forest":
        pytest.importorskip(engine)
    for name, reason in REFUSED[engine].items():
        with pytest.raises(ValueError, match=f"engine_params must not hold '{name}': .*{reason}"):
            model(engine, ensemble="sgb", engine_params={name: 1}).fit(X, Y)


def test_other_options_reach_the_library_under_any_name(library):
    plain = model(library).fit(X, Y).predict(X)
    for params in ALLOWED[library]:
        assert (model(library, engine_params=params).fit(X, Y).predict(X) != plain).any(), params


def test_one_option_under_two_names_is_refused():
    pytest.importorskip("lightgbm")
    with pytest.raises(ValueError, match="must not hold 'min_data': it is the same as 'min_data_in_leaf'"):
        model("lightgbm", engine_params={"min_child_samples": 3, "min_data": 5}).fit(X, Y)


def test_an_option_may_replace_a_default_of_ours():
    pytest.importorskip("lightgbm")
    model("lightgbm", engine_params={"force_row_wise": True}).fit(X, Y)


def test_the_poisson_criterion_is_refused():
    with pytest.raises(ValueError, match="must not hold criterion='poisson'"):
        model("forest", ensemble="sgb", engine_params={"criterion": "poisson"}).fit(X, Y + 10)


@pytest.mark.parametrize("l2", [0.0, 3.0])
@pytest.mark.parametrize("kind", ["sglb", "sgb"])
def test_a_seed_gives_the_same_chain_in_lightgbm_and_xgboost(l2, kind):
    # Two leaves at most, so trees differ only in whether they split; without a split all rows take a uniform step.
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    table = np.repeat([0.0, 1.0], [30, 10])[:, np.newaxis]
    y = np.random.default_rng(0).normal(size=40) + table[:, 0]
    settings = {"ensemble": kind, "max_depth": 1, "l2": l2, "n_estimators": 60, "variance_guard": 0.0}
    first, second = (model(name, **settings).fit(table, y).forest_ for name in ("lightgbm", "xgboost"))
    for prefix in (1, 2, 10, 31, 60):
        parts = [forest.predict(np.array([[0.0], [1.0]]), prefixes=[prefix]) for forest in (first, second)]
        np.testing.assert_allclose(parts[0], parts[1], rtol=1e-4, atol=1e-5)
    if l2 and kind == "sglb":
        assert (first.uniform != 0).any()
        assert first.iterations[0, -1] < 60


def test_an_unseen_category_is_a_missing_value(library):
    if library == "catboost":
        pytest.skip("CatBoost encodes unseen categories in its own way")
    pandas = pytest.importorskip("pandas")
    colour = np.array(["red", "green", None], dtype=object)[np.arange(90) % 3]
    frame = pandas.DataFrame({"colour": colour, "size": np.arange(90) / 90})
    y = np.where(colour == "red", 5.0, 0.0) + np.where(pandas.isna(colour), 9.0, 0.0)
    fitted = model(library, n_estimators=30).fit(frame, y)
    queries = pandas.DataFrame({"colour": ["violet", None, "green"], "size": [0.5, 0.5, 0.5]})
    violet, missing, green = fitted.predict_posterior(queries).parameters.swapaxes(0, 1)
    np.testing.assert_array_equal(violet, missing)
    assert np.abs(missing[:, 0] - green[:, 0]).min() > 1


def test_catboost_starts_two_classes_at_their_log_odds():
    pytest.importorskip("catboost")
    labels = np.arange(400) % 40 == 0
    table = np.random.default_rng(0).normal(size=(400, 2))
    fitted = EpiBoostClassifier(engine="catboost", n_members=2, n_estimators=1, random_state=0).fit(table, labels)
    assert fitted.predict_proba(table)[:, 1].mean() < 0.05


def test_catboost_prints_nothing(capfd):
    pytest.importorskip("catboost")
    labels = np.arange(80) % 20 == 0
    EpiBoostClassifier(engine="catboost", n_members=2, n_estimators=3, random_state=0).fit(X, labels)
    assert capfd.readouterr() == ("", "")


def test_without_noise_members_are_equal(library):
    members = model(library).fit(X, Y).predict_posterior(X).parameters
    assert (members[0] != members[1]).any()
    cold = model(library, temperature=0.0).fit(X, Y).predict_posterior(X).parameters
    if library != "catboost":  # it chooses splits at random as well
        np.testing.assert_array_equal(cold[0], cold[1])


def test_damaged_models_within_an_intact_file_are_refused(library, tmp_path):
    path = tmp_path / "model.epib"
    model(library).fit(X, Y).save(path)
    header, arrays = model_file.read(path)
    damages = {
        "cannot be read": {"models": np.full_like(arrays["models"], 65)},
        "model_sizes must add up": {"model_sizes": arrays["model_sizes"] + 1},
        "count must be the number of trees": {"count": arrays["count"] * 0},
        "evaluation must have one row per member": {"evaluation": arrays["evaluation"][:1]},
    }  # fmt: skip
    for fault, damage in damages.items():
        model_file.write(path, header, {**arrays, **damage})
        with pytest.raises(ModelFileError, match=fault):
            EpiBoostRegressor.load(path)


def test_a_chain_that_shrinks_its_first_trees_to_nothing_is_refused(library):
    if library == "catboost":
        pytest.skip("CatBoost shrinks its score itself")
    with pytest.raises(ValueError, match="to nothing on a table of 3 rows; lower either, or use engine='native'"):
        model(library, n_estimators=1000, learning_rate=1.0).fit(X[:3], Y[:3])


FAULTS = {
    "catboost": (np.ones((20, 2)), "CatBoost cannot train on this: .*All features are either constant or ignored"),
    "xgboost": (np.arange(40.0).reshape(20, 2), "XGBoost cannot train on this: .*colsample_bytree"),
    "lightgbm": (np.arange(40.0).reshape(20, 2), "LightGBM cannot train on this: .*min_data_in_leaf"),
}


def test_an_error_of_a_library_is_a_value_error_with_its_name(library):
    table, fault = FAULTS[library]
    params = {"lightgbm": {"min_data_in_leaf": -3}, "xgboost": {"colsample_bytree": 3.0}}.get(library)
    with pytest.raises(ValueError, match=fault):
        model(library, engine_params=params).fit(table, Y[:20])


def test_catboost_has_no_bootstrap_and_our_shrinkage():
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


def test_parallel_members_share_the_threads(library, monkeypatch):
    shares = []

    def recording(train, specs, **options):
        def one(spec, threads, report_trees):
            shares.append(threads)
            return train(spec, threads, report_trees)

        return train_members(one, specs, **options)

    monkeypatch.setattr("epiboost.engines.libraries.engine.train_members", recording)
    model(library, n_members=2, n_jobs=4).fit(X, Y)
    assert shares == [2, 2]


def test_numbers_beyond_single_precision_beside_categories_are_no_reason_for_a_warning(library):
    frame = pd.DataFrame({"town": ["a", "b"] * 30, "size": 10.0 ** np.arange(60) * np.where(np.arange(60) % 2, 1, -1)})
    fitted = model(library).fit(frame, np.arange(60.0))
    assert np.isfinite(fitted.predict(frame)).all()


@pytest.mark.parametrize("constraints", [[0, 1], "0,-1"])
def test_monotone_constraints_of_lightgbm_on_categories_are_refused(constraints):
    pytest.importorskip("lightgbm")
    table = np.column_stack([np.arange(40.0), np.arange(40) % 3])
    params = {"categorical_features": [1], "n_estimators": 2, "engine_params": {"monotone_constraints": constraints}}
    with pytest.raises(ValueError, match=r"set those of the categorical columns \[1\] to 0"):
        model("lightgbm", **params).fit(table, np.arange(40.0))
    params["engine_params"] = {"monotone_constraints": [1, 0]}
    assert (np.diff(model("lightgbm", **params).fit(table, np.arange(40.0)).predict(table)[::3]) >= 0).all()
