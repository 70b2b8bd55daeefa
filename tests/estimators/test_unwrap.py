"""Models in pipelines and searches are used as models on their own, and objects that keep a model keep a copy."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.decisions import Abstainer, DomainDetector, acquire
from epiboost.metrics import scorer
from epiboost.plots import CalibrationDisplay, DomainDisplay, RejectionDisplay, UncertaintyDisplay

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(300, 2))
Y = X[:, 0] + 0.3 * GENERATOR.normal(size=300)
LABELS = np.where(Y > 0.0, "yes", "no")
SMALL = {"n_members": 3, "n_estimators": 30, "max_depth": 3, "n_jobs": 1, "random_state": 0}
TASKS = {"regressor": (EpiBoostRegressor, Y), "classifier": (EpiBoostClassifier, LABELS)}
every_task = pytest.mark.parametrize("task", sorted(TASKS))


@every_task
def test_a_calibrated_model_does_not_change_when_its_model_is_fitted_again(task, tmp_path):
    estimator, y = TASKS[task]
    model = estimator(**SMALL)
    calibrated = model.fit(X[:150], y[:150]).calibrate(X[150:], y[150:])
    before = calibrated.predict_posterior(X).parameters
    model.fit(X[:150, ::-1], y[149::-1])
    np.testing.assert_array_equal(calibrated.predict_posterior(X).parameters, before)
    calibrated.save(tmp_path / "calibrated.epib")
    loaded = type(calibrated).load(tmp_path / "calibrated.epib")
    np.testing.assert_array_equal(loaded.predict_posterior(X).parameters, before)


@every_task
@pytest.mark.parametrize("wrap", [lambda model: model, lambda model: make_pipeline(StandardScaler(), model)])
def test_decisions_do_not_change_when_their_model_is_fitted_again(task, wrap):
    estimator, y = TASKS[task]
    model = wrap(estimator(**SMALL)).fit(X[:150], y[:150])
    abstainer = Abstainer(model, coverage=0.5, tolerance=0.5 if task == "regressor" else None).fit(X[150:], y[150:])
    detector = DomainDetector(model).fit(X[150:])
    before = [*abstainer.predict(X), detector.score_samples(X)]
    model.fit(10.0 + X[:150, ::-1], y[149::-1])
    for old, new in zip(before, [*abstainer.predict(X), detector.score_samples(X)], strict=True):
        np.testing.assert_array_equal(new, old)


def axes():
    return Figure().subplots(1, 2)


USES = {
    "abstainer": lambda model, y, **options: Abstainer(model, coverage=0.5, **options).fit(X, y).predict(X),
    "detector": lambda model, _y, **_: DomainDetector(model, measure="knowledge").fit(X).score_samples(X),
    "acquire": lambda model, _y, **_: acquire(model, X, 5),
    "rejection": lambda model, y, **_: RejectionDisplay.from_estimator(model, X, y, ax=axes()[0]).curves["total"].error,
    "calibration": lambda model, y, **_: CalibrationDisplay.from_estimator(model, X, y, ax=axes()[0]).curve.observed,
    "uncertainty": lambda model, _y, **_: (
        UncertaintyDisplay.from_estimator(model, X, X + 3.0, ax=axes()[0]).uncertainty_ood.total
    ),
    "domain": lambda model, _y, **_: DomainDisplay.from_estimator(model, X, X + 3.0, ax=axes()).roc_auc,
    "likelihood": lambda model, y, **_: scorer("negative_log_likelihood_loss")(model, X, y),
    "detection": lambda model, y, **_: scorer("ood_auc_score", X_ood=X + 3.0)(model, X, y),
}
every_use = pytest.mark.parametrize("use", USES.values(), ids=USES)


@pytest.fixture(scope="module")
def models():
    """Return for each task a model on its own, and a search over a pipeline that ends in an equal one."""
    pairs = {}
    for task, (estimator, y) in TASKS.items():
        pipeline = make_pipeline(StandardScaler(), estimator(**SMALL))
        search = GridSearchCV(pipeline, {"standardscaler__with_mean": [True]}, cv=2).fit(X, y)
        pairs[task] = (estimator(**SMALL).fit(StandardScaler().fit_transform(X), y), search)
    return pairs


class Scaled:
    """A model whose rows are scaled without a pipeline."""

    def __init__(self, model):
        self.model, self.scaler = model, StandardScaler().fit(X)
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_

    def predict(self, rows):
        return self.model.predict(self.scaler.transform(rows))

    def predict_uncertainty(self, rows):
        return self.model.predict_uncertainty(self.scaler.transform(rows))

    def predict_posterior(self, rows):
        return self.model.predict_posterior(self.scaler.transform(rows))


@every_task
@every_use
def test_a_model_in_a_pipeline_in_a_search_gives_the_results_of_one_on_its_own(models, task, use):
    alone, search = models[task]
    y, options = TASKS[task][1], {"tolerance": 0.5} if task == "regressor" else {}
    expected = use(Scaled(alone), y, **options)
    for model in (search, search.best_estimator_):
        for one, other in zip(np.atleast_1d(use(model, y, **options)), np.atleast_1d(expected), strict=True):
            np.testing.assert_array_equal(one, other)


@every_use
def test_a_model_that_does_not_predict_its_uncertainty_is_refused(use):
    for model in (Ridge().fit(X, Y), make_pipeline(StandardScaler(), Ridge()).fit(X, Y)):
        with pytest.raises(TypeError, match=r"predicts its uncertainty.*got Ridge\(\)"):
            use(model, Y, tolerance=0.5)


@every_use
@every_task
def test_a_model_that_is_not_fitted_is_refused(use, task):
    estimator, y = TASKS[task]
    for model in (estimator(), make_pipeline(StandardScaler(), estimator()), GridSearchCV(estimator(), {"l2": [1.0]})):
        with pytest.raises(NotFittedError):
            use(model, y)
