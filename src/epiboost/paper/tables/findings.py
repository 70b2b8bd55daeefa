"""What a run must show, checked: no worse than published, and the paper's three findings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from epiboost.paper.cells.results import Results
from epiboost.paper.problem import CLASSIFICATION, REGRESSION, n_folds
from epiboost.paper.tables.build import METRICS, NAMES
from epiboost.paper.tables.published import published, spread_of
from epiboost.paper.tables.significance import not_different

_POINTS = 5.0
_ROUNDING = 0.5  # of the last digit that the paper prints
_HALF = 50.0
_ENSEMBLES = ("sgb_ensemble", "sglb_ensemble")


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim, and the datasets on which it holds and does not.

    Attributes
    ----------
    narrow, by_chance : tuples of str
        Datasets on which it holds by less than the paired test tells apart, or of two areas that are below one half.
    """

    claim: str
    holds: tuple[str, ...]
    fails: tuple[str, ...]
    narrow: tuple[str, ...] = ()
    by_chance: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, claim: str, facts: Mapping[str, bool], narrow: Sequence[str] = (), by_chance: Sequence[str] = ()
    ) -> "Finding":
        """Sort the datasets by whether the claim holds."""
        holds = tuple(name for name, holds in facts.items() if holds)
        fails = tuple(name for name, holds in facts.items() if not holds)
        return cls(claim, holds, fails, *(tuple(n for n in some if n in holds) for some in (narrow, by_chance)))

    def __str__(self) -> str:
        """Say it in a line."""
        total = len(self.holds) + len(self.fails)
        told = [
            f"; {words} {', '.join(NAMES[name] for name in names)}"
            for words, names in (
                ("not on", self.fails),
                ("by less than the paired test tells apart on", self.narrow),
                ("though both are below one half on", self.by_chance),
            )
            if names
        ]
        return f"{self.claim}: on {len(self.holds)} of {total} datasets{''.join(told)}."


def findings(results: Results) -> list[Finding]:
    """Check a run against the paper."""
    found = [_no_worse(results, metric) for metric in ("nll", "rmse")]
    found.append(_rejection(results))
    for task, datasets in (("regression", REGRESSION), ("classification", CLASSIFICATION)):
        for method in _ENSEMBLES:
            name = "SGB" if method == "sgb_ensemble" else "SGLB"
            claim = f"Knowledge uncertainty finds foreign rows better than total does ({name} ensemble, {task})"
            found.append(_compare(results, datasets, claim, ("ood_auc_knowledge", method), ("ood_auc_total", method)))
            claim = f"Total uncertainty finds errors better than knowledge does ({name} ensemble, {task})"
            found.append(_compare(results, datasets, claim, ("prr_total", method), ("prr_knowledge", method)))
        claim = f"The SGLB ensemble finds foreign rows better than the virtual one does (knowledge, {task})"
        pair = ("ood_auc_knowledge", "sglb_ensemble"), ("ood_auc_knowledge", "vsglb")
        found.append(_compare(results, datasets, claim, *pair))
    return [one for one in found if one.holds or one.fails]


def _no_worse(results: Results, metric: str) -> Finding:
    """Compare with the published figure plus its spread and half of its last digit."""
    facts = {}
    for dataset in REGRESSION:
        own = results.mean(dataset, metric, "sglb_ensemble")
        theirs = published().get(("prediction", dataset, metric, "sglb_ensemble"))
        if own is not None and theirs is not None:
            limit = theirs.value + (spread_of(dataset, metric) or 0.0) + _ROUNDING * 10.0**-theirs.decimals
            facts[dataset] = own <= limit
    claim = (
        f"The SGLB ensemble's {METRICS[metric]} is at most the published one plus one standard deviation (that of the "
        "paper's single SGB model, the only one it gives) and half a unit of the last digit printed"
    )
    return Finding.of(claim, facts)


def _rejection(results: Results) -> Finding:
    facts = {}
    for dataset in REGRESSION:
        own = results.mean(dataset, "prr_total", "sglb_ensemble")
        if own is not None:
            theirs = published()["uncertainty", dataset, "prr_total", "sglb_ensemble"].value
            facts[dataset] = abs(own - theirs) <= _POINTS
    claim = "The SGLB ensemble's PRR of total uncertainty is within five points of the published one"
    return Finding.of(claim, facts)


def _compare(
    results: Results, datasets: tuple[str, ...], claim: str, better: tuple[str, str], worse: tuple[str, str]
) -> Finding:
    facts, narrow, by_chance = {}, [], []
    for dataset in datasets:
        first, second = (results.mean(dataset, *one) for one in (better, worse))
        if first is not None and second is not None:
            facts[dataset] = first > second
            samples = [results.folds[dataset, method][metric] for metric, method in (better, worse)]
            if (
                n_folds(dataset) > 1
                and len(not_different(dict(zip("ab", samples, strict=True)), smaller_is_better=False)) > 1
            ):
                narrow.append(dataset)
            if better[0].startswith("ood") and max(first, second) < _HALF:
                by_chance.append(dataset)
    return Finding.of(claim, facts, narrow, by_chance)
