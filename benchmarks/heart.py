"""Knowledge uncertainty on tables with a heart-shaped hole: how well it separates empty cells from cells with rows.

Besides the heart of `epiboost demo`, a heart with another outline, other values and numeric features, of which models
know which values are neighbours, and with fewer rows and trees.
"""

import numpy as np
from peers import THREADS

from epiboost import EpiBoostRegressor
from epiboost.datasets import Heart, HeartCells
from epiboost.metrics import ood_auc_score
from epiboost.paper.figures import heart_map
from epiboost.paper.protocol import PAPER

DEMO_BAR, OTHER_BAR = 0.995, 0.99  # 1.00 with two decimals
LEVELS, HALF_WIDTH, ROWS_PER_CELL = 11, 1.4, 300
TREES, RATE, SEEDS = 300, 0.1, range(3)


def demo_auc() -> float:
    """Return the AUC on the heart of the demo, with its features as categories, of the SGLB ensemble of the paper."""
    return heart_map("sglb", engine="native", n_jobs=THREADS, protocol=PAPER).statistics()["knowledge_auc"]


def other_heart(seed: int) -> Heart:
    """Generate a heart with the outline (x² + y² - 1)³ = x² y³; the variance grows from left to right."""
    rng = np.random.default_rng(seed)
    grid = np.linspace(-HALF_WIDTH, HALF_WIDTH, LEVELS)
    y, x = np.meshgrid(grid[::-1], grid, indexing="ij")
    inside = (x**2 + y**2 - 1) ** 3 <= x**2 * y**3
    mean, variance = rng.uniform(size=inside.shape), np.tile(np.linspace(0.01, 0.04, LEVELS), (LEVELS, 1))
    cells = HeartCells(np.argwhere(np.ones_like(inside)), inside, mean, variance)
    rows = np.repeat(np.flatnonzero(~inside), ROWS_PER_CELL)
    return Heart(cells.X[rows], rng.normal(mean.ravel()[rows], np.sqrt(variance.ravel()[rows])), cells)


def other_auc(seed: int, **parameters: float) -> float:
    """Return the AUC on the other heart; the parameters replace defaults."""
    heart = other_heart(seed)
    model = EpiBoostRegressor(n_estimators=TREES, learning_rate=RATE, n_jobs=THREADS, random_state=seed, **parameters)
    model.fit(heart.X, heart.y)
    return ood_auc_score(heart.cells.inside.ravel(), model.predict_uncertainty(heart.cells.X).knowledge)


def compare() -> None:
    """Print the AUCs; of the other heart the smallest of a few tables."""
    print("AUC of knowledge uncertainty for the cells inside a heart, ten members")
    print("| heart | AUC | at least |\n|---|---|---|")
    print(f"| of the demo, text, {PAPER.n_estimators} trees | {demo_auc():.3f} | {DEMO_BAR} |", flush=True)
    settings = {"default": {}, "without guard and out-of-fold chains": {"variance_guard": 0.0, "out_of_fold": 0}}
    for name, parameters in settings.items():
        least = min(other_auc(seed, **parameters) for seed in SEEDS)
        print(f"| another, numbers, {TREES} trees, {name} | {least:.3f} | {OTHER_BAR} |", flush=True)
