"""Results of jobs: our measurements and those of another library, the required ratio, and their Markdown table."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from instructions import TITLES
from peers import THREADS, TRAININGS

from epiboost._native import VARIABLE, instruction_set

Measurements = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One line of the table.

    Attributes
    ----------
    ours, peer : tuple of float
        One measurement per round; empty if the other library is not installed. Less is better.
    bar : float or None
        The largest allowed ratio of the medians, ours over the other's; None if there is no requirement.
    instructions : str
        The instruction set of our measurements; by default the one in use.
    """

    job: int
    what: str
    peer_name: str
    ours: Measurements
    peer: Measurements
    bar: float | None = None
    unit: str = "s"
    instructions: str = field(default_factory=instruction_set)

    @property
    def ratio(self) -> float | None:
        """Our median over the other's; None if the other library is not installed."""
        return median(self.ours) / median(self.peer) if self.peer else None

    @property
    def met(self) -> bool | None:
        """Whether the requirement is met; None if there is no requirement or no measurement."""
        return None if self.bar is None or self.ratio is None else self.ratio <= self.bar

    def to_json(self) -> dict[str, Any]:
        """Return all fields, the ratio, and whether the requirement is met."""
        return {**asdict(self), "ratio": self.ratio, "met": self.met}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Result":
        """Read a record that `to_json` wrote."""
        values = {each.name: record[each.name] for each in fields(cls) if each.name in record}
        return cls(**{**values, "ours": tuple(values["ours"]), "peer": tuple(values["peer"])})

    def to_row(self) -> str:
        """Return the line as Markdown."""
        bar = "" if self.bar is None else f"≤ {self.bar:g}"
        ratio = "" if self.ratio is None else f"{self.ratio:.3f}"
        verdict = {None: "", True: "met", False: "not met"}[self.met]
        cells = (str(self.job), self.what, self.peer_name, _format(self.ours, self.unit), _format(self.peer, self.unit))
        return f"| {' | '.join((*cells, ratio, bar, verdict))} |"


def table(results: Sequence[Result]) -> str:
    """Return all lines as a Markdown table, and how many requirements are met."""
    outcomes = [result.met for result in results if result.met is not None]
    not_measured = sum(result.bar is not None and result.met is None for result in results)
    met = f"Requirements met: {sum(outcomes)} of {len(outcomes)}"
    lines = [
        "| job | measurement | other library | ours | other | ratio | required | |",
        "|---|---|---|---|---|---|---|---|",
        *(result.to_row() for result in results),
        "",
        f"{met}; for {not_measured} more the other library is not installed.",
    ]
    return "\n".join(lines)


def tables_by_set(results: Sequence[Result]) -> dict[str, str]:
    """Return one Markdown table per instruction set."""
    names = dict.fromkeys(result.instructions for result in results)
    return {name: table([result for result in results if result.instructions == name]) for name in names}


def machine() -> dict[str, str]:
    """Return what the measurements depend on: processor, versions, date."""
    packages = ("epiboost", "numpy", "scikit-learn", *TRAININGS)
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "instruction set": instruction_set(),
        "system": f"{platform.system()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {_version(name)}" for name in packages),
        "date": datetime.now(tz=UTC).date().isoformat(),
    }


def page(results: Sequence[Result], repeats: int, growth: str) -> str:
    """Return the page of the documentation."""
    by_set = tables_by_set(results)
    usual = by_set.pop(instruction_set(), "")
    facts = "\n".join(f"- {name}: {value}" for name, value in machine().items())
    return f"""# Speed compared with other libraries

Written by `make bench`; the code is in `benchmarks/`. Every job runs all libraries one after the other in each round,
on {THREADS} threads each, and compares medians of at least {repeats} rounds; job 11 has one. Trees have depth 6 where
nothing else is said. Our times start from NumPy arrays of float64 and include binning; the datasets of the other
libraries are built before timing starts. A ratio below one means that ours is faster; "required" is the ratio that we
ask of ourselves. The rows of RMSE and likelihood say what a faster setting costs beside a slower one of ours.

{facts}

{usual}

LightGBM and XGBoost have no SGLB and get it as an objective in NumPy. If a library has several strategies for two
outputs, a short trial chooses the fastest. NGBoost has no SGLB; it boosts a Normal without noise.
{growth}{_other_sets(by_set) if by_set else ""}"""


def _other_sets(by_set: Mapping[str, str]) -> str:
    """Return the section on instruction sets other than the one in use."""
    parts = "\n\n".join(f"### {TITLES[name]}\n\n{lines}" for name, lines in by_set.items())
    return f"""
## Other instruction sets

The same models with other builds of the native core (`{VARIABLE}`), in the same rounds as above and
beside the same CatBoost model, which uses the instructions that it chooses.

{parts}
"""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "from source" if package == "epiboost" else "not installed"


def _format(measurements: Measurements, unit: str) -> str:
    if not measurements:
        return "not installed"
    value = median(measurements)
    if unit == "s" and value < 0.1:  # noqa: PLR2004 (shorter times are given in milliseconds)
        value, unit = 1000 * value, "ms"
    shown = f"{value:.0f}" if value >= 1000 else f"{value:#.4g}"  # noqa: PLR2004 (four digits are enough)
    return f"{shown} {unit}".rstrip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
