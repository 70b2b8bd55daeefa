"""The heart experiment: train, measure, draw.

The table is `epiboost.datasets.make_heart`: 81 cells, of which those inside a heart have no rows. Its two features are
categories and are given as text, so that no model is told which values are neighbours. Two ensembles are trained, ten
independent members and one virtual ensemble, both without the guard of small tables, which the paper does not have.
Each cell is then asked for its uncertainty. The data uncertainty of a good ensemble follows the noise outside the
heart, and its knowledge uncertainty is large inside and small outside.
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
from epiboost._files.atomic import whole_file
from epiboost._optional import require
from epiboost._typing import Floats
from epiboost.datasets import Heart, HeartCells, make_heart
from epiboost.plots import HeatMap, MapDisplay

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

ENSEMBLES: Final[tuple[EnsembleKind, ...]] = ("sglb", "virtual")
"""The ensembles that are compared. The first one is drawn."""

_LEARNING_RATE = 0.3
"""At this rate a chain of a thousand trees has settled, which the stages of a virtual ensemble need: at a rate of 0.1
its knowledge uncertainty tells the heart with an AUC of 0.94 to 0.97, at this one of 0.96 to 1.00. Independent members
have 1.00 at either rate."""

_FIGURE_SIZE = (11.1, 3.4)
_DOTS_PER_INCH = 110


@dataclass(frozen=True, slots=True)
class Measurement:
    """How one ensemble did on the cells of the heart.

    Attributes
    ----------
    ensemble : str
        The kind of ensemble.
    seconds : float
        How long training took.
    data : array of shape (9, 9)
        The data uncertainty of each cell.
    knowledge : array of shape (9, 9)
        The knowledge uncertainty of each cell.
    data_error : float
        The mean absolute error of the data uncertainty over the cells outside the heart.
    knowledge_inside, knowledge_outside : float
        The mean knowledge uncertainty of the cells inside and outside the heart.
    knowledge_auc : float
        How well knowledge uncertainty tells cells inside from cells outside: 1 is perfect, 0.5 is chance.
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
) -> list[Measurement]:
    """Train on the heart, print how well it went, and draw what was found.

    Parameters
    ----------
    output : Path, default="heart.png"
        Where to write the picture; its ending chooses the format.
    n_members : int, default=10
        Members of each ensemble.
    n_estimators : int, default=1000
        Trees of a member; of the whole chain for the virtual ensemble.
    n_per_cell : int, default=1000
        Rows in each cell outside the heart.
    n_jobs : int or None, default=None
        Threads to train on.
    random_state : int, default=0
        The seed of the table and of training.

    Returns
    -------
    list of Measurement
        One an ensemble.
    """
    console = require("rich.console", extra="cli", purpose="the demo").Console()
    figure = _new_figure(output)
    heart = make_heart(n_per_cell, random_state=random_state)
    console.print(f"{len(heart.y)} rows in 81 cells, none of them inside the heart.")
    measurements = []
    for ensemble in ENSEMBLES:
        model = EpiBoostRegressor(
            ensemble=ensemble,
            n_members=n_members,
            n_estimators=n_estimators,
            learning_rate=_LEARNING_RATE,
            max_depth=6,
            variance_guard=0.0,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=1,
        )
        measurements.append(measure(model, heart))
    console.print(_table(measurements))
    _draw(measurements[0], heart.cells, figure)
    with whole_file(output) as draft:
        figure.savefig(draft, dpi=_DOTS_PER_INCH)
    console.print(f"The picture is at {output}", soft_wrap=True, highlight=False)
    return measurements


def measure(model: EpiBoostRegressor, heart: Heart) -> Measurement:
    """Train a model on the heart and compare its uncertainty with the truth.

    Parameters
    ----------
    model : EpiBoostRegressor
        The model to train.
    heart : Heart
        The table.

    Returns
    -------
    Measurement
        What was found.
    """
    start = time.perf_counter()
    model.fit(heart.X.astype(str), heart.y)
    seconds = time.perf_counter() - start
    inside = heart.cells.inside
    uncertainty = model.predict_uncertainty(heart.cells.X.astype(str))
    data, knowledge = uncertainty.data.reshape(inside.shape), uncertainty.knowledge.reshape(inside.shape)
    return Measurement(
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
    """Make the figure before training, so that a place it cannot be written to is known at once."""
    figure: Figure = require("matplotlib.figure", extra="plot", purpose="drawing the demo").Figure(
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


def _table(measurements: list[Measurement]) -> Table:
    table: Table = require("rich.table", extra="cli", purpose="the demo").Table(
        "ensemble",
        title="Uncertainty on the heart",
        caption="Uncertainties are variances. Data error: mean absolute error outside the heart.",
    )
    for heading in ("training", "data error", "knowledge inside", "knowledge outside", "knowledge AUC"):
        table.add_column(heading, justify="right")
    for found in measurements:
        table.add_row(
            found.ensemble,
            f"{found.seconds:.1f} s",
            f"{found.data_error:.4f}",
            f"{found.knowledge_inside:.2e}",
            f"{found.knowledge_outside:.2e}",
            f"{found.knowledge_auc:.3f}",
        )
    return table


def _draw(found: Measurement, cells: HeartCells, figure: Figure) -> None:
    # One scale for the truth and the estimate. Nothing binds the estimate inside the heart, so it may exceed the scale.
    limits = (0.0, float(max(np.nanmax(cells.data_uncertainty), found.data[~cells.inside].max())))
    heat_maps = [
        HeatMap("True data uncertainty", cells.data_uncertainty, limits),
        HeatMap("Estimated data uncertainty", found.data, limits),
        HeatMap("Knowledge uncertainty", found.knowledge),
    ]
    axes = figure.subplots(1, len(heat_maps))
    MapDisplay(heat_maps, outline=cells.inside, x_label="$x_2$", y_label="$x_1$").plot(axes)
