"""Claims about the results, checked on every dataset: the paper's findings, and that ours are not worse."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from epiboost.paper.problem import CLASSIFICATION, REGRESSION, n_folds
from epiboost.paper.tables.layout import DATASET_NAMES, METRIC_NAMES
from epiboost.paper.tables.published import published, published_spread
from epiboost.paper.tables.results import Results
from epiboost.paper.tables.significance import not_worse_than_best

_PRR_TOLERANCE = 5.0
_ROUNDING = 0.5  # units of the last digit that the paper prints
_CHANCE_LEVEL = 50.0
_ENSEMBLES = {"sgb_ensemble": "SGB", "sglb_ensemble": "SGLB"}

MetricMethod = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, and the datasets on which it holds and fails.

    Attributes
    ----------
    text : str
    holds, fails : tuple of str
        Datasets.
    not_significant : tuple of str
        Datasets on which it holds, but by less than a paired test can distinguish.
    below_chance : tuple of str
        Datasets on which it holds, but both areas are below one half.
    """

    text: str
    holds: tuple[str, ...]
    fails: tuple[str, ...]
    not_significant: tuple[str, ...] = ()
    below_chance: tuple[str, ...] = ()

    @classmethod
    def from_outcomes(
        cls,
        text: str,
        outcomes: Mapping[str, bool],
        not_significant: Sequence[str] = (),
        below_chance: Sequence[str] = (),
    ) -> "Claim":
        """Sort the datasets by whether the claim holds."""
        holds = tuple(name for name, outcome in outcomes.items() if outcome)
        fails = tuple(name for name, outcome in outcomes.items() if not outcome)
        remarks = (tuple(name for name in names if name in holds) for names in (not_significant, below_chance))
        return cls(text, holds, fails, *remarks)

    def __str__(self) -> str:
        """Return the claim and its datasets in one line."""
        total = len(self.holds) + len(self.fails)
        remarks = [
            f"; {words} {', '.join(DATASET_NAMES[name] for name in names)}"
            for words, names in (
                ("not on", self.fails),
                ("the difference is not significant on", self.not_significant),
                ("both are below one half on", self.below_chance),
            )
            if names
        ]
        return f"{self.text}: on {len(self.holds)} of {total} datasets{''.join(remarks)}."


def check_claims(results: Results) -> list[Claim]:
    """Return all claims for which there are results."""
    claims = [_no_worse_than_published(results, metric) for metric in ("nll", "rmse")]
    claims.append(_prr_as_published(results))
    for task, datasets in (("regression", REGRESSION), ("classification", CLASSIFICATION)):
        for method, name in _ENSEMBLES.items():
            text = f"Knowledge uncertainty detects out-of-domain rows better than total ({name} ensemble, {task})"
            claims.append(_compare(results, datasets, text, ("ood_auc_knowledge", method), ("ood_auc_total", method)))
            text = f"Total uncertainty detects errors better than knowledge ({name} ensemble, {task})"
            claims.append(_compare(results, datasets, text, ("prr_total", method), ("prr_knowledge", method)))
        text = f"The SGLB ensemble detects out-of-domain rows better than the virtual ensemble (knowledge, {task})"
        pair = ("ood_auc_knowledge", "sglb_ensemble"), ("ood_auc_knowledge", "vsglb")
        claims.append(_compare(results, datasets, text, *pair))
    return [claim for claim in claims if claim.holds or claim.fails]


def claims_list(results: Results) -> str:
    """Return all claims as a Markdown list."""
    return "".join(f"- {claim}\n" for claim in check_claims(results))


def _no_worse_than_published(results: Results, metric: str) -> Claim:
    outcomes = {}
    for dataset in REGRESSION:
        ours = results.mean(dataset, metric, "sglb_ensemble")
        theirs = published().get(("prediction", dataset, metric, "sglb_ensemble"))
        if ours is not None and theirs is not None:
            limit = theirs.value + (published_spread(dataset, metric) or 0.0) + _ROUNDING * 10.0**-theirs.decimals
            outcomes[dataset] = ours <= limit
    text = (
        f"The SGLB ensemble's {METRIC_NAMES[metric]} is at most the published one plus one standard deviation (that of "
        "the paper's single SGB model, the only one it gives) and half a unit of the last printed digit"
    )
    return Claim.from_outcomes(text, outcomes)


def _prr_as_published(results: Results) -> Claim:
    outcomes = {}
    for dataset in REGRESSION:
        ours = results.mean(dataset, "prr_total", "sglb_ensemble")
        if ours is not None:
            theirs = published()["uncertainty", dataset, "prr_total", "sglb_ensemble"].value
            outcomes[dataset] = abs(ours - theirs) <= _PRR_TOLERANCE
    text = "The SGLB ensemble's PRR of total uncertainty is within five points of the published one"
    return Claim.from_outcomes(text, outcomes)


def _compare(
    results: Results, datasets: tuple[str, ...], text: str, better: MetricMethod, worse: MetricMethod
) -> Claim:
    outcomes, not_significant, below_chance = {}, [], []
    for dataset in datasets:
        first, second = (results.mean(dataset, *pair) for pair in (better, worse))
        if first is not None and second is not None:
            outcomes[dataset] = first > second
            samples = {
                name: results.folds[dataset, method][metric]
                for name, (metric, method) in (("better", better), ("worse", worse))
            }
            if n_folds(dataset) > 1 and len(not_worse_than_best(samples, smaller_is_better=False)) > 1:
                not_significant.append(dataset)
            if better[0].startswith("ood") and max(first, second) < _CHANCE_LEVEL:
                below_chance.append(dataset)
    return Claim.from_outcomes(text, outcomes, not_significant, below_chance)
