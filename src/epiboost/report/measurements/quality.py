"""Accuracy of the predictions, compared with a constant prediction."""

from typing import Literal

import numpy as np

from epiboost import metrics
from epiboost._boosting.objectives import OBJECTIVES, NumberObjective
from epiboost._inputs.labels import label_codes
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Floats
from epiboost.report.facts import ClassQuality, Quality
from epiboost.report.formatting import cell, unique_names
from epiboost.report.predictions import Predictions
from epiboost.report.significance import gain_in_standard_errors


def measure_quality(y: AnyArray, predictions: Predictions) -> Quality:
    """Return losses of the model and of the baseline."""
    if predictions.posterior.family == "categorical":
        return _classification_quality(y, predictions)
    return _regression_quality(np.asarray(y, dtype=np.float64), predictions)


def measure_classes(y: AnyArray, predictions: Predictions, classes: AnyArray | None) -> tuple[ClassQuality, ...]:
    """Return the quality of each class; empty for a regressor."""
    if classes is None:
        return ()
    codes, predicted = (label_codes(labels, classes, name="y") for labels in (y, predictions.prediction))
    qualities = []
    for code, name in enumerate(unique_names([cell(label) for label in classes.tolist()])):
        is_class, is_predicted = codes == code, predicted == code
        has_others = is_class.any() and not is_class.all()
        auc = metrics.ood_auc_score(is_class, predictions.posterior.mean[:, code]) if has_others else None
        n_correct = int((is_class & is_predicted).sum())
        qualities.append(ClassQuality(name, int(is_class.sum()), int(is_predicted.sum()), n_correct, auc))
    return tuple(qualities)


def row_losses(y: AnyArray, predictions: Predictions) -> Floats:
    """Return the zero-one or the squared error of each row, shape (n,)."""
    loss: Literal["zero_one", "squared"] = "zero_one" if predictions.posterior.family == "categorical" else "squared"
    return metrics.prediction_errors(y, predictions.prediction, loss=loss)


def _regression_quality(y: Floats, predictions: Predictions) -> Quality:
    posterior, prediction = predictions.posterior, predictions.prediction
    mean, variance = float(y.mean()), float(y.var())
    losses = [("mean absolute error", float(metrics.prediction_errors(y, prediction, loss="absolute").mean()))]
    baseline_losses: list[float | None] = [float(np.abs(y - mean).mean())]
    if posterior.is_numeric:
        losses.append(("negative log-likelihood (nats)", metrics.negative_log_likelihood_loss(y, posterior)))
        losses.append(("CRPS (units of the target)", metrics.crps_loss(y, posterior)))
        baseline = _baseline_posterior(posterior, y, mean, variance)
        baseline_losses.append(None if baseline is None else metrics.negative_log_likelihood_loss(y, baseline))
        baseline_losses.append(None if baseline is None else metrics.crps_loss(y, baseline))
    squared = metrics.prediction_errors(y, prediction, loss="squared")
    return Quality(
        error=float(np.sqrt(squared.mean())),
        baseline=float(np.sqrt(variance)),
        losses=tuple(losses),
        baseline_losses=tuple(baseline_losses),
        gain=gain_in_standard_errors(squared, (y - mean) ** 2),
        likelihood_gain=None,
        constant_target="" if np.ptp(y) else cell(float(y[0])),
    )


def _baseline_posterior(posterior: Posterior, y: Floats, mean: float, variance: float) -> Posterior | None:
    """Return the same distribution for every row: a Normal, or the member of the family that training starts from."""
    if not variance:
        return None
    family, weight = OBJECTIVES.get(posterior.family), np.ones(len(y))
    if family is None or not issubclass(family, NumberObjective):
        return Posterior(np.full((1, len(y), 2), [mean, variance]), "normal")
    objective = family.of(y, weight, settings=family.settings_for(y, weight))
    parameters = objective.parameters(np.tile(objective.start, (len(y), 1)))
    return Posterior(parameters[np.newaxis], posterior.family, distribution=posterior.distribution)


def _classification_quality(y: AnyArray, predictions: Predictions) -> Quality:
    posterior = predictions.posterior
    classes = posterior.classes if posterior.classes is not None else np.unique(y)
    codes = label_codes(y, classes, name="y")
    wrong = metrics.prediction_errors(y, predictions.prediction, loss="zero_one")
    shares = np.bincount(codes, minlength=len(classes)) / len(y)
    baseline = Posterior(np.tile(shares, (1, len(y), 1)), "categorical", classes)
    tiny = np.finfo(np.float64).tiny
    log_losses = -np.log(np.maximum(posterior.mean[np.arange(len(y)), codes], tiny))
    return Quality(
        error=float(wrong.mean()),
        baseline=1.0 - float(shares.max()),
        losses=(
            ("negative log-likelihood (nats)", metrics.negative_log_likelihood_loss(y, posterior)),
            ("Brier loss", metrics.brier_loss(y, posterior)),
        ),
        baseline_losses=(metrics.negative_log_likelihood_loss(y, baseline), metrics.brier_loss(y, baseline)),
        gain=gain_in_standard_errors(wrong, (codes != shares.argmax()).astype(np.float64)),
        likelihood_gain=gain_in_standard_errors(log_losses, -np.log(shares[codes])),
        constant_target=cell(classes[codes[0]]) if shares.max() == 1.0 else "",
    )
