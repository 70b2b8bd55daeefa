"""List of the PRR and AUC results that are far from the published ones."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from epiboost.paper.tables.build import Entry, build
from epiboost.paper.tables.layout import DATASET_NAMES, METHOD_NAMES, METRIC_NAMES
from epiboost.paper.tables.results import Results

LARGE = 10.0
"""Differences of at least this many percentage points are listed."""

REASON_UNKNOWN = "the reason is not known"


@dataclass(frozen=True, slots=True)
class LargeDifference:
    """Methods whose result of one metric on one dataset is far from the published one.

    Attributes
    ----------
    dataset, metric : str
    entries : tuple of Entry
        One entry per method.
    """

    dataset: str
    metric: str
    entries: tuple[Entry, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods."""
        return tuple(entry.method for entry in self.entries)

    def __str__(self) -> str:
        """Return our results and the published ones."""
        each = ", ".join(f"{METHOD_NAMES[entry.method]} {_format(entry)}" for entry in self.entries)
        return f"**{DATASET_NAMES[self.dataset]}, {METRIC_NAMES[self.metric]}**: {each}"


def find_large_differences(results: Results) -> list[LargeDifference]:
    """Return all PRR and AUC results of all folds that are far from the published ones, in the order of the tables."""
    found: dict[tuple[str, str], dict[str, Entry]] = {}
    for entry in [*build("uncertainty", results), *build("forest", results)]:
        if entry.metric.startswith(("prr", "ood")) and abs(entry.difference or 0.0) >= LARGE:
            found.setdefault((entry.dataset, entry.metric), {})[entry.method] = entry
    return [LargeDifference(dataset, metric, tuple(own.values())) for (dataset, metric), own in found.items()]


def markdown_list(
    differences: Iterable[LargeDifference], reason_of: Callable[[LargeDifference], str] = lambda _: REASON_UNKNOWN
) -> str:
    """Return differences as a Markdown list, each with its reason."""
    return "".join(f"- {difference}; {reason_of(difference)}.\n" for difference in differences)


def _format(entry: Entry) -> str:
    published = "" if entry.published is None else f" (published {entry.published.value:.0f})"
    return f"{entry.value:.1f}{published}"
