"""The methods by name: what each makes of a fold, and what it needs."""

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from epiboost.paper.cells.cell import Content, Key
from epiboost.paper.cells.provenance import REVISION, checksum, machine, seed_of, versions
from epiboost.paper.methods import boosted
from epiboost.paper.methods.clock import Clock
from epiboost.paper.methods.deep import deep_ensembles
from epiboost.paper.methods.forests import forest, forests
from epiboost.paper.methods.ngboost import natural
from epiboost.paper.problem import Fold, outside_file, problem
from epiboost.paper.protocol import Protocol

Earlier = Callable[[str], Content]
Parts = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What a method is given.

    Attributes
    ----------
    earlier : callable
        Gives the cell of another method of the same fold and engine.
    """

    fold: Fold
    protocol: Protocol
    engine: str
    seed: int
    n_jobs: int | None
    clock: Clock
    earlier: Earlier

    @property
    def trainer(self) -> boosted.Trainer:
        """What trains boosted models."""
        return boosted.Trainer(self.fold, self.protocol, self.engine, self.seed, self.n_jobs)


@dataclass(frozen=True, slots=True)
class Method:
    """A method that fills a cell.

    Attributes
    ----------
    fill : callable
        Makes the parts of a cell that are the method's own.
    engine : str or None
        The engine whose name its cells bear; None if any of the boosting engines runs it.
    regression_only : bool
    package : str or None
        What must be installed.
    after : str or None
        The method whose cell it reads.
    """

    fill: Callable[[Work], Parts]
    engine: str | None = None
    regression_only: bool = False
    package: str | None = None
    after: str | None = None

    @property
    def is_there(self) -> bool:
        """Whether it can run here."""
        return self.package is None or importlib.util.find_spec(self.package) is not None


def _forest(work: Work) -> Parts:
    return forest(work.fold, work.protocol, work.seed, work.n_jobs, work.clock)


def _forests(work: Work) -> Parts:
    return forests(work.fold, work.protocol, work.seed, work.n_jobs, work.clock)


METHODS = {
    "sgb": Method(lambda work: boosted.sgb(work.trainer, work.clock)),
    "sglb": Method(lambda work: boosted.sglb(work.trainer, work.clock)),
    "budget": Method(
        lambda work: boosted.budget(work.trainer, work.clock, work.earlier("sglb")["chosen"]), after="sglb"
    ),
    "forest": Method(_forest, engine="forest"),
    "forests": Method(_forests, engine="forest"),
    "ngboost": Method(
        lambda work: natural(work.fold, work.protocol, work.seed, work.clock),
        engine="ngboost",
        regression_only=True,
        package="ngboost",
    ),
    "deep": Method(
        lambda work: deep_ensembles(work.fold, work.seed, work.clock),
        engine="torch",
        regression_only=True,
        package="torch",
    ),
}
"""In an order in which each comes after what it reads."""

OWN_ENGINES = tuple(dict.fromkeys(method.engine for method in METHODS.values() if method.engine is not None))
"""Engines of methods that are the same whatever boosts."""


def run(key: Key, protocol: Protocol, n_jobs: int | None, earlier: Earlier) -> Content:
    """Run a method on a fold and return the content of its cell.

    Parameters
    ----------
    key : Key
    protocol : Protocol
    n_jobs : int or None
        Threads; the figures do not depend on them.
    earlier : callable
        Gives the cell of another method of the same fold and engine.
    """
    start = time.time()
    fold, seed, clock = problem(key.dataset).fold(key.fold), seed_of(key), Clock()
    made = METHODS[key.method].fill(Work(fold, protocol, key.engine, seed, n_jobs, clock, earlier))
    return {
        **made,
        "task": fold.task,
        "rows_train": len(fold.y),
        "rows_test": len(fold.y_test),
        "data": checksum(fold.X, fold.y, fold.X_test, fold.y_test),
        "outside": fold.X_out is not None and {"file": outside_file(key.dataset), "sha256": checksum(fold.X_out)},
        "seed": seed,
        "revision": REVISION,
        "seconds": clock.seconds,
        "protocol": protocol.to_json(),
        "versions": versions(key.engine),
        "machine": {**machine(), "threads": n_jobs},
        "date": time.strftime("%Y-%m-%d", time.gmtime(start)),
    }
