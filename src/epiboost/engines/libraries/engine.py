"""What the engines over other libraries share: options, and the way from data to chains trained side by side."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from epiboost._boosting.langevin import LangevinObjective
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.rows import Rows, learning_rows
from epiboost._boosting.step_sizes import Steps, steps_of
from epiboost._inputs.dataset import Dataset
from epiboost._optional import require
from epiboost._progress import Progress
from epiboost._typing import AnyArray
from epiboost.engines.libraries.forest import BoosterForest, Chain, evaluation_of
from epiboost.engines.options import Options
from epiboost.engines.parallel import Grown, train_members
from epiboost.engines.threads import thread_count

Prepared = Any
"""Training rows, and those that are watched, as a library takes them."""


class LibraryEngine:
    """Trains chains with a library.

    Parameters
    ----------
    n_jobs : int, optional
        Threads: members are trained side by side, and share them.
    options
        Parameters of the library that have no counterpart among those of the estimators.
    """

    cannot: ClassVar[tuple[str, ...]] = ("structure_rows",)
    library: ClassVar[str]
    name: ClassVar[str]
    forest: ClassVar[type[BoosterForest]]

    def __init__(self, *, n_jobs: int | None = None, **options: Any) -> None:  # noqa: ANN401 (the library's)
        self.n_jobs = n_jobs
        self.options = self._rules().checked(options) if options else {}

    def __repr__(self) -> str:
        """Say what it is made of."""
        return f"{type(self).__name__}(n_jobs={self.n_jobs}, options={self.options})"

    def fit(self, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> BoosterForest:
        """Train one chain a spec on rows that are prepared once; specs may differ in their seeds alone."""
        library = library_of(self.library)
        spec, threads, rows = specs[0], thread_count(self.n_jobs), learning_rows(data)
        steps = self._steps(spec, rows)
        settings = {**self._settings(spec, steps, rows), **self.options}
        with self._our_errors(library):
            prepared = self._prepared(library, rows, settings, threads)

        def chain(own: MemberSpec, own_threads: int, grown: Grown) -> Chain:
            with self._our_errors(library):
                objective = LangevinObjective(rows, steps, own)
                return self._chain(library, objective, {**settings, **self._own(own, own_threads)}, prepared, grown)

        with self._quiet(library):
            chains = train_members(chain, specs, threads=threads, trees=spec.n_estimators, progress=progress)
        return self.forest(
            boosters=tuple(one.booster for one in chains),
            objective=rows.objective,
            count=np.array([one.count for one in chains], dtype=np.int64),
            decay=steps.decay,
            sizes=rows.sizes or (0,) * rows.X.shape[1],
            evaluation=evaluation_of(chains, spec.n_estimators),
            n_jobs=self.n_jobs,
            **self._extra(chains),
        )

    @contextmanager
    def _our_errors(self, library: ModuleType) -> Iterator[None]:
        """Turn a library's own errors into a ValueError that names the library."""
        try:
            yield
        except self._errors(library) as error:
            message = f"{self.name} cannot train on this: {str(error).splitlines()[0]}"
            raise ValueError(message) from error

    # What libraries do differently.
    def _steps(self, spec: MemberSpec, rows: Rows) -> Steps:
        return steps_of(spec, rows.objective, rows.total)

    def _quiet(self, library: ModuleType) -> AbstractContextManager[None]:  # noqa: ARG002 (libraries differ)
        """Keep a library from printing while it trains."""
        return nullcontext()

    def _extra(self, chains: Sequence[Chain]) -> dict[str, AnyArray]:  # noqa: ARG002 (libraries differ)
        """Return what a forest of this library has beyond the others."""
        return {}

    def _rules(self) -> Options:
        raise NotImplementedError

    def _errors(self, library: ModuleType) -> type[Exception]:
        raise NotImplementedError

    def _settings(self, spec: MemberSpec, steps: Steps, rows: Rows) -> dict[str, Any]:
        """Return the library's parameters that all chains have in common."""
        raise NotImplementedError

    def _own(self, spec: MemberSpec, threads: int) -> dict[str, Any]:
        """Return those of one chain."""
        raise NotImplementedError

    def _prepared(self, library: ModuleType, rows: Rows, settings: dict[str, Any], threads: int) -> Prepared:
        raise NotImplementedError

    def _chain(
        self, library: ModuleType, chain: LangevinObjective, settings: dict[str, Any], prepared: Prepared, grown: Grown
    ) -> Chain:
        raise NotImplementedError


def library_of(name: str) -> ModuleType:
    """Return a library, or say which extra installs it."""
    return require(name, extra=name, purpose=f"engine={name!r}")
