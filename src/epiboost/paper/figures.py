"""The paper's figures: the heart, the spiral, and true and virtual ensembles on both.

Each picture comes with a JSON file of statistics: how well knowledge uncertainty separates places without training rows
from places with training rows, and how large it is there.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.metrics import roc_auc_score

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._boosting.recipe import EnsembleKind
from epiboost._files.atomic import atomic_write
from epiboost._optional import require
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import AnyArray, Floats, LibraryObject
from epiboost.datasets import Heart, Spiral, make_heart, make_spiral, spiral_features
from epiboost.paper.cells.provenance import versions
from epiboost.paper.protocol import QUICK, Protocol
from epiboost.plots import HeatMap, MapDisplay, spiral_grid

_HEART_RATE, _SPIRAL_RATE, _DEPTH = 0.3, 0.1, 6
_SEED = 0
_HALF_WIDTH, _RESOLUTION = 2.0, 160
_EMPTY_DISTANCE = 0.15  # a place is empty if the nearest row is further away
_DOTS_PER_INCH = 110
_PANEL_SIZE = (4.2, 3.7)  # inches
_COLOUR_QUANTILE = 0.995  # of the values; larger ones share the last colour


@dataclass(frozen=True, slots=True, eq=False)
class UncertaintyMap:
    """Uncertainty of a model over the cells of the heart, or over a grid around the spiral.

    Attributes
    ----------
    table : Heart or Spiral
        The training table.
    uncertainty : Uncertainty
        One row per place of the map.
    empty : array of bool, of shape (n_places,)
        Whether a place has no training rows.
    seconds : float
        Training time.
    """

    table: Heart | Spiral
    uncertainty: Uncertainty
    empty: AnyArray
    seconds: float

    def statistics(self) -> dict[str, float]:
        """Return the statistics of the map."""
        knowledge, empty = self.uncertainty.knowledge, self.empty
        return {
            "knowledge_auc": float(roc_auc_score(empty, knowledge)),
            "total_auc": float(roc_auc_score(empty, self.uncertainty.total)),
            "knowledge_where_empty": float(knowledge[empty].mean()),
            "knowledge_elsewhere": float(knowledge[~empty].mean()),
            "data_elsewhere": float(self.uncertainty.data[~empty].mean()),
            "seconds": round(self.seconds, 3),
        }


def draw(name: str, folder: Path, protocol: Protocol, *, engine: str, n_jobs: int | None) -> list[Path]:
    """Train the models of a figure, draw it and write it.

    Parameters
    ----------
    name : {"heart", "spiral", "virtual"}
    folder : path
    protocol : Protocol
    engine : str
    n_jobs : int or None

    Returns
    -------
    list of paths
        The picture, and the JSON file of statistics.
    """
    options = {"engine": engine, "n_jobs": n_jobs, "protocol": protocol}
    maps = _MAPS[name](options)
    figure = require("matplotlib.figure", extra="plot", purpose="drawing the figures").Figure(
        figsize=(_PANEL_SIZE[0] * _PANELS[name], _PANEL_SIZE[1]), layout="constrained"
    )
    if protocol == QUICK:
        figure.suptitle("a quick run with tiny models")
    axes = list(np.ravel(figure.subplots(1, _PANELS[name])))
    {"heart": _draw_heart, "spiral": _draw_spiral, "virtual": _draw_virtual}[name](maps, axes)
    folder.mkdir(parents=True, exist_ok=True)
    picture, statistics = folder / f"{name}.png", folder / f"{name}.json"
    with atomic_write(picture) as file:
        figure.savefig(file, dpi=_DOTS_PER_INCH, format="png")
    with atomic_write(statistics) as file:
        provenance = {"engine": engine, "seed": _SEED, "protocol": protocol.to_json(), "versions": versions(engine)}
        content = {title: one.statistics() for title, one in maps.items()} | {"rests_on": provenance}
        file.write((json.dumps(content, indent=1) + "\n").encode())
    return [picture, statistics]


def heart_map(ensemble: EnsembleKind, *, engine: str, n_jobs: int | None, protocol: Protocol) -> UncertaintyMap:
    """Train on the heart, with its features as categories, and predict its cells."""
    heart = make_heart(random_state=_SEED)
    options = _options(ensemble, _HEART_RATE, engine, n_jobs, protocol)
    if engine == "native":
        options["variance_guard"] = 0.0
    model = EpiBoostRegressor(**options, categorical_features=[0, 1])
    start = time.perf_counter()
    model.fit(heart.X.astype(str), heart.y)
    seconds = time.perf_counter() - start
    return UncertaintyMap(
        heart, model.predict_uncertainty(heart.cells.X.astype(str)), heart.cells.inside.ravel(), seconds
    )


def spiral_map(ensemble: EnsembleKind, *, engine: str, n_jobs: int | None, protocol: Protocol) -> UncertaintyMap:
    """Train on the spiral and predict a square grid around it."""
    spiral = make_spiral(random_state=_SEED)
    model = EpiBoostClassifier(**_options(ensemble, _SPIRAL_RATE, engine, n_jobs, protocol))
    start = time.perf_counter()
    model.fit(spiral.X, spiral.y)
    seconds = time.perf_counter() - start
    places = spiral_grid(_RESOLUTION, _HALF_WIDTH)
    empty = cKDTree(spiral.points).query(places)[0] > _EMPTY_DISTANCE
    return UncertaintyMap(spiral, model.predict_uncertainty(spiral_features(places)), empty, seconds)


def _options(
    ensemble: EnsembleKind, rate: float, engine: str, n_jobs: int | None, protocol: Protocol
) -> dict[str, Any]:
    return {
        "ensemble": ensemble,
        "n_members": protocol.n_members,
        "n_estimators": protocol.n_estimators,
        "learning_rate": rate,
        "max_depth": _DEPTH,
        "engine": engine,
        "n_jobs": n_jobs,
        "random_state": _SEED,
        "out_of_fold": 0,
    }


def _draw_heart(maps: dict[str, UncertaintyMap], axes: list[LibraryObject]) -> None:
    heart = maps["heart, SGLB ensemble"]
    cells = heart.table.cells  # type: ignore[union-attr]  # it is a heart
    shape = cells.inside.shape
    data = heart.uncertainty.data.reshape(shape)
    limits = (0.0, float(max(np.nanmax(cells.data_uncertainty), data[~cells.inside].max())))
    heat_maps = [
        HeatMap("True data uncertainty", cells.data_uncertainty, limits),
        HeatMap("Estimated data uncertainty", data, limits),
        HeatMap("Knowledge uncertainty", heart.uncertainty.knowledge.reshape(shape)),
    ]
    MapDisplay(heat_maps, outline=cells.inside, x_label="$x_2$", y_label="$x_1$").plot(axes)


def _draw_spiral(maps: dict[str, UncertaintyMap], axes: list[LibraryObject]) -> None:
    spiral = maps["spiral, SGLB ensemble"]
    points, labels = spiral.table.points, spiral.table.y  # type: ignore[union-attr]  # it is a spiral
    axes[0].scatter(*points.T, c=labels, s=3, cmap="viridis")
    axes[0].set(title="The spiral", xlim=(-_HALF_WIDTH, _HALF_WIDTH), ylim=(-_HALF_WIDTH, _HALF_WIDTH), aspect="equal")
    _draw_plane(axes[1], "Total uncertainty", spiral.uncertainty.total)
    _draw_plane(axes[2], "Knowledge uncertainty", spiral.uncertainty.knowledge)


def _draw_virtual(maps: dict[str, UncertaintyMap], all_axes: list[LibraryObject]) -> None:
    for axes, (title, one) in zip(all_axes, maps.items(), strict=True):
        knowledge = one.uncertainty.knowledge
        if isinstance(one.table, Heart):
            inside = one.table.cells.inside
            heat_map = HeatMap(title, knowledge.reshape(inside.shape))
            MapDisplay([heat_map], outline=inside, x_label="$x_2$", y_label="$x_1$").plot([axes])
        else:
            _draw_plane(axes, title, knowledge)


def _draw_plane(axes: LibraryObject, title: str, values: Floats) -> None:
    places = np.linspace(-_HALF_WIDTH, _HALF_WIDTH, _RESOLUTION)
    grid = values.reshape(_RESOLUTION, _RESOLUTION)
    highest = float(np.quantile(grid, _COLOUR_QUANTILE)) or None
    image = axes.pcolormesh(places, places, grid, cmap="viridis", vmin=0.0, vmax=highest, rasterized=True)
    axes.figure.colorbar(image, ax=axes, shrink=0.85, label="nats", extend="max" if highest else "neither")
    axes.set(title=title, aspect="equal")


Options = dict[str, Any]
_MAPS: dict[str, Callable[[Options], dict[str, UncertaintyMap]]] = {
    "heart": lambda options: {"heart, SGLB ensemble": heart_map("sglb", **options)},
    "spiral": lambda options: {"spiral, SGLB ensemble": spiral_map("sglb", **options)},
    "virtual": lambda options: {
        "heart, SGLB ensemble": heart_map("sglb", **options),
        "heart, vSGLB": heart_map("virtual", **options),
        "spiral, SGLB ensemble": spiral_map("sglb", **options),
        "spiral, vSGLB": spiral_map("virtual", **options),
    },
}
_PANELS = {"heart": 3, "spiral": 3, "virtual": 4}
