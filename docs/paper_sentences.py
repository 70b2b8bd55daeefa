"""Sentences of docs/paper.md that are computed from the cells, so that they always agree with the tables."""

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from epiboost.paper.cells.cell import Content
from epiboost.paper.cells.provenance import outdated_cell_messages, why_outdated
from epiboost.paper.problem import CLASSIFICATION, DATASETS, REGRESSION, n_folds
from epiboost.paper.tables.build import build
from epiboost.paper.tables.large_differences import REASON_UNKNOWN, LargeDifference
from epiboost.paper.tables.layout import DATASET_NAMES, METRIC_NAMES
from epiboost.paper.tables.published import published
from epiboost.paper.tables.results import Results

BOOSTED = ("sgb", "sglb", "budget")
LARGE_NLL_GAP = 0.01

SMALLER_ERRORS = "our models make smaller errors, which are harder to predict, see below"
NOT_THE_SOURCE = f"not because of the source of out-of-domain rows, see below; {REASON_UNKNOWN}"
REASONS = {
    ("naval", "prr_total"): SMALLER_ERRORS,
    ("naval", "prr_knowledge"): SMALLER_ERRORS,
    ("energy", "ood_auc_total"): NOT_THE_SOURCE,
    ("energy", "ood_auc_knowledge"): NOT_THE_SOURCE,
    ("kick", "ood_auc_total"): "it comes from the categories, see below; why the paper's is lower is not known",
}
"""Measured reasons of large differences, by dataset and metric."""

RATE_REASON = "at other rates the virtual ensemble's result changes by more than that, see below"
RATE_MATTERS = (
    ("adult", "prr_knowledge"),
    ("amazon", "prr_knowledge"),
    ("amazon", "ood_auc_knowledge"),
    ("internet", "prr_knowledge"),
    ("energy", "ood_auc_knowledge"),
    ("yacht", "prr_total"),
    ("yacht", "prr_knowledge"),
)
"""Datasets and metrics where the virtual ensemble at other rates differs by more than it does from the paper."""


def provenance(contents: Sequence[Content]) -> str:
    """Say where, when and with which Python the cells were computed, and whether their data differ."""
    processors = sorted(
        {f"{cell['machine'].get('processor')}, {cell['machine'].get('cores')} cores" for cell in contents}
    )
    dates = sorted({cell["date"] for cell in contents})
    pythons = sorted({cell["versions"].get("python", "unknown") for cell in contents})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    where = f"computed on {'; '.join(processors)}, with Python {', '.join(pythons)}"
    sentences = [f"{len(contents)} cells, {where}, {when}."]
    if outdated := sum(bool(why_outdated(cell)) for cell in contents):
        sentences.append(f"{outdated} of them are of an earlier revision of the methods.")
    sentences += [f"{message}." for message in outdated_cell_messages(contents) if "different data" in message]
    return " ".join(sentences)


def reason(difference: LargeDifference) -> str:
    """Return why results are far from the published ones, or that it is not known."""
    key = difference.dataset, difference.metric
    known = REASONS.get(key, REASON_UNKNOWN)
    if "vsglb" not in difference.methods or key not in RATE_MATTERS:
        return known
    return RATE_REASON if difference.methods == ("vsglb",) else f"{RATE_REASON}; for the others {known}"


def likelihoods(results: Results) -> str:
    """Say where the SGLB ensemble's NLL is furthest from the published one, below and above."""
    entries = [
        entry
        for entry in build("prediction", results)
        if entry.metric == "nll" and entry.method == "sglb_ensemble" and entry.difference is not None
    ]
    texts = [
        f"{DATASET_NAMES[entry.dataset]} ({entry.value:.3g}, published {entry.published.value})"
        for entry in sorted(entries, key=lambda entry: entry.difference)
    ]
    return _with_minus_signs(
        f"The SGLB ensemble's NLL is furthest below the published one on {' and '.join(texts[:2])}, and furthest above "
        f"on {texts[-1]}."
    )


def budget(results: Results) -> str:
    """Compare ten short chains with the virtual ensemble and with ten long chains."""
    datasets = [name for name in DATASETS if results.mean(name, "nll", "short_10") is not None]
    if not datasets:
        return ""
    area = "ood_auc_knowledge"
    better = _where(_pairs(results, area, "short_10", "vsglb"), operator.gt)
    gaps = sorted((a - b, name) for name, (a, b) in _pairs(results, area, "short_10", "sglb_ensemble").items())
    losses = _pairs(results, "nll", "short_10", "vsglb")
    worse = _where(losses, operator.gt)
    claim = (
        "ten chains of 100 trees detect out-of-domain rows better than the virtual ensemble, by the AUC of knowledge"
    )
    sentences = [f"At the cost of one chain, {claim}, on {len(better)} of {len(datasets)} datasets."]
    if gaps:
        (lowest, first), (highest, last) = gaps[0], gaps[-1]
        sentences.append(
            f"Compared with ten chains of 1000 trees, their AUC differs by {lowest:+.1f} ({DATASET_NAMES[first]}) to "
            f"{highest:+.1f} points ({DATASET_NAMES[last]})."
        )
    listed = ", ".join(f"{DATASET_NAMES[name]} ({losses[name][0]:.3g} against {losses[name][1]:.3g})" for name in worse)
    sentences.append(
        f"Their NLL is better than the virtual ensemble's on {len(losses) - len(worse)} datasets"
        f"{', worse on ' + listed if listed else ''}."
    )
    if twenty := _where(_pairs(results, "nll", "short_20", "short_10"), operator.gt):
        sentences.append(f"Twenty chains of 50 trees have a worse NLL than ten of 100 on {_names(twenty)}.")
    return _with_minus_signs(" ".join(sentences))


def forests(results: Results) -> str:
    """Say which forests were run and how close they are to the published ones."""
    run = [name for name in REGRESSION if len(results.folds_of(name, "rmse", "rf_single")) == n_folds(name)]
    not_run = [name for name in REGRESSION if name not in run and name in results.datasets]
    sentences = []
    if run:
        gaps = {
            name: abs((results.mean(name, "rmse", "rf_single") or 0.0) - theirs.value)
            for name in run
            if (theirs := published().get(("rf_regression", name, "rmse", "rf_single"))) is not None
        }
        furthest = max(gaps, key=lambda name: gaps[name])
        sentences.append(
            f"One forest was run on all folds of {_names(run)}; its RMSE is within {gaps[furthest]:.2f} of the "
            f"published one ({DATASET_NAMES[furthest]} is furthest)."
        )
    if not_run:
        sentences.append(f"It was not run on all folds of {_names(not_run)}.")
    for name in CLASSIFICATION:
        ours = results.mean(name, "nll", "rf_single")
        theirs = published().get(("rf_classification", name, "nll", "rf_single"))
        if ours is not None and theirs is not None and abs(ours - theirs.value) >= LARGE_NLL_GAP:
            sentences.append(
                f"The forest's NLL on {DATASET_NAMES[name]} is {ours:.3f}; the published one is {theirs.value:.3f}."
            )
    counts = _fold_counts(results, "prr_knowledge", "rf_ensemble")
    sentences.append(f"Ensembles of ten forests were run on {', '.join(counts.values()) or 'no dataset'}.")
    return " ".join(sentences)


def other_engine(engines: Mapping[str, Results], engine: str, expected: Sequence[str]) -> str:
    """Say what another engine has run, what not, and where its AUC is furthest from the paper's."""
    results = engines.get(engine)
    if results is None:
        return ""
    counts = _fold_counts(results, "nll", "sglb_ensemble")
    sentences = [f"Run: {', '.join(counts.values())}."]
    if not_run := [name for name in expected if name not in counts]:
        sentences.append(f"Not run: {_names(not_run)}.")
    gaps = []
    for name in counts:
        for metric in ("ood_auc_total", "ood_auc_knowledge"):
            for method in ("sglb_ensemble", "sgb_ensemble"):
                theirs = published().get(("uncertainty", name, metric, method))
                ours = results.mean(name, metric, method)
                if ours is not None and theirs is not None:
                    gaps.append((abs(ours - theirs.value), name, metric, ours, theirs.value))
    if gaps:
        _, name, metric, ours, value = max(gaps)
        sentences.append(
            f"The ensemble AUC that is furthest from the paper's is {DATASET_NAMES[name]}, {METRIC_NAMES[metric]}: "
            f"{ours:.0f}, published {value:.0f}."
        )
    return " ".join(sentences)


def figures(statistics: Mapping[str, Mapping[str, float]]) -> str:
    """Say how well the true and the virtual ensemble detect empty places on the figures."""
    heart, virtual_heart, spiral, virtual_spiral = (
        statistics[name] for name in ("heart, SGLB ensemble", "heart, vSGLB", "spiral, SGLB ensemble", "spiral, vSGLB")
    )
    return (
        "The AUC of knowledge uncertainty for the empty cells of the heart is "
        f"{heart['knowledge_auc']:.2f} for the true ensemble and {virtual_heart['knowledge_auc']:.2f} for the virtual "
        f"one; its mean there is {heart['knowledge_where_empty']:.1e} and "
        f"{virtual_heart['knowledge_where_empty']:.1e}. Over the whole square around the spiral, the AUC for places "
        f"without rows is {spiral['knowledge_auc']:.2f} and {virtual_spiral['knowledge_auc']:.2f}."
    )


def times(contents: Sequence[Content], engine: str) -> str:
    """Say how long the boosted cells of each task took in total."""
    walls: defaultdict[str, float] = defaultdict(float)
    for cell in contents:
        if cell["engine"] == engine and cell["method"] in BOOSTED:
            walls[cell["dataset"]] += sum(spent["wall"] for spent in cell["seconds"].values())
    sentences = []
    for task, datasets in (("regression", REGRESSION), ("classification", CLASSIFICATION)):
        seconds = {name: walls[name] for name in datasets if name in walls}
        if seconds:
            longest = max(seconds, key=lambda name: seconds[name])
            sentences.append(
                f"One after the other, the cells of `{task}` took {sum(seconds.values()):.0f} s of wall time, "
                f"{seconds[longest]:.0f} s of it for {DATASET_NAMES[longest]}."
            )
    return " ".join(sentences)


def _pairs(results: Results, metric: str, first: str, second: str) -> dict[str, tuple[float, float]]:
    """Return the means of two methods, by dataset."""
    pairs = {}
    for name in DATASETS:
        one, other = results.mean(name, metric, first), results.mean(name, metric, second)
        if one is not None and other is not None:
            pairs[name] = (one, other)
    return pairs


def _where(pairs: Mapping[str, tuple[float, float]], holds: Callable[[float, float], bool]) -> list[str]:
    return [name for name, pair in pairs.items() if holds(*pair)]


def _fold_counts(results: Results, metric: str, method: str) -> dict[str, str]:
    """Return the dataset's name and its number of folds, for the datasets that were run."""
    counts = {name: len(results.folds_of(name, metric, method)) for name in DATASETS}
    return {
        name: f"{DATASET_NAMES[name]} ({count} of {n_folds(name)} folds)" for name, count in counts.items() if count
    }


def _names(datasets: Sequence[str]) -> str:
    return ", ".join(DATASET_NAMES[name] for name in datasets)


def _with_minus_signs(text: str) -> str:
    return re.sub(r"-(?=\d)", "−", text)
