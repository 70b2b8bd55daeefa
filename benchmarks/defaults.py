"""The default regressor, untuned, on the paper's regression datasets: likelihood, CRPS, and intervals that hold.

Intervals are those of `predict_interval`, without calibration rows. They are compared with those that `calibrate` makes
from a quarter of the training rows, of the same model without out-of-fold chains.
"""

import numpy as np
from uci import NAMES, Split, splits

from epiboost import EpiBoostRegressor
from epiboost.metrics import crps_loss, interval_coverage_score, interval_width

THREADS = 2
COVERAGE = 0.9
CALIBRATION_SHARE = 0.25
NLL_BARS = {
    "boston": 2.20, "concrete": 2.72, "energy": 0.45, "wine": 0.84, "yacht": 0.45, "kin8nm": -1.05, "power": 2.52,
    "naval": -5.90, "protein": 2.55,
}  # fmt: skip
CRPS_BARS = {"concrete": 1.95, "energy": 0.19, "yacht": 0.26}
LEAST_COVERAGE, COVERAGE_RANGE = 0.86, (0.88, 0.93)


def measure(split: Split, seed: int) -> list[float]:
    """Return RMSE, NLL, CRPS, and coverage and width of the model's own intervals and of calibrated ones."""
    model = EpiBoostRegressor(n_jobs=THREADS, random_state=seed).fit(split.X_train, split.y_train)
    posterior = model.predict_posterior(split.X_test)
    own = model.predict_interval(split.X_test, COVERAGE)
    order = np.random.default_rng(seed).permutation(len(split.y_train))
    held_out, train = np.split(order, [round(CALIBRATION_SHARE * len(order))])
    plain = EpiBoostRegressor(n_jobs=THREADS, random_state=seed, out_of_fold=0)
    plain.fit(split.X_train[train], split.y_train[train])
    calibrated = plain.calibrate(split.X_train[held_out], split.y_train[held_out], random_state=seed)
    other = calibrated.predict_interval(split.X_test, COVERAGE)
    y = split.y_test
    return [
        float(np.sqrt(np.mean((posterior.mean - y) ** 2))),
        -float(posterior.logpdf(y).mean()),
        crps_loss(y, posterior),
        *(score for one in (own, other) for score in (interval_coverage_score(y, one), interval_width(one))),
    ]


def compare(n_splits: int) -> None:
    """Print the table, and what is missed."""
    print(f"the default regressor, untuned, ten members, mean of {n_splits} standard splits")
    print("| table | RMSE | NLL | at most | CRPS | at most | coverage of 0.9 | width | calibrated: coverage | width |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    coverages, ratios, misses = [], [], []
    for name in NAMES:
        found = np.mean([measure(split, seed) for seed, split in enumerate(splits(name, n_splits))], axis=0)
        rmse, nll, crps, coverage, width, other_coverage, other_width = found
        print(
            f"| {name} | {rmse:.4g} | {nll:.3f} | {NLL_BARS[name]:g} | {crps:.4g} | {CRPS_BARS.get(name, '')} "
            f"| {coverage:.3f} | {width:.4g} | {other_coverage:.3f} | {other_width:.4g} |",
            flush=True,
        )
        coverages.append(coverage)
        ratios.append(width / other_width)
        failed = {
            f"NLL of {name}": nll > NLL_BARS[name],
            f"CRPS of {name}": crps > CRPS_BARS.get(name, np.inf),
            f"coverage of {name}": coverage < LEAST_COVERAGE,
        }
        misses += [what for what, is_missed in failed.items() if is_missed]
    low, high = COVERAGE_RANGE
    average = float(np.mean(coverages))
    if not low <= average <= high:
        misses.append("average coverage")
    if np.mean(ratios) > 1.0:
        misses.append("mean width")
    print(f"\naverage coverage {average:.3f}, mean ratio of widths {np.mean(ratios):.3f}")
    print("all requirements met" if not misses else "missed: " + ", ".join(misses))
