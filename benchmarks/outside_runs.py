"""What all parts of `outside.py` share: options, stored scores, and rows of Markdown tables."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from results import machine

from epiboost._files.atomic import atomic_write

Scores = dict[str, float]


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the command line.

    Attributes
    ----------
    splits : int or None
        Number of splits per dataset; None for all splits of the protocol.
    tables : tuple of str
        Names of datasets; empty for all.
    peers : tuple of str
        Names of other libraries.
    trials : int
        Number of random trials that tune another library.
    threads : int
        Number of threads of each model.
    """

    splits: int | None
    tables: tuple[str, ...]
    peers: tuple[str, ...]
    trials: int
    threads: int

    def select(self, names: Iterable[str]) -> list[str]:
        """Return the names of requested datasets."""
        return [name for name in names if not self.tables or name in self.tables]


@dataclass(frozen=True, slots=True)
class Store:
    """Scores by key, one dictionary per split; written to a file after each split if there is one."""

    file: Path | None
    scores: dict[str, list[Scores]] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path | None) -> "Store":
        """Return a store with the scores of a file, if it exists."""
        if file is None or not file.is_file():
            return cls(file)
        return cls(file, json.loads(file.read_text(encoding="utf-8"))["scores"])

    def get(self, key: str, n_splits: int, measure: Callable[[int], Scores]) -> list[Scores]:
        """Return the scores of the first splits; those that are not stored are measured."""
        start, known = perf_counter(), self.scores.setdefault(key, [])
        n_known = len(known)
        for split in range(n_known, n_splits):
            known.append(measure(split))
            self._write()
        progress = f"{n_splits} splits, {max(0, n_splits - n_known)} of them measured now"
        print(f"{key}: {progress}, in {perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
        return known[:n_splits]

    def _write(self) -> None:
        if self.file is not None:
            text = json.dumps({"machine": machine(), "scores": self.scores}, indent=1)
            with atomic_write(self.file) as file:
                file.write((text + "\n").encode())


def print_head(*cells: str) -> None:
    """Print the head of a Markdown table."""
    print_row(*cells)
    print("|" + "---|" * len(cells))


def print_row(*cells: str) -> None:
    """Print a row of a Markdown table."""
    print(f"| {' | '.join(cells)} |", flush=True)


def print_counts(outcomes: Mapping[str, Sequence[bool]]) -> None:
    """Print on how many datasets ours is at most the other figure, for each column of others."""
    counts = (f"{sum(each)} of {len(each)} ({column})" for column, each in outcomes.items())
    print(f"\nours is at most the published figure on {', '.join(counts)}", flush=True)


def digits(figure: float | None) -> str:
    """Return a figure with three decimals or, if it is small, three significant digits; empty for None."""
    if figure is None:
        return ""
    return f"{figure:.3g}" if abs(figure) < 0.1 else f"{figure:.3f}"  # noqa: PLR2004 (errors of naval are below 0.001)
