"""Compare coverage and width of calibrated intervals with MAPIE's, on the paper's regression datasets.

EPIBOOST_DATA=folder python benchmarks/calibration.py [--splits 20] [--draws 4] [--tables yacht boston]

For each standard split the training rows are divided at random: three quarters train the default regressor, a quarter
calibrates it, once by `calibrate` and once by MAPIE's split-conformal regressor with absolute residuals. Coverage and
width are measured on the test rows. With few test rows the coverage is uncertain (by 9 points with 31 rows), so small
datasets are also split at random, with as many test rows, `--draws` times for each standard split.
"""

import argparse

import numpy as np
from mapie.regression import SplitConformalRegressor
from uci import NAMES, Split, splits

from epiboost import EpiBoostRegressor
from epiboost.metrics import interval_coverage_score, interval_width

COVERAGES = (0.5, 0.8, 0.9, 0.95)
REPORTED = COVERAGES.index(0.9)
TOLERANCE = 0.02
CALIBRATION_SHARE = 0.25
SMALL = 2_000
FEWER_SPLITS, FEWEST_SPLITS, LARGE = 10, 5, 20_000


def intervals(split: Split, seed: int, trees: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return our intervals and MAPIE's for the test rows, each of shape (rows, coverages, 2)."""
    order = np.random.default_rng(seed).permutation(len(split.y_train))
    n_calibration = round(CALIBRATION_SHARE * len(order))
    held_out, train = order[:n_calibration], order[n_calibration:]
    model = EpiBoostRegressor(n_estimators="auto" if trees is None else trees, random_state=seed)
    model.fit(split.X_train[train], split.y_train[train])
    X, y = split.X_train[held_out], split.y_train[held_out]
    ours = model.calibrate(X, y, random_state=seed).predict_interval(split.X_test, COVERAGES)
    peer = SplitConformalRegressor(estimator=model, confidence_level=list(COVERAGES), prefit=True).conformalize(X, y)
    _, theirs = peer.predict_interval(split.X_test)
    return ours, np.moveaxis(theirs, 1, 2)


def resplit(split: Split, seed: int) -> Split:
    """Return a random split of the same rows, with as many test rows."""
    X, y = np.concatenate([split.X_test, split.X_train]), np.concatenate([split.y_test, split.y_train])
    order = np.random.default_rng(seed).permutation(len(y))
    test, train = order[: len(split.y_test)], order[len(split.y_test) :]
    return Split(X[train], y[train], X[test], y[test])


def measure(name: str, options: argparse.Namespace) -> np.ndarray:
    """Return coverage and width, ours and MAPIE's, of shape (2, 2, coverages), averaged over splits and draws."""
    found = []
    rows = 0
    for number, split in enumerate(splits(name, options.splits)):
        rows = len(split.y_train)
        most = options.splits if rows < SMALL else FEWER_SPLITS if rows < LARGE else FEWEST_SPLITS
        for draw in range(options.draws + 1 if rows < SMALL else 1):
            seed = 1000 * number + draw
            fresh = resplit(split, seed) if draw else split
            both = intervals(fresh, seed, options.trees)
            found.append([[interval_coverage_score(fresh.y_test, one), interval_width(one)] for one in both])
        if number + 1 == most:  # there may be no further split to read
            break
    print(f"| {name} | {round(CALIBRATION_SHARE * rows)} ", end="")
    return np.mean(found, axis=0)


def main() -> None:
    """Print the table, and whether all requirements are met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--splits", type=int, default=20, help="number of standard splits of a small dataset; large ones have fewer"
    )
    parser.add_argument(
        "--draws", type=int, default=4, help="number of random splits of a small dataset for each standard one"
    )
    parser.add_argument("--trees", type=int, help="number of trees per member; default: that of the regressor")
    parser.add_argument("--tables", nargs="+", choices=NAMES, default=list(NAMES))
    options = parser.parse_args()
    print(
        "| table | calibration rows | coverage at .5, .8, .9, .95 | MAPIE's | width at .9 | MAPIE's | ratio at each |"
    )
    print("|---|---|---|---|---|---|---|")
    misses = []
    for name in options.tables:
        (coverage, width), (their_coverage, their_width) = measure(name, options)
        ratios = width / their_width
        columns = [" ".join(f"{number:.3f}" for number in row) for row in (coverage, their_coverage, ratios)]
        print(
            f"| {columns[0]} | {columns[1]} | {width[REPORTED]:.4g} | {their_width[REPORTED]:.4g} | {columns[2]} |",
            flush=True,
        )
        if np.abs(coverage - COVERAGES).max() > TOLERANCE:
            misses.append(f"{name}: coverage off by {np.abs(coverage - COVERAGES).max():.3f}")
        if ratios[REPORTED] > 1.0:
            misses.append(f"{name}: intervals at 0.9 {ratios[REPORTED]:.3f} times as wide as MAPIE's")
    print("\nall requirements met" if not misses else "\nmissed: " + "; ".join(misses))


if __name__ == "__main__":
    main()
