"""How far each campaign has come, and its failing cases: one JSON file per campaign and seed."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from epiboost._files.atomic import atomic_write
from fuzz.runner import Outcome


@dataclass(frozen=True)
class Record:
    """State of a campaign.

    Attributes
    ----------
    following
        Number of the next new case.
    failing
        Failing cases, each with its last fault. They are run first.
    """

    following: int
    failing: dict[int, str]

    def with_outcome(self, outcome: Outcome) -> Self:
        """Return the record after one more case."""
        failing = {case: fault for case, fault in self.failing.items() if case != outcome.case}
        if outcome.fault is not None:
            failing[outcome.case] = outcome.fault
        return replace(self, following=max(self.following, outcome.case + 1), failing=failing)

    def cases(self, number: int) -> list[int]:
        """Return the cases to run: the failing ones, then `number` new ones."""
        return [*sorted(self.failing), *range(self.following, self.following + number)]

    def write(self, path: Path) -> None:
        """Write the record."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(json.dumps(asdict(self), indent=1).encode())


def read_record(path: Path) -> Record:
    """Return the record in a file; without one, the start."""
    if not path.exists():
        return Record(0, {})
    values = json.loads(path.read_text())
    return Record(values["following"], {int(case): fault for case, fault in values["failing"].items()})
