"""Evaluation of a model on a table: its losses, and how well its uncertainties detect errors and out-of-domain rows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from epiboost import metrics
from epiboost._cli.formatting import count
from epiboost._estimators.calibrated import CalibratedClassifier, CalibratedRegressor
from epiboost._files.atomic import atomic_write
from epiboost._inputs.labels import label_codes
from epiboost._optional import require
from epiboost._posterior.posterior import Posterior
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import AnyArray, Estimator, Floats, LibraryObject, Table
from epiboost.decisions import DomainDetector

Figures: TypeAlias = dict[str, float | None]
"""Metrics by name; None where one is not defined, such as a prediction-rejection ratio without errors."""


_MEASURES = ("total", "knowledge")
_DETECTOR_MEASURES: tuple[Literal["combined", "novelty"], ...] = ("combined", "novelty")
_FALSE_ALARM_RATE = 0.05
_DOTS_PER_INCH = 110
_PANEL = (4.8, 4.0)

_HEADINGS = {
    "rmse": "root mean squared error",
    "error_rate": "error rate",
    "negative_log_likelihood": "negative log-likelihood",
    "crps": "continuous ranked probability score",
    "brier": "Brier loss",
    "calibration_error": "expected calibration error",
    "coverage": "coverage of prediction intervals",
    "width": "mean width of prediction intervals",
    "set_coverage": "coverage of prediction sets",
    "set_size": "mean size of prediction sets",
    "prr_total": "prediction-rejection ratio, total uncertainty",
    "prr_knowledge": "prediction-rejection ratio, knowledge uncertainty",
    "ood_auc_total": "out-of-domain AUC, total uncertainty",
    "ood_auc_knowledge": "out-of-domain AUC, knowledge uncertainty",
    "ood_auc_combined": "out-of-domain AUC, novelty and uncertainty combined",
    "ood_auc_novelty": "out-of-domain AUC, novelty",
    "ood_fpr95_knowledge": "out-of-domain false positive rate at 95 % recall, knowledge",
    "ood_flagged_combined": "out-of-domain rows flagged at 5 % false alarms, combined",
    "test_flagged_combined": "test rows flagged at 5 % false alarms, combined",
    "ood_flagged_novelty": "out-of-domain rows flagged at 5 % false alarms, novelty",
    "test_flagged_novelty": "test rows flagged at 5 % false alarms, novelty",
}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Result of an evaluation.

    Attributes
    ----------
    task : {"regression", "classification"}
    n_rows : int
        Number of rows of the test table.
    n_outside : int
        Number of out-of-domain rows; 0 if there is no such table.
    nominal_coverage : float or None
        Nominal coverage of intervals or sets; None for a classifier that is not calibrated, as it has neither.
    figures : dict from str to float or None
        Metrics by name; None where one is not defined, such as a prediction-rejection ratio without errors.
    """

    task: Literal["regression", "classification"]
    n_rows: int
    n_outside: int
    nominal_coverage: float | None
    figures: Figures


def evaluate(
    estimator: Estimator,
    X: Table,
    y: AnyArray,
    X_ood: Table | None = None,
    *,
    coverage: float = 0.9,
) -> Evaluation:
    """Evaluate a model on rows that it was not trained on.

    Parameters
    ----------
    estimator : fitted model, calibrated or not
    X : table of shape (n, features)
    y : array of shape (n,)
    X_ood : table of shape (k, features), optional
        Out-of-domain rows.
    coverage : float, default=0.9
        Nominal coverage of prediction intervals, or of the prediction sets of a calibrated classifier. Other
        classifiers have neither.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        For empty tables, targets that are missing or of the wrong kind, and a coverage that cannot be reached.

    Examples
    --------
    >>> from epiboost import EpiBoostRegressor
    >>> X = np.random.default_rng(0).normal(size=(100, 1))
    >>> model = EpiBoostRegressor(n_members=2, n_estimators=20, random_state=0).fit(X, X[:, 0])
    >>> list(evaluate(model, X, X[:, 0]).figures)
    ['rmse', 'negative_log_likelihood', 'crps', 'coverage', 'width', 'prr_total', 'prr_knowledge']
    """
    classifies = hasattr(estimator, "classes_")
    posterior = estimator.predict_posterior(X)
    uncertainty = posterior.uncertainty()
    classes = estimator.classes_ if classifies else None
    prediction = posterior.mean if classes is None else classes[posterior.mean.argmax(axis=1)]
    figures = _regression(y, posterior) if classes is None else _classification(y, prediction, posterior, classes)
    coverages = _coverage_figures(estimator, X, y, posterior, coverage)
    figures |= coverages
    measures = ("knowledge",) if posterior.family == "mean" else _MEASURES
    for measure in measures:
        figures[f"prr_{measure}"] = _rejection_score(
            y, prediction, getattr(uncertainty, measure), classifies=classifies
        )
    n_outside = 0
    if X_ood is not None:
        outside = estimator.predict_uncertainty(X_ood)
        n_outside = len(outside)
        found = _domain_figures(uncertainty, outside, measures) | _detector_figures(estimator, X, X_ood)
        figures |= {name: found[name] for name in _HEADINGS if name in found}
    return Evaluation(
        "classification" if classifies else "regression",
        len(uncertainty),
        n_outside,
        coverage if coverages else None,
        figures,
    )


def show(result: Evaluation) -> None:
    """Print the metrics as a table."""
    console = require("rich.console", extra="cli", purpose="printing a table").Console()
    title = f"{result.task.capitalize()} of {count(result.n_rows, 'row')}"
    if result.n_outside:
        title += f", {result.n_outside} out-of-domain rows"
    table = require("rich.table", extra="cli", purpose="printing a table").Table("metric", title=title)
    table.add_column("value", justify="right")
    for name, value in result.figures.items():
        nominal = f" (nominal {result.nominal_coverage:g})" if name in {"coverage", "set_coverage"} else ""
        table.add_row(_HEADINGS[name] + nominal, "not defined" if value is None else f"{value:.4g}")
    console.print(table)


def write_json(result: Evaluation, path: Path) -> None:
    """Write the metrics as JSON; one that is not defined, or infinite, is null."""
    content = asdict(result)
    content["figures"] = {
        name: value if value is not None and np.isfinite(value) else None for name, value in result.figures.items()
    }
    with atomic_write(path) as file:
        file.write((json.dumps(content, indent=2, allow_nan=False) + "\n").encode())


def check_folder(folder: Path) -> None:
    """Make the folder for plots, or raise an error if that is not possible."""
    require("matplotlib", extra="plot", purpose="drawing uncertainty")
    if folder.exists() and not folder.is_dir():
        message = f"cannot draw into {str(folder)!r}: it is a file"
        raise ValueError(message)
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        message = f"cannot draw into {str(folder)!r}: permission denied"
        raise ValueError(message)


def draw(estimator: Estimator, X: Table, y: AnyArray, X_ood: Table | None, folder: Path) -> list[Path]:
    """Draw rejection curves, a reliability diagram, the uncertainties and, with out-of-domain rows, their detection.

    Returns
    -------
    list of Path
        Files that were written.
    """
    from epiboost import plots  # noqa: PLC0415 (most evaluations draw nothing)

    displays: dict[str, tuple[int, Callable[[LibraryObject], object]]] = {
        "rejection": (1, lambda ax: plots.RejectionDisplay.from_estimator(estimator, X, y, ax=ax[0])),
        "calibration": (1, lambda ax: plots.CalibrationDisplay.from_estimator(estimator, X, y, ax=ax[0])),
        "uncertainty": (1, lambda ax: plots.UncertaintyDisplay.from_estimator(estimator, X, X_ood, ax=ax[0])),
    }
    if X_ood is not None:
        displays["domain"] = (2, lambda ax: plots.DomainDisplay.from_estimator(estimator, X, X_ood, ax=ax))
    figure_class = require("matplotlib.figure", extra="plot", purpose="drawing uncertainty").Figure
    paths = []
    for name, (n_panels, display) in displays.items():
        figure = figure_class(figsize=(_PANEL[0] * n_panels, _PANEL[1]), layout="constrained")
        display(np.ravel(figure.subplots(1, n_panels)))
        path = folder / f"{name}.png"
        with atomic_write(path) as file:
            figure.savefig(file, dpi=_DOTS_PER_INCH, format="png")
        paths.append(path)
    return paths


def _regression(y: AnyArray, posterior: Posterior) -> Figures:
    figures: Figures = {"rmse": float(np.sqrt(metrics.prediction_errors(y, posterior.mean, loss="squared").mean()))}
    if posterior.family == "mean":  # the members predict no spread
        return figures
    return {
        **figures,
        "negative_log_likelihood": metrics.negative_log_likelihood_loss(y, posterior),
        "crps": metrics.crps_loss(y, posterior),
    }


def _classification(y: AnyArray, prediction: AnyArray, posterior: Posterior, classes: AnyArray) -> Figures:
    losses: Figures = {
        "negative_log_likelihood": metrics.negative_log_likelihood_loss(y, posterior, classes=classes),
        "brier": metrics.brier_loss(y, posterior, classes=classes),
        "calibration_error": metrics.expected_calibration_error(y, posterior, classes=classes),
    }
    return {"error_rate": float(metrics.prediction_errors(y, prediction, loss="zero_one").mean()), **losses}


def _coverage_figures(estimator: Estimator, X: Table, y: AnyArray, posterior: Posterior, coverage: float) -> Figures:
    """Return coverage and size of intervals or sets; those of a calibrated model carry a guarantee."""
    if isinstance(estimator, CalibratedClassifier):
        sets = estimator.predict_set(X, coverage)
        covered = sets[np.arange(len(sets)), label_codes(y, estimator.classes_, name="y_true")]
        return {"set_coverage": float(covered.mean()), "set_size": float(sets.sum(axis=1).mean())}
    if not posterior.is_numeric:
        return {}
    has_own = isinstance(estimator, CalibratedRegressor) or getattr(estimator, "out_of_fold_", None) is not None
    interval = estimator.predict_interval(X, coverage) if has_own else posterior.interval(coverage)
    return {
        "coverage": float(metrics.interval_coverage_score(y, interval)),
        "width": float(metrics.interval_width(interval)),
    }


def _rejection_score(y: AnyArray, prediction: AnyArray, uncertainty: Floats, *, classifies: bool) -> float | None:
    loss: Literal["zero_one", "squared"] = "zero_one" if classifies else "squared"
    try:
        return metrics.prediction_rejection_score(y, prediction, uncertainty, loss=loss)
    except metrics.UndefinedScoreError:
        return None


def _domain_figures(inside: Uncertainty, outside: Uncertainty, measures: tuple[str, ...]) -> Figures:
    """Return how well uncertainties detect out-of-domain rows."""
    is_ood = np.repeat([False, True], [len(inside), len(outside)])
    both = {measure: np.append(getattr(inside, measure), getattr(outside, measure)) for measure in measures}
    figures: Figures = {f"ood_auc_{measure}": metrics.ood_auc_score(is_ood, both[measure]) for measure in measures}
    figures["ood_fpr95_knowledge"] = metrics.ood_false_positive_rate(is_ood, both["knowledge"])
    return figures


def _detector_figures(estimator: Estimator, X: Table, X_ood: Table) -> Figures:
    """Return how well detectors find out-of-domain rows, as far as the model keeps training rows to compare with.

    Detectors that need rows of their own are left out: fitted to the test rows, they would find these familiar.
    """
    figures: Figures = {}
    for measure in _DETECTOR_MEASURES:
        try:
            detector = DomainDetector(estimator, false_alarm_rate=_FALSE_ALARM_RATE, measure=measure).fit()
        except ValueError:
            continue
        inside, outside = detector.score_samples(X), detector.score_samples(X_ood)
        is_ood = np.repeat([False, True], [len(inside), len(outside)])
        figures[f"ood_auc_{measure}"] = metrics.ood_auc_score(is_ood, -np.append(inside, outside))
        figures[f"ood_flagged_{measure}"] = float((outside < detector.offset_).mean())
        figures[f"test_flagged_{measure}"] = float((inside < detector.offset_).mean())
    return figures
