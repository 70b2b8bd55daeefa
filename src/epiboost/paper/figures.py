"""The paper's figures: the heart, the spiral, and true against virtual ensembles on both.

Beside each picture stands a JSON file with what can be counted: how well knowledge uncertainty tells places without
training rows from others, and how large it is there.
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
from epiboost._files.atomic import whole_file
from epiboost._optional import require
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import AnyArray, Floats
from epiboost.datasets import Heart, Spiral, make_heart, make_spiral, spiral_features
from epiboost.paper.cells.provenance import versions
from epiboost.paper.protocol import REHEARSAL, Protocol
from epiboost.plots import HeatMap, MapDisplay, spiral_grid

_HEART_RATE, _SPIRAL_RATE, _DEPTH = 0.3, 0.1, 6
_SEED = 0
_REACH, _RESOLUTION = 2.0, 160
_FAR = 0.15  # a place is without rows if the next one is further off
_DOTS_PER_INCH = 110
_PANEL = (4.2, 3.7)
_COLOURED = 0.995


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """What a model says of the heart's cells or of places around the spiral."""

    table: Heart | Spiral
    uncertainty: Uncertainty
    empty: AnyArray
    seconds: float

    def to_json(self) -> dict[str, float]:
        """Return what can be counted."""
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
    """Train, draw a figure and write it.

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
        The picture, and the JSON file with what can be counted.
    """
    options = {"engine": engine, "n_jobs": n_jobs, "protocol": protocol}
    maps = _MAPS[name](options)
    figure = require("matplotlib.figure", extra="plot", purpose="drawing the figures").Figure(
        figsize=(_PANEL[0] * _PANELS[name], _PANEL[1]), layout="constrained"
    )
    if protocol == REHEARSAL:
        figure.suptitle("a rehearsal on tiny models")
    axes = list(np.ravel(figure.subplots(1, _PANELS[name])))
    {"heart": _draw_heart, "spiral": _draw_spiral, "virtual": _draw_virtual}[name](maps, axes)
    folder.mkdir(parents=True, exist_ok=True)
    picture, counted = folder / f"{name}.png", folder / f"{name}.json"
    with whole_file(picture) as draft:
        figure.savefig(draft, dpi=_DOTS_PER_INCH)
    with whole_file(counted) as draft:
        rests_on = {"engine": engine, "seed": _SEED, "protocol": protocol.to_json(), "versions": versions(engine)}
        found = {of: one.to_json() for of, one in maps.items()} | {"rests_on": rests_on}
        draft.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return [picture, counted]


def heart_map(ensemble: EnsembleKind, *, engine: str, n_jobs: int | None, protocol: Protocol) -> Map:
    """Train on the heart, whose features are categories, and ask for its cells."""
    heart = make_heart(random_state=_SEED)
    options = _options(ensemble, _HEART_RATE, engine, n_jobs, protocol)
    if engine == "native":
        options["variance_guard"] = 0.0
    model = EpiBoostRegressor(**options)
    start = time.perf_counter()
    model.fit(heart.X.astype(str), heart.y)
    seconds = time.perf_counter() - start
    return Map(heart, model.predict_uncertainty(heart.cells.X.astype(str)), heart.cells.inside.ravel(), seconds)


def spiral_map(ensemble: EnsembleKind, *, engine: str, n_jobs: int | None, protocol: Protocol) -> Map:
    """Train on the spiral and ask for places all around it."""
    spiral = make_spiral(random_state=_SEED)
    model = EpiBoostClassifier(**_options(ensemble, _SPIRAL_RATE, engine, n_jobs, protocol))
    start = time.perf_counter()
    model.fit(spiral.X, spiral.y)
    seconds = time.perf_counter() - start
    places = spiral_grid(_RESOLUTION, _REACH)
    empty = cKDTree(spiral.points).query(places)[0] > _FAR
    return Map(spiral, model.predict_uncertainty(spiral_features(places)), empty, seconds)


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
    }


def _draw_heart(maps: dict[str, Map], axes: list[Any]) -> None:
    own = maps["heart, SGLB ensemble"]
    cells = own.table.cells  # type: ignore[union-attr]  # it is a heart
    shape = cells.inside.shape
    data = own.uncertainty.data.reshape(shape)
    limits = (0.0, float(max(np.nanmax(cells.data_uncertainty), data[~cells.inside].max())))
    heat_maps = [
        HeatMap("True data uncertainty", cells.data_uncertainty, limits),
        HeatMap("Estimated data uncertainty", data, limits),
        HeatMap("Knowledge uncertainty", own.uncertainty.knowledge.reshape(shape)),
    ]
    MapDisplay(heat_maps, outline=cells.inside, x_label="$x_2$", y_label="$x_1$").plot(axes)


def _draw_spiral(maps: dict[str, Map], axes: list[Any]) -> None:
    own = maps["spiral, SGLB ensemble"]
    points, labels = own.table.points, own.table.y  # type: ignore[union-attr]  # it is a spiral
    axes[0].scatter(*points.T, c=labels, s=3, cmap="viridis")
    axes[0].set(title="The spiral", xlim=(-_REACH, _REACH), ylim=(-_REACH, _REACH), aspect="equal")
    _plane(axes[1], "Total uncertainty", own.uncertainty.total)
    _plane(axes[2], "Knowledge uncertainty", own.uncertainty.knowledge)


def _draw_virtual(maps: dict[str, Map], axes: list[Any]) -> None:
    for axis, (title, own) in zip(axes, maps.items(), strict=True):
        knowledge = own.uncertainty.knowledge
        if isinstance(own.table, Heart):
            inside = own.table.cells.inside
            heat_map = HeatMap(title, knowledge.reshape(inside.shape))
            MapDisplay([heat_map], outline=inside, x_label="$x_2$", y_label="$x_1$").plot([axis])
        else:
            _plane(axis, title, knowledge)


def _plane(axis: Any, title: str, values: Floats) -> None:  # noqa: ANN401 (matplotlib is imported late)
    places = np.linspace(-_REACH, _REACH, _RESOLUTION)
    grid = values.reshape(_RESOLUTION, _RESOLUTION)
    highest = float(np.quantile(grid, _COLOURED)) or None
    image = axis.pcolormesh(places, places, grid, cmap="viridis", vmin=0.0, vmax=highest, rasterized=True)
    axis.figure.colorbar(image, ax=axis, shrink=0.85, label="nats", extend="max" if highest else "neither")
    axis.set(title=title, aspect="equal")


Options = dict[str, Any]
_MAPS: dict[str, Callable[[Options], dict[str, Map]]] = {
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
