"""What the tables say, in sentences that are worked out from the cells and so cannot go stale."""

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from epiboost.paper.cells.cell import Content
from epiboost.paper.cells.provenance import why_older
from epiboost.paper.tables.results import Results
from epiboost.paper.problem import CLASSIFICATION, REGRESSION, n_folds
from epiboost.paper.tables.build import METRICS, NAMES
from epiboost.paper.tables.published import published

_BOTH = (*REGRESSION, *CLASSIFICATION)
_BOOSTED = ("sgb", "sglb", "budget")


def origin_of(contents: Sequence[Content]) -> str:
    """Say where, when and with what cells were made."""
    processors = sorted({f"{one['machine'].get('processor')}, {one['machine'].get('cores')} cores" for one in contents})
    dates = sorted({one["date"] for one in contents})
    pythons = sorted({one["versions"].get("python", "unknown") for one in contents})
    older = sum(bool(why_older(one)) for one in contents)
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    made = f"{len(contents)} cells, made on {'; '.join(processors)}, with Python {', '.join(pythons)}, {when}."
    return made if not older else f"{made} {older} of them are of an earlier revision of the methods."


def budget(results: Results) -> str:
    """Say what ten short chains are worth beside the virtual ensemble and the whole one."""
    sets = [name for name in _BOTH if results.mean(name, "nll", "short_10") is not None]
    if not sets:
        return ""
    area, loss = "ood_auc_knowledge", "nll"
    better = _where(sets, _pair(results, area, "short_10", "vsglb"), operator.gt)
    ranked = sorted((one[0] - one[1], name) for name, one in _pair(results, area, "short_10", "sglb_ensemble").items())
    sooner = _pair(results, loss, "short_10", "vsglb")
    worse = {name: sooner[name] for name in sets if name in sooner and sooner[name][0] > sooner[name][1]}
    twenty = _where(sets, _pair(results, loss, "short_20", "short_10"), operator.gt)
    first = "At the price of one chain, ten chains of 100 trees find foreign rows better than the virtual ensemble does"
    lines = [f"{first}, by the AUC of knowledge, on {len(better)} of {len(sets)} datasets."]
    if ranked:
        lines.append(
            f"Beside ten chains of 1000 trees they are between {ranked[0][0]:+.1f} ({NAMES[ranked[0][1]]}) and "
            f"{ranked[-1][0]:+.1f} points ({NAMES[ranked[-1][1]]})."
        )
    told = ", ".join(f"{NAMES[name]} ({a:.3g} against {b:.3g})" for name, (a, b) in worse.items())
    lines.append(
        f"Their NLL is better than the virtual ensemble's on {len(sooner) - len(worse)} datasets"
        f"{', worse on ' + told if told else ''}."
    )
    if twenty:
        lines.append(f"Twenty chains of 50 trees have a worse NLL than ten of 100 on {_names(twenty)}.")
    return re.sub(r"-(?=\d)", "−", " ".join(lines))


def forests(results: Results) -> str:
    """Say which forests were run and how near they are to the published ones."""
    ran = [name for name in REGRESSION if _whole(results, name, "rmse", "rf_single")]
    left = [name for name in REGRESSION if name not in ran and name in results.datasets]
    lines = []
    if ran:
        gaps = {
            name: abs((results.mean(name, "rmse", "rf_single") or 0.0) - theirs.value)
            for name in ran
            if (theirs := published().get(("rf_regression", name, "rmse", "rf_single"))) is not None
        }
        furthest = max(gaps, key=lambda name: gaps[name])
        lines.append(
            f"One forest was run on all folds of {_names(ran)}; its RMSE is within {gaps[furthest]:.2f} of the "
            f"published one ({NAMES[furthest]} is furthest)."
        )
    if left:
        lines.append(f"It was not run on all folds of {_names(left)}.")
    for name in CLASSIFICATION:
        own, theirs = (
            results.mean(name, "nll", "rf_single"),
            published().get(("rf_classification", name, "nll", "rf_single")),
        )
        if own is not None and theirs is not None and abs(own - theirs.value) >= 0.01:  # noqa: PLR2004 (a hundredth)
            lines.append(f"{NAMES[name]}'s forest has an NLL of {own:.3f} against {theirs.value:.3f}.")
    counts = {name: len(results.folds_of(name, "prr_knowledge", "rf_ensemble")) for name in _BOTH}
    told = [f"{NAMES[name]} ({count} of {n_folds(name)} folds)" for name, count in counts.items() if count]
    lines.append(f"Ensembles of ten forests were run on {', '.join(told) or 'no dataset'}.")
    return " ".join(lines)


def other_engine(engines: Mapping[str, Results], engine: str, wanted: Sequence[str]) -> str:
    """Say what another engine has run, what not, and where its areas are furthest from the paper's."""
    results = engines.get(engine)
    if results is None:
        return ""
    counts = {name: len(results.folds_of(name, "nll", "sglb_ensemble")) for name in _BOTH}
    ran = [f"{NAMES[name]} ({count} of {n_folds(name)} folds)" for name, count in counts.items() if count]
    lines = [f"Run: {', '.join(ran)}."]
    if left := [name for name in wanted if not counts[name]]:
        lines.append(f"Not run: {_names(left)}.")
    gaps = []
    for name in _BOTH:
        for metric in ("ood_auc_total", "ood_auc_knowledge"):
            for method in ("sglb_ensemble", "sgb_ensemble"):
                theirs = published().get(("uncertainty", name, metric, method))
                own = results.mean(name, metric, method) if counts[name] else None
                if own is not None and theirs is not None:
                    gaps.append((abs(own - theirs.value), name, metric, own, theirs.value))
    if gaps:
        _, name, metric, own, value = max(gaps)
        lines.append(
            f"Of the ensembles' areas the furthest from the paper's is {NAMES[name]}, {METRICS[metric]}: "
            f"{own:.0f} against {value:.0f}."
        )
    return " ".join(lines)


def times(contents: Sequence[Content], engine: str) -> str:
    """Say how long the boosted cells of each kind of dataset took, one after the other."""
    walls: defaultdict[str, float] = defaultdict(float)
    for one in contents:
        if one["engine"] == engine and one["method"] in _BOOSTED:
            walls[one["dataset"]] += sum(taken["wall"] for taken in one["seconds"].values())
    lines = []
    for kind, datasets in (("regression", REGRESSION), ("classification", CLASSIFICATION)):
        own = {name: walls[name] for name in datasets if name in walls}
        if own:
            longest = max(own, key=lambda name: own[name])
            lines.append(
                f"The cells of `{kind}` took {sum(own.values()):.0f} s on the wall one after the other, "
                f"{own[longest]:.0f} s of it {NAMES[longest]}."
            )
    return " ".join(lines)


def _pair(results: Results, metric: str, first: str, second: str) -> dict[str, tuple[float, float]]:
    found = {}
    for name in _BOTH:
        one, other = results.mean(name, metric, first), results.mean(name, metric, second)
        if one is not None and other is not None:
            found[name] = (one, other)
    return found


def _where(
    sets: Sequence[str], pairs: Mapping[str, tuple[float, float]], holds: Callable[[float, float], bool]
) -> list[str]:
    return [name for name in sets if name in pairs and holds(*pairs[name])]


def _whole(results: Results, dataset: str, metric: str, method: str) -> bool:
    return len(results.folds_of(dataset, metric, method)) == n_folds(dataset)


def _names(datasets: Sequence[str]) -> str:
    return ", ".join(NAMES[name] for name in datasets)
