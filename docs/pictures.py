"""Draws pictures of the tour, of the uncertainties in use and of explanations: python docs/pictures.py [folder]."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from PIL import Image

from epiboost import EpiBoostClassifier, EpiBoostRegressor, EpiBoostSurvivalRegressor
from epiboost.datasets import make_heart, make_spiral
from epiboost.explain import attribute
from epiboost.plots import (
    AttributionDisplay,
    CalibrationDisplay,
    DomainDisplay,
    RejectionDisplay,
    RowAttributionDisplay,
    SpiralDisplay,
    SurvivalDisplay,
    UncertaintyDisplay,
)
from epiboost.plots.style import ORANGE

TOUR = Path(__file__).with_name("tour.md")
DOTS_PER_INCH = 110
COLOURS = 64
"""Size of the palette of the tour's pictures: they take a third of the bytes and look the same."""
FIRST_SCREEN = (880, 1030)
"""Width and height of what is shown of the report, in pixels."""


def panels(count: int) -> tuple[Figure, list]:
    """Return a figure and its axes, side by side."""
    figure = Figure(figsize=(4.8 * count, 4.0), layout="constrained")
    return figure, list(np.ravel(figure.subplots(1, count)))


def tour_pictures(folder: Path) -> None:
    """Run the code of the tour; a picture shows the figure that the code above it draws, or the report."""
    plt.switch_backend("agg")
    session = {}
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        for code, name in re.findall(r"(?ms)^```python\n(.*?)^```$|\]\((tour_\w+\.png)\)", TOUR.read_text()):
            picture = Path(scratch) / name
            if code:
                exec(code, session)  # noqa: S102 (our own page)
                continue
            if plt.get_fignums():
                plt.gcf().savefig(picture, dpi=DOTS_PER_INCH)
                plt.close("all")
            elif not photograph(Path(scratch) / "report.html", picture):
                print(f"{name} is not renewed: no Chromium is installed")
                continue
            Image.open(picture).convert("RGB").quantize(COLOURS).save(folder / name, optimize=True)


def photograph(page: Path, picture: Path) -> bool:
    """Save the first screen of an HTML page; return whether there is a browser to do so."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        return False
    options = ["--headless", "--disable-gpu", "--hide-scrollbars", "--window-size={},{}".format(*FIRST_SCREEN)]
    options += [f"--user-data-dir={page.parent / 'browser'}", f"--screenshot={picture}"]
    options += ["--no-sandbox"] if os.geteuid() == 0 else []
    subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True)  # noqa: S603 (our own page)
    return True


def spiral_pictures(folder: Path) -> None:
    """Draw maps of a classifier's uncertainty over the plane of the spiral, and its rejection curve."""
    train, test = make_spiral(3000, random_state=1), make_spiral(3000, noise=0.08, random_state=2)
    model = EpiBoostClassifier(random_state=0, n_estimators=500).fit(train.X, train.y)
    figure, axes = panels(2)
    SpiralDisplay.from_estimator(model, train, ax=axes)
    figure.savefig(folder / "spiral.png", dpi=DOTS_PER_INCH)
    figure, (ax,) = panels(1)
    RejectionDisplay.from_estimator(model, test.X, test.y, ax=ax)
    figure.savefig(folder / "rejection.png", dpi=DOTS_PER_INCH)


def domain_pictures(folder: Path) -> None:
    """Draw the uncertainty of a regressor in the cells of the heart, which have no training rows."""
    heart = make_heart(200, random_state=0)
    model = EpiBoostRegressor(random_state=0, learning_rate=0.3).fit(heart.X[:8000], heart.y[:8000])
    X_test, X_ood = heart.X[8000:], heart.cells.X[heart.cells.inside.ravel()]
    figure, (ax,) = panels(1)
    UncertaintyDisplay.from_estimator(model, X_test, X_ood, ax=ax)
    figure.savefig(folder / "uncertainty.png", dpi=DOTS_PER_INCH)
    figure, axes = panels(2)
    DomainDisplay.from_estimator(model, X_test, X_ood, ax=axes)
    figure.savefig(folder / "domain.png", dpi=DOTS_PER_INCH)


def calibration_picture(folder: Path) -> None:
    """Draw the coverage of intervals before and after calibration, on a noisy table: one of ten columns matters."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 10))
    y = X[:, 0] + rng.normal(size=len(X))
    model = EpiBoostRegressor(random_state=0).fit(X[:1000], y[:1000])
    calibrated = model.calibrate(X[1000:1500], y[1000:1500])
    figure, (ax,) = panels(1)
    CalibrationDisplay.from_estimator(model, X[1500:], y[1500:], ax=ax)
    CalibrationDisplay.from_estimator(
        calibrated, X[1500:], y[1500:], ax=ax, name="calibrated", color=ORANGE, marker="^"
    )
    figure.savefig(folder / "calibration.png", dpi=DOTS_PER_INCH)


def explain_picture(folder: Path) -> None:
    """Draw what adds to knowledge uncertainty; in half of the rows a feature is beyond its training range."""
    rng = np.random.default_rng(0)
    names = ["dose", "age", "weight", "height", "pulse"]
    train = pd.DataFrame(rng.normal(size=(3000, 5)).round(3), columns=names)
    y = 3 * train["dose"] + train.sum(axis=1) + 0.3 * rng.normal(size=3000)
    model = EpiBoostRegressor(random_state=0, n_estimators=300).fit(train, y)
    rows = pd.DataFrame(rng.normal(size=(120, 5)).round(3), columns=names)
    rows.loc[:59, "dose"] = rng.uniform(4.0, 8.0, size=60).round(3)
    found = attribute(model, rows, measure="knowledge", background=train)
    figure, axes = panels(2)
    AttributionDisplay(found).plot(axes[0])
    RowAttributionDisplay(found, 0).plot(axes[1])
    figure.savefig(folder / "explain.png", dpi=DOTS_PER_INCH)


def survival_picture(folder: Path) -> None:
    """Draw the survival curves of two patients, as the page on durations does."""
    from lifelines.datasets import load_gbsg2  # noqa: PLC0415 (of this picture alone)
    from sklearn.model_selection import train_test_split  # noqa: PLC0415

    table = load_gbsg2()
    y = np.empty(len(table), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = table["cens"], table["time"]
    X_train, X_test, y_train, _ = train_test_split(table.drop(columns=["cens", "time"]), y, random_state=0)
    model = EpiBoostSurvivalRegressor(random_state=0).fit(X_train, y_train)
    figure, (ax,) = panels(1)
    times = np.linspace(0.0, 6000.0, 200)
    early, late = np.argsort(model.predict(X_test))[[8, -8]]
    SurvivalDisplay.from_estimator(
        model, X_test.iloc[[early, late]], times=times, names=["patient A", "patient B"], ax=ax
    )
    ax.set_xlabel("days")
    figure.savefig(folder / "survival.png", dpi=DOTS_PER_INCH)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    tour_pictures(target.resolve())
    spiral_pictures(target)
    domain_pictures(target)
    calibration_picture(target)
    explain_picture(target)
    survival_picture(target)
