"""Targets, labels and classes that metrics refuse, and the message that names the argument."""

import numpy as np
import pandas as pd
import pytest

from epiboost import EpiBoostClassifier, Posterior, Uncertainty
from epiboost.metrics import (
    brier_loss,
    crps_loss,
    disagreement,
    expected_calibration_error,
    interval_coverage_score,
    interval_width,
    negative_log_likelihood_loss,
    ood_auc_score,
    prediction_rejection_score,
    probability_integral_transform,
    reliability_curve,
)
from tests.support.posteriors import CATEGORICAL, LABELS, N_SAMPLES, NORMAL

COMPLEX, REAL = np.array([1.0 + 1j, 2.0]), np.array([1.0, 2.0])
PAIR = Posterior([[[1.0, 1.0], [2.0, 1.0]]], "normal")
UNCERTAINTY = Uncertainty(REAL, REAL, 0.0 * REAL, "variance")
WITH_MISSING = pd.array(["a", pd.NA])


every_metric_of_numbers = pytest.mark.parametrize(
    "metric",
    [
        lambda y: crps_loss(y, NORMAL),
        lambda y: negative_log_likelihood_loss(y, NORMAL),
        lambda y: probability_integral_transform(y, NORMAL),
        lambda y: reliability_curve(y, NORMAL),
        lambda y: interval_coverage_score(y, NORMAL.interval(0.6)),
    ],
    ids=["crps", "likelihood", "transform", "reliability", "coverage"],
)


@every_metric_of_numbers
def test_a_missing_target_is_refused(metric):
    with pytest.raises(ValueError, match=f"y_true must be finite, got {N_SAMPLES}"):
        metric(np.full(N_SAMPLES, np.nan))


@every_metric_of_numbers
@pytest.mark.parametrize("length", [1, N_SAMPLES + 1])
def test_a_target_of_another_length_is_refused(metric, length):
    with pytest.raises(ValueError, match=f"y_true must have one entry per sample, {N_SAMPLES}, got {length}"):
        metric(np.zeros(length))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: crps_loss(COMPLEX, PAIR), "y_true must be real numbers"),
        (lambda: PAIR.cdf(COMPLEX), "y must be real numbers"),
        (lambda: Posterior([[[1j, 1.0]]], "normal"), "parameters must be real numbers"),
        (lambda: crps_loss(REAL, [[1j, 1.0], [1.0, 1.0]]), "prediction must be real numbers"),
        (lambda: interval_width([COMPLEX]), "interval must be real numbers"),
        (lambda: prediction_rejection_score(COMPLEX, REAL, REAL, loss="squared"), "y_true must be real numbers"),
        (lambda: prediction_rejection_score(REAL, REAL[::-1], UNCERTAINTY), r"got an Uncertainty: pass its \.total"),
        (lambda: ood_auc_score([True, False], UNCERTAINTY), r"got an Uncertainty: pass its \.total"),
        (lambda: prediction_rejection_score(WITH_MISSING, ["a", "b"], REAL), "y_true holds missing labels"),
        (lambda: prediction_rejection_score(["a", "b"], ["a", None], REAL), "y_pred holds missing labels"),
        (lambda: brier_loss(WITH_MISSING, [[0.5, 0.5]] * 2, classes=["a", "b"]), "y_true holds missing labels"),
        (lambda: crps_loss(pd.array([1.0, pd.NA], dtype=object), PAIR), "y_true must be numbers without missing"),
        (lambda: disagreement(PAIR).to_frame("foo"), "backend must be one of"),
    ],
)
def test_arguments_of_the_wrong_kind_are_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


class TestClasses:
    @pytest.mark.parametrize(
        "labels", [np.array([1, 2, 3]), np.array(["a", "b", "c"]), np.array([True, False])], ids=str
    )
    def test_the_posterior_of_a_classifier_has_its_labels(self, labels):
        generator = np.random.default_rng(0)
        X = generator.normal(size=(80, 2))
        y = labels[np.digitize(X[:, 0] + generator.normal(scale=0.3, size=80), [-0.5, 0.5]) % len(labels)]
        model = EpiBoostClassifier(n_members=2, n_estimators=10, n_jobs=1, random_state=0).fit(X, y)
        rows = y != model.classes_[-1]  # the last class does not occur among them
        for classifier in (model, model.calibrate(X, y)):
            posterior = classifier.predict_posterior(X[rows])
            assert posterior.classes.tolist() == sorted(labels.tolist())
            for metric in (negative_log_likelihood_loss, brier_loss, expected_calibration_error):
                assert metric(y[rows], posterior) == metric(y[rows], posterior, classes=model.classes_)

    def test_unknown_labels_are_refused(self):
        names = np.array(["b", "c", "a"])
        with pytest.raises(ValueError, match=r"y_true holds .*'x'.* none of the classes \['b', 'c', 'a'\]"):
            brier_loss(np.full(N_SAMPLES, "x"), CATEGORICAL, classes=names)
        with pytest.raises(ValueError, match="name the 3 classes"):
            brier_loss(LABELS, CATEGORICAL, classes=["a", "b"])

    def test_the_error_for_labels_without_classes_names_the_argument(self):
        with pytest.raises(ValueError, match="classes="):
            negative_log_likelihood_loss(["a"], [[0.5, 0.5]], family="categorical")
        with pytest.raises(ValueError, match="classes="):
            brier_loss([2], [[0.5, 0.5]])

    @pytest.mark.parametrize(
        ("parameters", "family", "classes", "message"),
        [
            ([[[0.5, 0.5]]], "categorical", ["a", "a"], "differ"),
            ([[[0.5, 0.5]]], "categorical", ["a"], "name the 2 classes"),
            ([[[0.5, 0.5]]], "normal", ["a", "b"], "categorical posterior"),
        ],
    )
    def test_classes_that_do_not_fit_the_posterior_are_refused(self, parameters, family, classes, message):
        with pytest.raises(ValueError, match=message):
            Posterior(parameters, family, classes)
        with pytest.raises(ValueError, match=message if family == "categorical" else "categorical"):
            brier_loss(["a"], Posterior(parameters, family), classes=classes)
