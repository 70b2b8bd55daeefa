"""The methods by name, and how a method on a fold becomes the content of a cell."""

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass

from epiboost.paper.cells.cell import CellKey, Content
from epiboost.paper.cells.provenance import REVISION, checksum, machine, seed_of, versions
from epiboost.paper.methods.boosted import budget, sgb, sglb
from epiboost.paper.methods.deep_ensembles import deep_ensembles
from epiboost.paper.methods.forests import forest, forests
from epiboost.paper.methods.inputs import CellOf, MethodInputs, MethodOutputs
from epiboost.paper.methods.ngboost import ngboost
from epiboost.paper.problem import load_problem, out_of_domain_file
from epiboost.paper.protocol import Protocol


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the paper.

    Attributes
    ----------
    run : callable
        Trains and evaluates the method on one fold.
    engine : str or None
        Name under which its cells are stored; None if it runs on any of the boosting engines.
    regression_only : bool
    package : str or None
        Optional package that it needs.
    needs : str or None
        Method whose cell it reads.
    """

    run: Callable[[MethodInputs], MethodOutputs]
    engine: str | None = None
    regression_only: bool = False
    package: str | None = None
    needs: str | None = None

    @property
    def is_installed(self) -> bool:
        """Whether the package that it needs is installed."""
        return self.package is None or importlib.util.find_spec(self.package) is not None


METHODS = {
    "sgb": Method(sgb),
    "sglb": Method(sglb),
    "budget": Method(budget, needs="sglb"),
    "forest": Method(forest, engine="forest"),
    "forests": Method(forests, engine="forest"),
    "ngboost": Method(ngboost, engine="ngboost", regression_only=True, package="ngboost"),
    "deep": Method(deep_ensembles, engine="torch", regression_only=True, package="torch"),
}
"""Each method comes after the one whose cell it reads."""

ENGINES_OF_METHODS = tuple(dict.fromkeys(method.engine for method in METHODS.values() if method.engine is not None))
"""Engine names of the methods that do not run on a boosting engine."""


def run(key: CellKey, protocol: Protocol, n_jobs: int | None, cell_of: CellOf) -> Content:
    """Run a method on a fold and return the content of its cell.

    Parameters
    ----------
    key : CellKey
    protocol : Protocol
    n_jobs : int or None
        Number of threads; the results do not depend on it.
    cell_of : callable
        Returns the cell of another method on the same fold with the same engine.
    """
    start = time.time()
    fold, seed = load_problem(key.dataset).fold(key.fold), seed_of(key)
    inputs = MethodInputs(fold, protocol, key.engine, seed, n_jobs, cell_of=cell_of)
    outputs = METHODS[key.method].run(inputs)
    return {
        **outputs,
        "task": fold.task,
        "rows_train": len(fold.y),
        "rows_test": len(fold.y_test),
        "data": checksum(fold.X, fold.y, fold.X_test, fold.y_test),
        "outside": fold.X_ood is not None and {"file": out_of_domain_file(key.dataset), "sha256": checksum(fold.X_ood)},
        "seed": seed,
        "revision": REVISION,
        "seconds": inputs.timer.seconds,
        "protocol": protocol.to_json(),
        "versions": versions(key.engine),
        "machine": {**machine(), "threads": n_jobs},
        "date": time.strftime("%Y-%m-%d", time.gmtime(start)),
    }
