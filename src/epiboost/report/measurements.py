"""From what a model says and what came to pass to the numbers on the first screen."""

import warnings
from typing import Any, Literal

import numpy as np

from epiboost import metrics
from epiboost._estimators.calibrated import CalibratedClassifier, CalibratedRegressor
from epiboost._inputs.labels import label_codes
from epiboost._posterior.posterior import Posterior
from epiboost._posterior.unwrap import UnwrappedModel
from epiboost._typing import AnyArray, Floats
from epiboost.decisions import Abstainer, DomainDetector, TargetNotMetWarning
from epiboost.metrics import RejectionCurve, ReliabilityCurve, UndefinedScoreError
from epiboost.report.facts import ClassQuality, Honesty, Kept, Quality
from epiboost.report.formatting import cell, distinct
from epiboost.report.ood_facts import Domain, Foreign, Novelty
from epiboost.report.predictions import Answers, Told
from epiboost.report.significance import ahead, goes_with, too_few, usual_calibration_error

COVERAGE = 0.9
FALSE_ALARM_RATE = 0.05
KEPT_SHARES = (0.95, 0.9, 0.8)
_N_LEVELS = 15
_FENCE = 1.5
_ROWS_FOR_WIDTH = 5000


def quality_of(y: AnyArray, answers: Answers) -> Quality:
    """Return how good the predictions are, beside who only guesses."""
    if answers.posterior.family == "categorical":
        return _quality_of_classes(y, answers)
    y = np.asarray(y, dtype=np.float64)
    posterior = answers.posterior
    mean, variance = float(y.mean()), float(y.var())
    losses = [("mean absolute error", float(metrics.prediction_errors(y, answers.prediction, loss="absolute").mean()))]
    guessing: list[float | None] = [float(np.abs(y - mean).mean())]
    if posterior.family == "normal":
        losses.append(("negative log-likelihood (nats)", metrics.negative_log_likelihood_loss(y, posterior)))
        losses.append(("CRPS (units of the target)", metrics.crps_loss(y, posterior)))
        rival = Posterior(np.full((1, len(y), 2), [mean, variance]), "normal") if variance else None
        guessing.append(None if rival is None else metrics.negative_log_likelihood_loss(y, rival))
        guessing.append(None if rival is None else metrics.crps_loss(y, rival))
    squared = metrics.prediction_errors(y, answers.prediction, loss="squared")
    return Quality(
        error=float(np.sqrt(squared.mean())),
        baseline=float(np.sqrt(variance)),
        losses=tuple(losses),
        guessing=tuple(guessing),
        gain=ahead(squared, (y - mean) ** 2),
        likelihood_gain=None,
        only="" if np.ptp(y) else cell(float(y[0])),
    )


def _quality_of_classes(y: AnyArray, answers: Answers) -> Quality:
    posterior = answers.posterior
    classes = posterior.classes if posterior.classes is not None else np.unique(y)
    codes = label_codes(y, classes, name="y")
    wrong = metrics.prediction_errors(y, answers.prediction, loss="zero_one")
    shares = np.bincount(codes, minlength=len(classes)) / len(y)
    rival = Posterior(np.tile(shares, (1, len(y), 1)), "categorical", classes)
    tiny = np.finfo(np.float64).tiny
    own = -np.log(np.maximum(posterior.mean[np.arange(len(y)), codes], tiny))
    return Quality(
        error=float(wrong.mean()),
        baseline=1.0 - float(shares.max()),
        losses=(
            ("negative log-likelihood (nats)", metrics.negative_log_likelihood_loss(y, posterior)),
            ("Brier loss", metrics.brier_loss(y, posterior)),
        ),
        guessing=(metrics.negative_log_likelihood_loss(y, rival), metrics.brier_loss(y, rival)),
        gain=ahead(wrong, (codes != shares.argmax()).astype(np.float64)),
        likelihood_gain=ahead(own, -np.log(shares[codes])),
        only=cell(classes[codes[0]]) if shares.max() == 1.0 else "",
    )


def classes_of(y: AnyArray, answers: Answers, classes: AnyArray | None) -> tuple[ClassQuality, ...]:
    """Return how well each class is found; nothing for a regressor."""
    if classes is None:
        return ()
    codes, said = (label_codes(labels, classes, name="y") for labels in (y, answers.prediction))
    names = distinct([cell(label) for label in classes.tolist()])
    found = []
    for place, name in enumerate(names):
        is_it, is_said = codes == place, said == place
        some_others = is_it.any() and not is_it.all()
        auc = metrics.ood_auc_score(is_it, answers.posterior.mean[:, place]) if some_others else None
        found.append(ClassQuality(name, int(is_it.sum()), int(is_said.sum()), int((is_it & is_said).sum()), auc))
    return tuple(found)


def finds_of(y: AnyArray, answers: Answers) -> float | None:
    """Return how clearly the uncertain rows are the wrong ones, in standard errors."""
    losses = _losses(y, answers)
    return goes_with(answers.doubt, losses, n_errors=int(np.count_nonzero(losses)))


def honesty_of(asked: UnwrappedModel, X: Any, y: AnyArray, answers: Answers) -> tuple[Honesty, ReliabilityCurve] | None:  # noqa: ANN401
    """Return whether the model is as right as it says; None if its members predict no distribution."""
    posterior = answers.posterior
    if posterior.family == "mean":
        return None
    if posterior.family == "categorical":
        return _honesty_of_classes(asked, X, y, answers)
    if isinstance(asked.estimator, CalibratedRegressor):
        return _honesty_of_guarantees(asked.estimator, asked.transform(X), y)
    curve = metrics.reliability_curve(y, posterior, n_bins=_N_LEVELS)
    needed = np.abs(2 * metrics.probability_integral_transform(y, posterior) - 1)
    some = posterior.parameters[:, :: -(-len(answers) // _ROWS_FOR_WIDTH)]
    width = float(metrics.interval_width(type(posterior)(some, "normal").interval(COVERAGE)))
    chance = usual_calibration_error(curve, len(y), binned=False)
    covered = float(np.mean(needed <= COVERAGE))
    honesty = Honesty(COVERAGE, covered, curve.error, chance, width, None, None, guaranteed=False)
    return honesty, curve


def kept_of(y: AnyArray | None, answers: Answers, classes: AnyArray | None) -> tuple[Kept, ...]:
    """Return what remains when cases are handed over: the whole table first, then ever smaller shares."""
    losses = None if y is None else _losses(y, answers)
    return tuple(_kept(share, y, losses, answers, classes) for share in (1.0, *KEPT_SHARES))


def rejection_of(y: AnyArray, answers: Answers) -> tuple[dict[str, RejectionCurve], dict[str, float | None]]:
    """Return rejection curves and their scores, by measure."""
    losses = _losses(y, answers)
    measures: dict[str, Floats] = {answers.deciding: answers.doubt}
    if answers.uncertainty.knowledge.any():
        measures["knowledge"] = answers.uncertainty.knowledge
    curves = {name: metrics.rejection_curve(errors=losses, uncertainty=doubt) for name, doubt in measures.items()}
    scores: dict[str, float | None] = {}
    for name, curve in curves.items():
        try:
            scores[name] = curve.score
        except UndefinedScoreError:
            scores[name] = None
    return curves, scores


def foreign_of(answers: Answers, new: Novelty, rows_with_new: AnyArray) -> Foreign:
    """Return how many rows stand far out from the others, or hold what training has not seen.

    A row stands far out if the logarithm of its knowledge uncertainty is more than one and a half times the distance
    between the quartiles above the upper one. Rows are compared with one another: were all foreign, none would.
    """
    knowledge = answers.uncertainty.knowledge
    knows = bool(knowledge.any())
    far = np.zeros(len(knowledge), dtype=bool)
    judged = knows and not too_few(len(knowledge))
    if judged:
        positive = knowledge[knowledge > 0.0]
        logarithm = np.log(np.maximum(knowledge, positive.min()))
        low, high = np.quantile(logarithm, [0.25, 0.75])
        if high > low:
            far = logarithm > high + _FENCE * (high - low)
    n_far = int(np.count_nonzero(far)) if judged else None
    return Foreign(knows, n_far, int(np.count_nonzero(far | rows_with_new)), new)


def domain_of(answers: Answers, other: Answers, new: Novelty) -> Domain | None:
    """Return how well the rows of another table are told from those of this; None without knowledge uncertainty."""
    inside, outside = answers.uncertainty.knowledge, other.uncertainty.knowledge
    if not inside.any() and not outside.any():
        return None
    auc = metrics.ood_auc_score(np.repeat([False, True], [len(inside), len(outside)]), np.append(inside, outside))
    threshold = share = p_value = None
    if inside.any() and len(inside) >= round(1.0 / FALSE_ALARM_RATE) - 1:
        detector = DomainDetector(Told(), false_alarm_rate=FALSE_ALARM_RATE).fit(answers)
        drift = detector.drift(other)
        threshold, share, p_value = -detector.offset_, drift.share_outside, drift.p_value
    return Domain(len(outside), inside, outside, threshold, FALSE_ALARM_RATE, share, auc, p_value, new)


def _honesty_of_classes(
    asked: UnwrappedModel,
    X: Any,  # noqa: ANN401
    y: AnyArray,
    answers: Answers,
) -> tuple[Honesty, ReliabilityCurve]:
    posterior = answers.posterior
    curve = metrics.reliability_curve(y, posterior, n_bins=_N_LEVELS)
    claimed = float(posterior.mean.max(axis=1).mean())
    observed = 1.0 - float(metrics.prediction_errors(y, answers.prediction, loss="zero_one").mean())
    size = coverage = None
    guaranteed = isinstance(asked.estimator, CalibratedClassifier)
    if isinstance(asked.estimator, CalibratedClassifier):
        try:
            sets = asked.estimator.predict_set(asked.transform(X), COVERAGE)
        except ValueError:  # too few calibration rows for this coverage
            guaranteed = False
        else:
            codes = label_codes(y, asked.estimator.classes_, name="y")
            size, coverage = float(sets.sum(axis=1).mean()), float(sets[np.arange(len(sets)), codes].mean())
    chance = usual_calibration_error(curve, len(y), binned=True)
    return Honesty(claimed, observed, curve.error, chance, None, size, coverage, guaranteed), curve


def _honesty_of_guarantees(model: CalibratedRegressor, rows: Any, y: AnyArray) -> tuple[Honesty, ReliabilityCurve]:  # noqa: ANN401
    """Judge the intervals that the calibrated model guarantees, all coverages in one pass."""
    most = len(model.scores_) / (len(model.scores_) + 1)
    levels = np.append(np.arange(1, _N_LEVELS + 1) / (_N_LEVELS + 1), min(COVERAGE, most))
    levels = levels[levels <= most]
    intervals = model.predict_interval(rows, levels)
    observed = np.asarray(metrics.interval_coverage_score(y, intervals))
    n_drawn = len(levels) - 1
    curve = ReliabilityCurve(levels[:-1], observed[:-1], np.full(n_drawn, 1.0 / max(n_drawn, 1)))
    if not n_drawn:
        curve = ReliabilityCurve(levels, observed, np.ones(1))
    width = float(metrics.interval_width(intervals[:, -1]))
    chance = usual_calibration_error(curve, min(len(y), len(model.scores_)), binned=False)
    return Honesty(
        float(levels[-1]), float(observed[-1]), curve.error, chance, width, None, None, guaranteed=True
    ), curve


def _losses(y: AnyArray, answers: Answers) -> Floats:
    loss: Literal["zero_one", "squared"] = "zero_one" if answers.posterior.family == "categorical" else "squared"
    return metrics.prediction_errors(y, answers.prediction, loss=loss)


def _error(losses: Floats | None, classes: AnyArray | None) -> float | None:
    """Return the mean error: a share of wrong labels, or a root mean square."""
    if losses is None or not len(losses):
        return None
    return float(losses.mean()) if classes is not None else float(np.sqrt(losses.mean()))


def _kept(share: float, y: AnyArray | None, losses: Floats | None, answers: Answers, classes: AnyArray | None) -> Kept:
    if classes is not None and y is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TargetNotMetWarning)
            abstainer = Abstainer(Told(classes), coverage=share).fit(answers, y)
        error = abstainer.error_ if abstainer.met_ else None
        bound = abstainer.error_bound_ if abstainer.met_ else None
        return Kept(share, abstainer.coverage_, abstainer.threshold_, error, bound)
    order = np.sort(answers.doubt)
    rank = min(int(np.ceil(round(share * (len(order) + 1), 9))), len(order))
    threshold = float(order[rank]) if rank < len(order) else np.inf
    below = answers.doubt < threshold
    return Kept(share, float(below.mean()), threshold, _error(None if losses is None else losses[below], classes), None)
