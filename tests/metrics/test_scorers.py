"""Scorers: the metrics of fitted models, for scikit-learn's searches."""

import pickle

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.metrics import crps_loss, interval_coverage_score, scorer

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(80, 2))
Y = X[:, 0] + GENERATOR.normal(scale=0.3, size=80)
SMALL = {"n_members": 2, "n_estimators": 10, "n_jobs": 1, "random_state": 0}
TASKS = {"regressor": (EpiBoostRegressor, Y), "classifier": (EpiBoostClassifier, np.where(Y > 0, "yes", "no"))}
X_OOD = {"X_ood": X + 5.0}
OPTIONS = {
    "negative_log_likelihood_loss": {},
    "crps_loss": {},
    "brier_loss": {},
    "expected_calibration_error": {"n_bins": 5},
    "interval_coverage_score": {"coverage": 0.8},
    "interval_width": {"coverage": 0.8},
    "prediction_rejection_score": {"measure": "knowledge"},
    "ood_auc_score": X_OOD,
    "ood_average_precision_score": X_OOD,
    "ood_false_positive_rate": X_OOD,
}
ONLY = {
    "brier_loss": "classifier",
    **dict.fromkeys(("crps_loss", "interval_coverage_score", "interval_width"), "regressor"),
}


@pytest.fixture(scope="module")
def regressor():
    return EpiBoostRegressor(**SMALL).fit(X, Y)


@pytest.mark.parametrize(
    ("metric", "task"),
    [(metric, task) for metric in OPTIONS for task in TASKS if ONLY.get(metric, task) == task],
)
def test_every_metric_can_select_in_a_grid_search(metric, task):
    estimator, y = TASKS[task]
    scoring = scorer(metric, **OPTIONS[metric])
    search = GridSearchCV(estimator(**SMALL), {"max_depth": [1, 3]}, scoring=scoring, cv=2, error_score="raise")
    scores = search.fit(X, y).cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert search.best_score_ == scores.max()
    if metric.endswith(("_loss", "_width", "_rate", "_error")):
        assert (scores <= 0.0).all()


def test_a_loss_is_negated_and_weighted(regressor):
    weight = np.arange(80.0)
    expected = crps_loss(Y, regressor.predict_posterior(X), sample_weight=weight)
    assert scorer("crps_loss")(regressor, X, Y, sample_weight=weight) == -expected


def test_coverage_is_scored_by_its_distance_from_the_nominal_one(regressor):
    observed = interval_coverage_score(Y, regressor.predict_interval(X, 0.5))
    assert scorer("interval_coverage_score", coverage=0.5)(regressor, X, Y) == -abs(observed - 0.5)


def test_a_pipeline_transforms_the_rows_before_its_model_is_scored():
    pipeline = make_pipeline(StandardScaler(), EpiBoostRegressor(**SMALL)).fit(10 * X, Y)
    scaled = pipeline[:-1].transform(10 * X)
    for metric, options in (("crps_loss", {}), ("ood_auc_score", {"X_ood": 10 * X + 50})):
        inner = {name: pipeline[:-1].transform(rows) for name, rows in options.items()}
        expected = scorer(metric, **inner)(pipeline[-1], scaled, Y)
        assert scorer(metric, **options)(pipeline, 10 * X, Y) == expected


def test_a_scorer_can_be_pickled(regressor):
    original = scorer("interval_width", coverage=0.5)
    restored = pickle.loads(pickle.dumps(original))  # noqa: S301 (pickled on this line)
    assert restored(regressor, X, Y) == original(regressor, X, Y)


def test_a_classifier_has_no_intervals_to_score():
    model = EpiBoostClassifier(**SMALL).fit(X, Y > 0)
    for metric in ("interval_width", "interval_coverage_score"):
        with pytest.raises(ValueError, match="intervals are for regressors, got EpiBoostClassifier"):
            scorer(metric)(model, X, Y > 0)


def test_several_scorers_can_be_used_at_once():
    scoring = {name: scorer(name) for name in ("crps_loss", "prediction_rejection_score")}
    scores = cross_validate(EpiBoostRegressor(**SMALL), X, Y, scoring=scoring, cv=2)
    assert {"test_crps_loss", "test_prediction_rejection_score"} <= set(scores)


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("accuracy", {}, "metric must be one of negative_log_likelihood_loss, .*; got 'accuracy'"),
        ("crps_loss", {"coverage": 0.9}, "crps_loss has no option coverage; its options are: none"),
        ("ood_auc_score", {}, "ood_auc_score needs the option X_ood"),
        ("prediction_rejection_score", {"measure": "doubt"}, "measure must be one of .* got 'doubt'"),
        ("interval_width", {"coverage": 1.5}, "coverage must be a number strictly between 0 and 1, got 1.5"),
        ("interval_coverage_score", {"coverage": [0.5]}, r"coverage must be a number .*, got \[0.5\]"),
        ("expected_calibration_error", {"n_bins": 0}, "n_bins must be a whole number of at least 1, got 0"),
    ],
)
def test_unknown_metrics_and_bad_options_are_refused(metric, options, message):
    with pytest.raises(ValueError, match=message):
        scorer(metric, **options)
