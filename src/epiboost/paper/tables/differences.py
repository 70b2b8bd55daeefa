"""Where ratios and areas are far from the published ones: a line for each dataset and metric."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from epiboost.paper.cells.results import Results
from epiboost.paper.tables.build import HEADINGS, METRICS, NAMES, Entry, build

POINTS = 10.0
"""What counts as far, in percent."""

NOT_KNOWN = "why is not known"


@dataclass(frozen=True, slots=True)
class Difference:
    """The methods whose figure of one metric is far from the published one.

    Attributes
    ----------
    entries : tuple of Entry
        One a method.
    """

    dataset: str
    metric: str
    entries: tuple[Entry, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods."""
        return tuple(entry.method for entry in self.entries)

    def __str__(self) -> str:
        """Say what is far from what."""
        each = ", ".join(f"{HEADINGS[one.method]} {_beside(one)}" for one in self.entries)
        return f"**{NAMES[self.dataset]}, {METRICS[self.metric]}**: {each}"


def far_from_published(results: Results, points: float = POINTS) -> list[Difference]:
    """Return every ratio and area of all folds that is far from the published one, in the order of tables."""
    found: dict[tuple[str, str], dict[str, Entry]] = {}
    for entry in [*build("uncertainty", results), *build("forest", results)]:
        if entry.metric.startswith(("prr", "ood")) and abs(entry.difference or 0.0) >= points:
            found.setdefault((entry.dataset, entry.metric), {})[entry.method] = entry
    return [Difference(dataset, metric, tuple(own.values())) for (dataset, metric), own in found.items()]


def listed(found: Iterable[Difference], why: Callable[[Difference], str] = lambda _: NOT_KNOWN) -> str:
    """Return differences as a Markdown list, each with its reason."""
    return "".join(f"- {one}; {why(one)}.\n" for one in found)


def _beside(one: Entry) -> str:
    theirs = "" if one.published is None else f" (published {one.published.value:.0f})"
    return f"{one.value:.1f}{theirs}"
