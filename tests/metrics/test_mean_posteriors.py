"""Members that predict a mean without a variance, as those of a random forest, have no distribution to judge."""

import numpy as np
import pytest

from epiboost import EpiBoostRegressor, Posterior
from epiboost.metrics import (
    brier_loss,
    crps_loss,
    disagreement,
    expected_calibration_error,
    negative_log_likelihood_loss,
    probability_integral_transform,
    reliability_curve,
    scorer,
)
from epiboost.plots import CalibrationDisplay
from tests.support.tables import X, Y

MEANS = Posterior(np.zeros((2, 3, 1)), "mean")
TARGET = np.zeros(3)
METRICS = {
    "likelihood": negative_log_likelihood_loss,
    "crps": crps_loss,
    "reliability": reliability_curve,
    "calibration": expected_calibration_error,
    "transform": probability_integral_transform,
    "disagreement": lambda _, prediction: disagreement(prediction),
    "plot": CalibrationDisplay.from_predictions,
}
REMEDY = r"uncertainty\(\).knowledge, or a model that predicts a variance, such as one of engine='native'"


@pytest.fixture(scope="module")
def forest():
    model = EpiBoostRegressor(
        engine="forest", ensemble="virtual", n_members=3, n_estimators=9, random_state=0, n_jobs=1
    )
    return model.fit(X, Y)


@pytest.mark.parametrize("metric", METRICS)
def test_metrics_of_distributions_refuse_them_and_say_what_serves(metric):
    got = "prediction must hold distributions, got a posterior of family 'mean', whose members predict a mean without"
    with pytest.raises(ValueError, match=f"{got}.*prediction_rejection_score.*{REMEDY}"):
        METRICS[metric](TARGET, MEANS)


def test_an_array_of_means_is_refused_too():
    with pytest.raises(ValueError, match="prediction must hold distributions"):
        negative_log_likelihood_loss(TARGET, MEANS.parameters, family="mean")


def test_a_score_of_classifiers_asks_for_a_classifier():
    with pytest.raises(ValueError, match="must be categorical, as from a classifier, got a posterior of family 'mean'"):
        brier_loss(TARGET, MEANS)


@pytest.mark.parametrize("metric", ["negative_log_likelihood_loss", "crps_loss", "expected_calibration_error"])
def test_scorers_of_distributions_refuse_a_random_forest(forest, metric):
    with pytest.raises(ValueError, match="prediction must hold distributions"):
        scorer(metric)(forest, X, Y)


@pytest.mark.parametrize("metric", ["interval_coverage_score", "interval_width"])
def test_scorers_of_intervals_refuse_a_random_forest(forest, metric):
    with pytest.raises(ValueError, match=f"these predict a mean without a variance.*{REMEDY}"):
        scorer(metric)(forest, X, Y)


def test_scorers_of_knowledge_take_a_random_forest(forest):
    assert -1.0 <= scorer("prediction_rejection_score", measure="knowledge")(forest, X, Y) <= 1.0
    assert 0.0 <= scorer("ood_auc_score", X_ood=X + 3.0)(forest, X, Y) <= 1.0
