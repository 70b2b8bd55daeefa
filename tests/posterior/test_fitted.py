"""Posteriors of models that other libraries have trained."""

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from threadpoolctl import threadpool_limits

from epiboost import posterior_from

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(150, 3))
SIGNAL = X[:, 0] + GENERATOR.normal(scale=0.3, size=150)
Y = 50 + 10 * SIGNAL
CLASSES = {2: np.array(["no", "yes"]), 3: np.array(["low", "middle", "top"])}
NOISELESS = "trained without Langevin noise"


@pytest.fixture(autouse=True)
def one_thread():
    """Train small models with one thread, so that they do not wait for each other."""
    with threadpool_limits(1):
        yield


def labels(classes, *, text=True):
    codes = np.digitize(SIGNAL, np.quantile(SIGNAL, np.arange(1, classes) / classes))
    return CLASSES[classes][codes] if text else codes


def catboost_model(loss, y, **params):
    catboost = pytest.importorskip("catboost")
    estimator = catboost.CatBoostRegressor if loss.startswith("RMSE") else catboost.CatBoostClassifier
    settings = {"iterations": 45, "depth": 3, "learning_rate": 0.1, "verbose": False, "allow_writing_files": False}
    return estimator(loss_function=loss, random_seed=0, **{**settings, **params}).fit(X, y)


@pytest.mark.parametrize(
    ("loss", "y"),
    [("RMSEWithUncertainty", Y), ("RMSE", Y), ("Logloss", labels(2)), ("MultiClass", labels(3))],
    ids=["normal", "mean", "two classes", "three classes"],
)
def test_members_of_catboost_are_its_virtual_ensemble(loss, y):
    model = catboost_model(loss, y, posterior_sampling=True)
    posterior = posterior_from(model, X, n_members=6)
    expected = np.asarray(
        model.virtual_ensembles_predict(X, prediction_type="VirtEnsembles", virtual_ensembles_count=6)
    )
    expected = expected.reshape(len(X), 6, -1).transpose(1, 0, 2)
    if loss == "Logloss":
        expected = np.concatenate([1 / (1 + np.exp(expected)), 1 / (1 + np.exp(-expected))], axis=2)
    if loss == "MultiClass":
        expected = np.exp(expected) / np.exp(expected).sum(axis=2, keepdims=True)
    np.testing.assert_allclose(posterior.parameters, expected, rtol=1e-6)
    assert (posterior.uncertainty().knowledge > 0).any()
    if posterior.family == "categorical":
        np.testing.assert_array_equal(posterior.classes, model.classes_)
        most_probable = posterior.classes[posterior.parameters[-1].argmax(axis=1)]
        np.testing.assert_array_equal(most_probable, model.predict(X).ravel())


def test_catboost_without_noise_or_stopped_early_warns():
    with pytest.warns(UserWarning, match=NOISELESS):
        posterior_from(catboost_model("RMSE", Y), X)
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostRegressor(posterior_sampling=True, iterations=200, learning_rate=0.5, verbose=False,
                                       allow_writing_files=False, random_seed=0)  # fmt: skip
    model.fit(X, Y, eval_set=(X, GENERATOR.permutation(Y)), early_stopping_rounds=30, use_best_model=False)
    assert model.tree_count_ < 200
    with pytest.warns(UserWarning, match="stopped early"):
        posterior_from(model, X)


def test_an_unsupported_loss_of_catboost_is_refused_by_name():
    with pytest.raises(ValueError, match="does not support the loss 'MultiClassOneVsAll'"):
        posterior_from(catboost_model("MultiClassOneVsAll", labels(3)), X)


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_members_of_lightgbm_are_its_stages(classes):
    lightgbm = pytest.importorskip("lightgbm")
    y = labels(classes) if classes else Y
    estimator = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
    model = estimator(n_estimators=20, verbosity=-1, n_jobs=1).fit(X, y)
    with pytest.warns(UserWarning, match=NOISELESS):
        posterior = posterior_from(model, X, n_members=5)
    with pytest.warns(UserWarning, match=NOISELESS):
        raw = posterior_from(model.booster_, X, n_members=5)
    for member, trees in zip(posterior.parameters, (12, 14, 16, 18, 20), strict=True):
        expected = model.predict_proba(X, num_iteration=trees) if classes else model.predict(X, num_iteration=trees)
        np.testing.assert_allclose(member, expected.reshape(len(X), -1), rtol=1e-12)
    np.testing.assert_allclose(raw.parameters, posterior.parameters, rtol=1e-12)
    assert raw.classes is None
    assert (posterior.classes.tolist() == CLASSES[classes].tolist()) if classes else posterior.classes is None


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_members_of_xgboost_are_its_stages(classes):
    xgboost = pytest.importorskip("xgboost")
    y = labels(classes, text=False) if classes else Y
    estimator = xgboost.XGBClassifier if classes else xgboost.XGBRegressor
    model = estimator(n_estimators=20, max_depth=3, n_jobs=1).fit(X, y)
    with pytest.warns(UserWarning, match=NOISELESS):
        posterior = posterior_from(model, X, n_members=5)
    for table in (X, xgboost.DMatrix(X)):
        with pytest.warns(UserWarning, match=NOISELESS):
            raw = posterior_from(model.get_booster(), table, n_members=5)
        np.testing.assert_allclose(raw.parameters, posterior.parameters, rtol=1e-6)
    for member, trees in zip(posterior.parameters, (12, 14, 16, 18, 20), strict=True):
        expected = (model.predict_proba if classes else model.predict)(X, iteration_range=(0, trees))
        np.testing.assert_allclose(member, expected.reshape(len(X), -1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_a_model_stopped_early_is_used_at_its_best_iteration_and_warns(library):
    module = pytest.importorskip(library)
    y_eval = Y + np.random.default_rng(1).normal(scale=5, size=len(Y))
    if library == "lightgbm":
        data = module.Dataset(X, Y)
        settings = {"objective": "regression", "verbosity": -1, "num_threads": 1}
        stop = module.early_stopping(3, verbose=False)
        valid = data.create_valid(X, y_eval)
        model = module.train(settings, data, 200, valid_sets=[valid], callbacks=[stop])
        best, last = model.best_iteration, model.predict(X)
    else:
        settings = {"nthread": 1, "learning_rate": 0.1, "max_depth": 3}
        evals = [(module.DMatrix(X, y_eval), "evaluation")]
        model = module.train(
            settings, module.DMatrix(X, Y), 200, evals=evals, early_stopping_rounds=3, verbose_eval=False
        )
        best = model.best_iteration + 1
        last = model.predict(module.DMatrix(X), iteration_range=(0, best))
    assert 4 < best < 200
    with pytest.warns(UserWarning, match=NOISELESS), pytest.warns(UserWarning, match="stopped early"):
        posterior = posterior_from(model, X, n_members=2)
    np.testing.assert_allclose(posterior.parameters[-1, :, 0], last, rtol=1e-6)


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_members_of_histogram_boosting_are_its_stages(classes):
    y = labels(classes) if classes else Y
    estimator = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    model = estimator(max_iter=20).fit(X, y)
    with pytest.warns(UserWarning, match=NOISELESS):
        posterior = posterior_from(model, X, n_members=5)
    staged = list(model.staged_predict_proba(X) if classes else model.staged_predict(X))
    for member, trees in zip(posterior.parameters, (12, 14, 16, 18, 20), strict=True):
        np.testing.assert_array_equal(member, staged[trees - 1].reshape(len(X), -1))
    assert posterior.family == ("categorical" if classes else "mean")


def test_histogram_boosting_stopped_early_warns():
    model = HistGradientBoostingRegressor(max_iter=400, early_stopping=True, learning_rate=0.5, random_state=0)
    model.fit(X, GENERATOR.permutation(Y))
    with pytest.warns(UserWarning, match=NOISELESS), pytest.warns(UserWarning, match="stopped early"):
        posterior_from(model, X, n_members=2)


@pytest.mark.parametrize("estimator", [RandomForestClassifier, RandomForestRegressor, ExtraTreesRegressor])
def test_the_average_over_parts_of_a_forest_is_the_forest(estimator):
    classes = estimator is RandomForestClassifier
    model = estimator(20, max_depth=4, random_state=0).fit(X, labels(3) if classes else Y)
    posterior = posterior_from(model, X, n_members=5)
    expected = model.predict_proba(X) if classes else model.predict(X)
    np.testing.assert_allclose(posterior.mean, expected, rtol=1e-9)
    assert (posterior.uncertainty().knowledge > 0).any()
    if not classes:
        with pytest.raises(ValueError, match="data uncertainty is not known"):
            _ = posterior.uncertainty().data


def test_the_last_member_of_gradient_boosting_is_the_model():
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, Y)
    with pytest.warns(UserWarning, match=NOISELESS):
        posterior = posterior_from(model, X)
    np.testing.assert_array_equal(posterior.parameters[-1, :, 0], model.predict(X))


def test_a_subclass_of_a_forest_is_a_forest():
    class Subclass(RandomForestRegressor):
        pass

    assert posterior_from(Subclass(10, random_state=0).fit(X, Y), X).n_members == 10


@pytest.mark.parametrize("model", [LinearRegression().fit(X, Y), "forest", None])
def test_other_models_are_refused(model):
    with pytest.raises(TypeError, match="estimator must be a fitted model of CatBoost, LightGBM or XGBoost"):
        posterior_from(model, X)


@pytest.mark.parametrize("n_members", [0, -1, 2.5, "3", True])
def test_a_bad_number_of_members_is_refused(n_members):
    with pytest.raises(ValueError, match="n_members must be a whole number of at least 1"):
        posterior_from(RandomForestRegressor(5).fit(X, Y), X, n_members)


def test_more_members_than_stages_or_trees_are_refused():
    with pytest.raises(ValueError, match="n_members=6 needs a forest of at least as many trees; this one has 5"):
        posterior_from(RandomForestRegressor(5).fit(X, Y), X, 6)
    with pytest.raises(ValueError, match="n_members=6 needs a model of at least 12 trees; this one has 10"):
        posterior_from(HistGradientBoostingRegressor(max_iter=10).fit(X, Y), X, 6)


def test_quantile_losses_of_scikit_learn_are_refused():
    models = [
        HistGradientBoostingRegressor(max_iter=4, loss="quantile", quantile=0.9).fit(X, Y),
        GradientBoostingRegressor(n_estimators=4, loss="quantile").fit(X, Y),
    ]
    for model in models:
        with pytest.raises(ValueError, match="does not support the loss 'quantile'"):
            posterior_from(model, X, 2)


@pytest.mark.parametrize("objective", ["quantile", "cross_entropy_lambda", "lambdarank", "multiclassova"])
def test_objectives_of_lightgbm_without_a_mean_are_refused_by_name(objective):
    lightgbm = pytest.importorskip("lightgbm")
    y = labels(3, text=False) if objective == "multiclassova" else labels(2, text=False)
    classes = {"num_class": 3} if objective == "multiclassova" else {}
    data = lightgbm.Dataset(X, y, group=[150] if objective == "lambdarank" else None)
    booster = lightgbm.train({"objective": objective, "verbosity": -1, "num_threads": 1, **classes}, data, 10)
    with pytest.raises(ValueError, match=f"does not support the objective '{objective}'"):
        posterior_from(booster, X, 2)


@pytest.mark.parametrize("library", ["catboost", "lightgbm", "xgboost"])
def test_a_model_that_is_not_fitted_is_refused(library):
    name = {"catboost": "CatBoostRegressor", "lightgbm": "LGBMRegressor", "xgboost": "XGBRegressor"}[library]
    with pytest.raises(NotFittedError):
        posterior_from(getattr(pytest.importorskip(library), name)(), X)


def test_forests_several_targets_and_custom_objectives_of_xgboost_are_refused():
    xgboost = pytest.importorskip("xgboost")
    with pytest.raises(ValueError, match="is a random forest: its 30 trees are one boosting round"):
        posterior_from(xgboost.XGBRFRegressor(n_estimators=30, n_jobs=1).fit(X, Y), X)
    two_targets = np.stack([labels(2, text=False), 1 - labels(2, text=False)], axis=1)
    with (
        pytest.warns(UserWarning, match=NOISELESS),
        pytest.raises(ValueError, match="must have one target; this one has 2"),
    ):
        posterior_from(xgboost.XGBClassifier(n_estimators=4, n_jobs=1).fit(X, two_targets), X, 2)
    custom = xgboost.XGBRegressor(n_estimators=4, n_jobs=1, objective=lambda y, raw: (raw - y, np.ones_like(y)))
    with pytest.raises(ValueError, match="a custom objective"):
        posterior_from(custom.fit(X, Y), X, 2)


def test_one_row_for_catboost_needs_no_brackets():
    model = catboost_model("RMSEWithUncertainty", Y, posterior_sampling=True)
    all_rows = posterior_from(model, X, 3).parameters
    np.testing.assert_array_equal(posterior_from(model, X[4], 3).parameters, all_rows[:, 4:5])
    np.testing.assert_array_equal(posterior_from(model, X[4].tolist(), 3).parameters, all_rows[:, 4:5])


def test_a_sum_of_catboost_models_is_refused():
    catboost = pytest.importorskip("catboost")
    models = [catboost_model("RMSE", Y, posterior_sampling=True, iterations=10) for _ in range(2)]
    with pytest.raises(ValueError, match="does not hold its training parameters"):
        posterior_from(catboost.sum_models(models), X, 2)


@pytest.mark.parametrize("estimator", [GradientBoostingRegressor, HistGradientBoostingRegressor])
def test_a_warning_points_at_the_callers_line(estimator):
    model = estimator(**{"n_estimators" if estimator is GradientBoostingRegressor else "max_iter": 4}).fit(X, Y)
    with pytest.warns(UserWarning, match=NOISELESS) as caught:
        posterior_from(model, X, 2)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_a_model_with_evaluation_rows_that_was_not_stopped_does_not_warn(library):
    module = pytest.importorskip(library)
    if library == "lightgbm":
        data = module.Dataset(X, Y)
        settings = {"objective": "regression", "verbosity": -1, "num_threads": 1}
        stop = module.early_stopping(3, verbose=False)
        model = module.train(settings, data, 12, valid_sets=[data.create_valid(X, Y)], callbacks=[stop])
    else:
        data = module.DMatrix(X, Y)
        evals = [(data, "evaluation")]
        model = module.train({"nthread": 1}, data, 12, evals=evals, early_stopping_rounds=3, verbose_eval=False)
    with pytest.warns(UserWarning, match=NOISELESS) as caught:
        posterior_from(model, X, n_members=2)
    assert len(caught) == 1
