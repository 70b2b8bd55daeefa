"""The heart experiment: train, measure, draw.

The table is `epiboost.datasets.make_heart`: 81 cells, where the cells inside a heart have no rows. The two features are
categories, given as text, so that a model does not know which values are neighbours. Two ensembles are trained: ten
independent members and one virtual ensemble, both without variance guard and recalibration, as in the paper. Then the
uncertainty of each cell is predicted. In a good ensemble data uncertainty follows the noise outside the heart, and
knowledge uncertainty is large inside and small outside.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from sklearn.metrics import roc_auc_score

from epiboost._boosting.recipe import EnsembleKind
from epiboost._estimators.regressor import EpiBoostRegressor
from epiboost._files.atomic import atomic_write
from epiboost._optional import require
from epiboost._progress import on_terminal
from epiboost._typing import Floats
from epiboost.datasets import Heart, HeartCells, make_heart
from epiboost.plots import HeatMap, MapDisplay

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

ENSEMBLES: Final[tuple[EnsembleKind, ...]] = ("sglb", "virtual")
"""Ensembles to compare. The first one is drawn."""

_LEARNING_RATE = 0.3
"""At this rate a chain of a thousand trees has converged, which a virtual ensemble needs: at a rate of 0.1 the AUC of
its knowledge uncertainty is 0.94 to 0.97, at this rate 0.96 to 1.00. Independent members have 1.00 at both rates."""

_FIGURE_SIZE = (11.1, 3.4)
_DOTS_PER_INCH = 110


@dataclass(frozen=True, slots=True)
class HeartResult:
    """Results of one ensemble on the cells of the heart.

    Attributes
    ----------
    ensemble : str
        Kind of ensemble.
    seconds : float
        Training time.
    data : array of shape (9, 9)
        Data uncertainty per cell.
    knowledge : array of shape (9, 9)
        Knowledge uncertainty per cell.
    data_error : float
        Mean absolute error of the data uncertainty over the cells outside the heart.
    knowledge_inside, knowledge_outside : float
        Mean knowledge uncertainty of the cells inside and outside the heart.
    knowledge_auc : float
        AUC of knowledge uncertainty for cells inside the heart: 1 is perfect, 0.5 is chance.
    """

    ensemble: str
    seconds: float
    data: Floats
    knowledge: Floats
    data_error: float
    knowledge_inside: float
    knowledge_outside: float
    knowledge_auc: float


def run(
    output: Path = Path("heart.png"),
    *,
    n_members: int = 10,
    n_estimators: int = 1000,
    n_per_cell: int = 1000,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> list[HeartResult]:
    """Train both ensembles, print the results and draw the uncertainties.

    Parameters
    ----------
    output : Path, default="heart.png"
        Picture to write; its ending chooses the format.
    n_members : int, default=10
        Number of members per ensemble.
    n_estimators : int, default=1000
        Number of trees per member; of the whole chain for the virtual ensemble.
    n_per_cell : int, default=1000
        Number of rows per cell outside the heart.
    n_jobs : int or None, default=None
        Number of threads.
    random_state : int, default=0
        Seed of the table and of training.

    Returns
    -------
    list of HeartResult
        One per ensemble.
    """
    console = require("rich.console", extra="demo", purpose="the demo").Console()
    figure = _new_figure(output)
    heart = make_heart(n_per_cell, random_state=random_state)
    console.print(f"{len(heart.y)} rows in 81 cells, none inside the heart.")
    results = []
    for ensemble in ENSEMBLES:
        model = EpiBoostRegressor(
            ensemble=ensemble,
            n_members=n_members,
            n_estimators=n_estimators,
            learning_rate=_LEARNING_RATE,
            max_depth=6,
            variance_guard=0.0,
            out_of_fold=0,
            categorical_features=[0, 1],
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=int(on_terminal()),
        )
        results.append(measure(model, heart))
    console.print(_table(results))
    _draw(results[0], heart.cells, figure)
    with atomic_write(output) as file:
        figure.savefig(file, dpi=_DOTS_PER_INCH, format=output.suffix.removeprefix(".").lower())
    console.print(f"The picture is at {output}", soft_wrap=True, highlight=False)
    return results


def measure(model: EpiBoostRegressor, heart: Heart) -> HeartResult:
    """Train a model on the heart and compare its uncertainties with the true ones.

    Parameters
    ----------
    model : EpiBoostRegressor
        Model to train.
    heart : Heart
        Training table.

    Returns
    -------
    HeartResult
    """
    start = time.perf_counter()
    model.fit(heart.X.astype(str), heart.y)
    seconds = time.perf_counter() - start
    inside = heart.cells.inside
    uncertainty = model.predict_uncertainty(heart.cells.X.astype(str))
    data, knowledge = uncertainty.data.reshape(inside.shape), uncertainty.knowledge.reshape(inside.shape)
    return HeartResult(
        ensemble=model.ensemble,
        seconds=seconds,
        data=data,
        knowledge=knowledge,
        data_error=float(np.abs(data - heart.cells.data_uncertainty)[~inside].mean()),
        knowledge_inside=float(knowledge[inside].mean()),
        knowledge_outside=float(knowledge[~inside].mean()),
        knowledge_auc=float(roc_auc_score(inside.ravel(), knowledge.ravel())),
    )


def _new_figure(output: Path) -> Figure:
    """Make the figure before training, so that a path that cannot be written to is an error at once."""
    figure: Figure = require("matplotlib.figure", extra="demo", purpose="drawing the demo").Figure(
        figsize=_FIGURE_SIZE, layout="constrained"
    )
    formats = figure.canvas.get_supported_filetypes()
    ending = output.suffix.removeprefix(".")
    if ending not in formats:
        message = f"cannot draw {str(output)!r}: its ending must be one of {', '.join(sorted(formats))}"
        raise ValueError(message)
    if not output.resolve().parent.is_dir():
        message = f"cannot write {str(output)!r}: its folder does not exist"
        raise ValueError(message)
    return figure


def _table(results: list[HeartResult]) -> Table:
    table: Table = require("rich.table", extra="demo", purpose="the demo").Table(
        "ensemble",
        title="Uncertainty on the heart",
        caption="Uncertainties are variances. Data error: mean absolute error outside the heart.",
    )
    for heading in ("training", "data error", "knowledge inside", "knowledge outside", "knowledge AUC"):
        table.add_column(heading, justify="right")
    for result in results:
        table.add_row(
            result.ensemble,
            f"{result.seconds:.1f} s",
            f"{result.data_error:.4f}",
            f"{result.knowledge_inside:.2e}",
            f"{result.knowledge_outside:.2e}",
            f"{result.knowledge_auc:.3f}",
        )
    return table


def _draw(result: HeartResult, cells: HeartCells, figure: Figure) -> None:
    # One scale for true and estimated values. Inside the heart there are no rows, so the estimate may exceed the scale.
    limits = (0.0, float(max(np.nanmax(cells.data_uncertainty), result.data[~cells.inside].max())))
    heat_maps = [
        HeatMap("True data uncertainty", cells.data_uncertainty, limits),
        HeatMap("Estimated data uncertainty", result.data, limits),
        HeatMap("Knowledge uncertainty", result.knowledge),
    ]
    axes = figure.subplots(1, len(heat_maps))
    MapDisplay(heat_maps, outline=cells.inside, x_label="$x_2$", y_label="$x_1$").plot(axes)
