"""Measure how run time grows with rows and features: one chain of each library, slopes and figure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from clock import interleaved
from matplotlib.figure import Figure
from peers import THREADS, Model, training
from results import Result
from tables import Table, generated

from epiboost import EpiBoostRegressor

JOB = 15  # after those of jobs/
TREES = 100  # the default of most libraries
ROWS, COMMON_FEATURES = (10_000, 30_000, 100_000, 300_000), 20
FEATURES, COMMON_ROWS = (10, 30, 90), 30_000
PREDICT: Mapping[str, Callable[[Model, np.ndarray], object]] = {
    "ours": lambda model, X: model.predict_uncertainty(X),
    "CatBoost": lambda model, X: model.predict(X, thread_count=THREADS),
    "LightGBM": lambda model, X: model.predict(X, num_threads=THREADS),
    "XGBoost": lambda model, X: model.inplace_predict(X, predict_type="margin"),
}
# The colours of Okabe and Ito, which colour-blind readers can distinguish, each with its own marker.
STYLES = {
    "ours": {"color": "#0072B2", "marker": "o", "linewidth": 2.5},
    "CatBoost": {"color": "#E69F00", "marker": "s"},
    "LightGBM": {"color": "#009E73", "marker": "^"},
    "XGBoost": {"color": "#CC79A7", "marker": "D"},
}


@dataclass(frozen=True, slots=True)
class Series:
    """Seconds of each library as rows or features grow; libraries that are not installed are left out."""

    what: str
    size: str
    at: str
    sizes: tuple[int, ...]
    seconds: Mapping[str, tuple[float, ...]]

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Series":
        """Read a record that the command wrote."""
        seconds = {name: tuple(values) for name, values in record["seconds"].items()}
        return cls(record["what"], record["size"], record["at"], tuple(record["sizes"]), seconds)

    @property
    def slopes(self) -> dict[str, float]:
        """Fitted exponents: seconds grow as size to this power."""
        logs = np.log(self.sizes)
        return {name: float(np.polyfit(logs, np.log(values), 1)[0]) for name, values in self.seconds.items()}

    @property
    def steeper_than(self) -> list[str]:
        """Libraries whose run time grows less than ours."""
        slopes = self.slopes
        return [name for name, slope in slopes.items() if slope < slopes["ours"]]


def measure(repeats: int, note: Callable[[str], None]) -> list[Series]:
    """Measure training and prediction for growing rows, then for growing features."""
    found = []
    shapes = {
        "rows": ([(rows, COMMON_FEATURES) for rows in ROWS], f"{COMMON_FEATURES} features"),
        "features": ([(COMMON_ROWS, features) for features in FEATURES], f"{COMMON_ROWS:,} rows"),
    }
    for size, (sides, at) in shapes.items():
        steps = []
        for rows, features in sides:
            note(f"growth: {rows:,} × {features}")
            steps.append(_times(generated(rows, features), repeats))
        sizes = tuple(side[0] if size == "rows" else side[1] for side in sides)
        for index, what in enumerate(("train", "predict")):
            seconds = {name: tuple(step[index][name] for step in steps) for name in steps[0][index]}
            found.append(Series(what, size, at, sizes, seconds))
    return found


def requirements(found: list[Series]) -> list[Result]:
    """Return the lines of growth by features, which must not be steeper than CatBoost's.

    They hold two to the power of the fitted exponent, whose ratio is at most one just if our exponent is at most
    CatBoost's. The ratio of the exponents themselves would not tell, because noise can make a small one negative.
    """
    return [
        Result(
            job=JOB,
            what=f"{series.what} one chain of {TREES} trees, factor per doubling of features (at {series.at})",
            peer_name="CatBoost, one model",
            ours=(2 ** series.slopes["ours"],),
            peer=tuple(2**slope for name, slope in series.slopes.items() if name == "CatBoost"),
            bar=1.0,
            unit="",
        )
        for series in found
        if series.size == "features"
    ]


def slopes_table(found: list[Series]) -> str:
    """Return the fitted exponents as Markdown, and whether ours is larger than any other."""
    lines = [
        f"| one chain of {TREES} trees | {' | '.join(PREDICT)} | ours never steeper |",
        f"|---|{'---|' * (len(PREDICT) + 1)}",
    ]
    for series in found:
        slopes = series.slopes
        cells = (f"{slopes[name]:.2f}" if name in slopes else "not installed" for name in PREDICT)
        steeper = series.steeper_than
        verdict = f"not met: steeper than {', '.join(steeper)}" if steeper else "met"
        lines.append(f"| {series.what}, by {series.size} (at {series.at}) | {' | '.join(cells)} | {verdict} |")
    return "\n".join(lines)


def added_table(found: list[Series]) -> str:
    """Return the seconds that the largest size takes more than the smallest, as Markdown."""
    lines = [
        f"| additional seconds, smallest to largest size | {' | '.join(PREDICT)} | ours / smallest of the others |",
        f"|---|{'---|' * (len(PREDICT) + 1)}",
    ]
    for series in found:
        added = {name: values[-1] - values[0] for name, values in series.seconds.items()}
        cells = (f"{added[name]:.4f}" if name in added else "not installed" for name in PREDICT)
        least = min((seconds for name, seconds in added.items() if name != "ours"), default=float("nan"))
        ratio = f"{added['ours'] / least:.2f}" if least > 0 else "not defined"
        lines.append(f"| {series.what}, by {series.size} (at {series.at}) | {' | '.join(cells)} | {ratio} |")
    return "\n".join(lines)


def section(found: list[Series]) -> str:
    """Return the section for the page of the documentation."""
    return f"""
## How run time grows

Seconds grow as the size to the power below (least squares on logarithms). Fixed costs make this power smaller, so the
second table shows how many seconds the largest size takes more than the smallest. Our times start from the array; the
other libraries' datasets are built before timing starts.

{slopes_table(found)}

{added_table(found)}

![Seconds to train and to predict, by rows and by features, for ours, CatBoost, LightGBM and XGBoost](growth.png)
"""


def draw(found: list[Series], path: Path) -> None:
    """Draw all series on one figure."""
    figure = Figure(figsize=(10, 9), layout="constrained")
    panels = figure.subplots(2, 2)
    for series in found:
        panel = panels[("train", "predict").index(series.what), ("rows", "features").index(series.size)]
        for name, seconds in series.seconds.items():
            label = f"{name}, slope {series.slopes[name]:.2f}"
            panel.plot(series.sizes, seconds, label=label, markersize=6, **STYLES[name])
        panel.set(
            xscale="log", yscale="log", xlabel=f"{series.size} (at {series.at})", ylabel=f"seconds to {series.what}"
        )
        panel.set_xticks(series.sizes, [f"{size:,}" for size in series.sizes], minor=False)
        panel.set_xticks([], minor=True)
        panel.grid(visible=True, which="major", alpha=0.3)
        panel.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    figure.suptitle(f"One chain of {TREES} trees on {THREADS} threads")
    figure.savefig(path, dpi=120)


def _times(data: Table, repeats: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return the median seconds to train and to predict, by library."""
    ours = EpiBoostRegressor(
        n_members=1, n_estimators=TREES, learning_rate=0.1, max_depth=6, n_jobs=THREADS, random_state=0
    )
    runs: dict[str, Callable[[], Model]] = {"ours": lambda: ours.fit(data.X, data.y)}
    for peer in PREDICT:
        prepared = training(peer, data, TREES) if peer != "ours" else None
        if prepared is not None:
            runs[peer] = prepared.run
    train = interleaved(runs, repeats)
    models = {name: run() for name, run in runs.items()}
    calls = {name: _prediction(name, model, data.X) for name, model in models.items()}
    predict = interleaved(calls, 3 * repeats, warm_up=True)
    return {name: median(values) for name, values in train.items()}, {
        name: median(values) for name, values in predict.items()
    }


def _prediction(name: str, model: Model, X: np.ndarray) -> Callable[[], object]:
    return lambda: PREDICT[name](model, X)
