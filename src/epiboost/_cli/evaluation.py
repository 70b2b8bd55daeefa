"""What a model is worth on a table: its loss, and what its uncertainties say of errors and of foreign rows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from epiboost import metrics
from epiboost._estimators.calibrated import CalibratedClassifier, CalibratedRegressor
from epiboost._files.atomic import whole_file
from epiboost._inputs.labels import label_codes
from epiboost._optional import require
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray

_MEASURES = ("total", "knowledge")
_DOTS_PER_INCH = 110
_PANEL = (4.8, 4.0)

_HEADINGS = {
    "rmse": "root mean squared error",
    "error_rate": "error rate",
    "negative_log_likelihood": "negative log-likelihood",
    "crps": "continuous ranked probability score",
    "brier": "Brier loss",
    "calibration_error": "expected calibration error",
    "coverage": "coverage of intervals",
    "width": "mean width of intervals",
    "set_coverage": "coverage of sets of classes",
    "set_size": "mean size of sets of classes",
    "prr_total": "PRR, total uncertainty",
    "prr_knowledge": "PRR, knowledge uncertainty",
    "ood_auc_total": "OOD AUC, total uncertainty",
    "ood_auc_knowledge": "OOD AUC, knowledge uncertainty",
    "ood_fpr95_knowledge": "OOD false alarms at 95 % found, knowledge",
}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was found.

    Attributes
    ----------
    task : {"regression", "classification"}
    n_rows : int
        Rows of the table.
    n_outside : int
        Rows from outside the domain; 0 if there were none.
    nominal_coverage : float or None
        The coverage that intervals or sets were asked for; None for a classifier that is not calibrated and has none.
    figures : dict from str to float or None
        The metrics by name; None where one is not defined, such as a ratio of rejection without errors.
    """

    task: Literal["regression", "classification"]
    n_rows: int
    n_outside: int
    nominal_coverage: float | None
    figures: dict[str, float | None]


def evaluate(
    model: Any,  # noqa: ANN401 (any of the models)
    X: Any,  # noqa: ANN401 (anything the model reads)
    y: AnyArray,
    X_out: Any = None,  # noqa: ANN401 (anything the model reads)
    *,
    coverage: float = 0.9,
) -> Evaluation:
    """Judge a model on rows that it has not been trained on.

    Parameters
    ----------
    model : fitted model, calibrated or not
    X : table of shape (n, features)
    y : array of shape (n,)
    X_out : table of shape (k, features), optional
        Rows from outside the domain.
    coverage : float, default=0.9
        The coverage of the intervals, or of a calibrated classifier's sets, that are judged. A classifier that is not
        calibrated has neither.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        For empty tables, targets that are missing or of another kind, and a coverage that cannot be had.

    Examples
    --------
    >>> from epiboost import EpiBoostRegressor
    >>> X = np.random.default_rng(0).normal(size=(100, 1))
    >>> model = EpiBoostRegressor(n_members=2, n_estimators=20, random_state=0).fit(X, X[:, 0])
    >>> list(evaluate(model, X, X[:, 0]).figures)
    ['rmse', 'negative_log_likelihood', 'crps', 'coverage', 'width', 'prr_total', 'prr_knowledge']
    """
    classifies = hasattr(model, "classes_")
    posterior = model.predict_posterior(X)
    uncertainty = posterior.uncertainty()
    prediction = model.classes_[posterior.mean.argmax(axis=1)] if classifies else posterior.mean
    figures = _classification(y, prediction, posterior, model.classes_) if classifies else _regression(y, posterior)
    covered = _covered(model, X, y, posterior, coverage)
    figures |= covered
    loss: Literal["zero_one", "squared"] = "zero_one" if classifies else "squared"
    for measure in _MEASURES:
        figures[f"prr_{measure}"] = _defined(
            metrics.prediction_rejection_score, y, prediction, getattr(uncertainty, measure), loss=loss
        )
    n_outside = 0
    if X_out is not None:
        outside = model.predict_uncertainty(X_out)
        n_outside = len(outside)
        is_out = np.repeat([False, True], [len(uncertainty), n_outside])
        for measure in _MEASURES:
            both = np.concatenate([getattr(uncertainty, measure), getattr(outside, measure)])
            figures[f"ood_auc_{measure}"] = metrics.ood_auc_score(is_out, both)
        figures["ood_fpr95_knowledge"] = metrics.ood_false_positive_rate(is_out, both)
    task: Literal["regression", "classification"] = "classification" if classifies else "regression"
    return Evaluation(task, len(uncertainty), n_outside, coverage if covered else None, figures)


def show(found: Evaluation) -> None:
    """Print the figures as a table."""
    console = require("rich.console", extra="cli", purpose="printing a table").Console()
    title = f"{found.task.capitalize()} of {found.n_rows} rows"
    if found.n_outside:
        title += f", {found.n_outside} from outside"
    table = require("rich.table", extra="cli", purpose="printing a table").Table("metric", title=title)
    table.add_column("value", justify="right")
    for name, value in found.figures.items():
        asked = f" ({found.nominal_coverage:g} asked for)" if name in {"coverage", "set_coverage"} else ""
        table.add_row(_HEADINGS[name] + asked, "not defined" if value is None else f"{value:.4g}")
    console.print(table)


def write_json(found: Evaluation, path: Path) -> None:
    """Write the figures as JSON; one that is not defined, or infinite, is null."""
    content = asdict(found)
    content["figures"] = {
        name: value if value is not None and np.isfinite(value) else None for name, value in found.figures.items()
    }
    with whole_file(path) as draft:
        draft.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def check_folder(folder: Path) -> None:
    """Make the folder that pictures are drawn into, or say why it cannot be."""
    require("matplotlib", extra="plot", purpose="drawing uncertainty")
    if folder.exists() and not folder.is_dir():
        message = f"cannot draw into {str(folder)!r}: it is a file"
        raise ValueError(message)
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        message = f"cannot draw into {str(folder)!r}: permission denied"
        raise ValueError(message)


def draw(model: Any, X: Any, y: AnyArray, X_out: Any, folder: Path) -> list[Path]:  # noqa: ANN401 (see evaluate)
    """Draw the rejection curves, the reliability diagram, the uncertainties and, with foreign rows, their detection.

    Returns
    -------
    list of Path
        The files.
    """
    from epiboost import plots  # noqa: PLC0415 (most evaluations draw nothing)

    pictures: dict[str, tuple[int, Callable[[Any], Any]]] = {
        "rejection": (1, lambda ax: plots.RejectionDisplay.from_estimator(model, X, y, ax=ax[0])),
        "calibration": (1, lambda ax: plots.CalibrationDisplay.from_estimator(model, X, y, ax=ax[0])),
        "uncertainty": (1, lambda ax: plots.UncertaintyDisplay.from_estimator(model, X, X_out, ax=ax[0])),
    }
    if X_out is not None:
        pictures["domain"] = (2, lambda ax: plots.DomainDisplay.from_estimator(model, X, X_out, ax=ax))
    figure_of = require("matplotlib.figure", extra="plot", purpose="drawing uncertainty").Figure
    paths = []
    for name, (n_panels, picture) in pictures.items():
        figure = figure_of(figsize=(_PANEL[0] * n_panels, _PANEL[1]), layout="constrained")
        picture(np.ravel(figure.subplots(1, n_panels)))
        path = folder / f"{name}.png"
        with whole_file(path) as draft:
            figure.savefig(draft, dpi=_DOTS_PER_INCH, format="png")
        paths.append(path)
    return paths


def _regression(y: AnyArray, posterior: Posterior) -> dict[str, float | None]:
    return {
        "rmse": float(np.sqrt(metrics.prediction_errors(y, posterior.mean, loss="squared").mean())),
        "negative_log_likelihood": metrics.negative_log_likelihood_loss(y, posterior),
        "crps": metrics.crps_loss(y, posterior),
    }


def _classification(
    y: AnyArray, prediction: AnyArray, posterior: Posterior, classes: AnyArray
) -> dict[str, float | None]:
    losses: dict[str, float | None] = {
        "negative_log_likelihood": metrics.negative_log_likelihood_loss(y, posterior, classes=classes),
        "brier": metrics.brier_loss(y, posterior, classes=classes),
        "calibration_error": metrics.expected_calibration_error(y, posterior, classes=classes),
    }
    return {"error_rate": float(metrics.prediction_errors(y, prediction, loss="zero_one").mean()), **losses}


def _covered(model: Any, X: Any, y: AnyArray, posterior: Posterior, coverage: float) -> dict[str, float | None]:  # noqa: ANN401
    """Judge intervals or sets; those that carry a guarantee are the calibrated model's own."""
    if isinstance(model, CalibratedClassifier):
        sets = model.predict_set(X, coverage)
        held = sets[np.arange(len(sets)), label_codes(y, model.classes_, name="y_true")]
        return {"set_coverage": float(held.mean()), "set_size": float(sets.sum(axis=1).mean())}
    if posterior.family == "categorical":
        return {}
    calibrated = isinstance(model, CalibratedRegressor)
    interval = model.predict_interval(X, coverage) if calibrated else posterior.interval(coverage)
    return {
        "coverage": float(metrics.interval_coverage_score(y, interval)),
        "width": float(metrics.interval_width(interval)),
    }


def _defined(metric: Callable[..., float], *arguments: Any, **options: Any) -> float | None:  # noqa: ANN401
    try:
        return metric(*arguments, **options)
    except metrics.UndefinedScoreError:
        return None
