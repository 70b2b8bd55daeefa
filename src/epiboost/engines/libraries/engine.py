"""The base class of engines over libraries: options, and training of chains in parallel."""

import abc
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar, TypeAlias

import numpy as np

from epiboost._boosting.langevin import LangevinObjective
from epiboost._boosting.recipe import MemberSpec, thread_count
from epiboost._boosting.rows import LearningRows, learning_rows
from epiboost._boosting.step_sizes import StepSizes, step_sizes
from epiboost._inputs.dataset import Dataset
from epiboost._optional import require
from epiboost._progress import Progress
from epiboost._threads import library_threads
from epiboost._typing import AnyArray, LibraryObject
from epiboost.engines.base import Capabilities
from epiboost.engines.libraries.chain import Chain, evaluation_losses
from epiboost.engines.libraries.forest import BoosterForest
from epiboost.engines.options import Options
from epiboost.engines.parallel import TreeCallback, train_members

Settings: TypeAlias = dict[str, Any]
"""Parameters of a library by name."""


@dataclass(frozen=True, slots=True)
class ChainTask:
    """Everything that a library needs to train one chain.

    Attributes
    ----------
    library : module
        The library itself.
    objective : LangevinObjective
        Gives the gradients, and holds the rows, the step sizes and the spec of the chain.
    settings : dict
        The library's parameters.
    prepared : object
        The rows as `LibraryEngine._prepare` returned them.
    report_trees : callable
        To be called after each tree.
    """

    library: ModuleType
    objective: LangevinObjective
    settings: Settings
    prepared: LibraryObject
    report_trees: TreeCallback


class LibraryEngine(abc.ABC):
    """Trains chains with a library.

    Parameters
    ----------
    n_jobs : int, optional
        Number of threads. Members are trained in parallel and share them.
    options
        Parameters of the library that have no counterpart among those of the estimators.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        unsupported=("random_strength", "structure_rows", "monotonic_constraints")
    )
    library: ClassVar[str]
    name: ClassVar[str]
    forest: ClassVar[type[BoosterForest]]
    controls: ClassVar[tuple[str, str, str]]
    """Options for groups of columns that may interact, the least sum of hessians, and the share of columns."""
    max_row_share: ClassVar[float] = 1.0
    """Largest share of the weight that one row, with its copies, may have: beyond it the library learns no other."""

    def __init__(self, *, n_jobs: int | None = None, **options: LibraryObject) -> None:
        self.n_jobs = n_jobs
        self.options = self._known_options().check(options) if options else {}

    def __repr__(self) -> str:
        """Return the class with its parameters."""
        return f"{type(self).__name__}(n_jobs={self.n_jobs}, options={self.options})"

    def fit(self, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> BoosterForest:
        """Train one chain per spec; rows are prepared once for all of them."""
        library = library_module(self.library)
        threads = library_threads(self.library, thread_count(self.n_jobs))
        spec, rows = specs[0], learning_rows(data)
        self._check_heaviest(float(rows.weight.max()) / rows.total)
        steps = self._steps(spec, rows)
        settings = {**self._settings(spec, steps, rows), **self._controls(spec), **self.options}
        with self._library_errors(library):
            prepared = self._prepare(library, rows, settings, threads)

        def train(member: MemberSpec, member_threads: int, report_trees: TreeCallback) -> Chain:
            with self._library_errors(library):
                objective = LangevinObjective(rows, steps, member)
                member_settings = {**settings, **self._member_settings(member, member_threads)}
                return self._train_chain(ChainTask(library, objective, member_settings, prepared, report_trees))

        with self._quiet(library):
            chains = train_members(train, specs, threads=threads, trees=spec.n_estimators, progress=progress)
        return self.forest(
            boosters=tuple(chain.booster for chain in chains),
            objective=rows.objective,
            count=np.array([chain.count for chain in chains], dtype=np.int64),
            decay=steps.decay,
            n_codes=rows.codes_per_column,
            evaluation=evaluation_losses(chains, spec.n_estimators),
            n_jobs=self.n_jobs,
            **self._extra_arrays(chains),
        )

    def _check_heaviest(self, share: float) -> None:
        if share > self.max_row_share:
            message = (
                f"{self.name} learns nothing about other rows if one row, with its copies, has more than "
                f"{self.max_row_share:.0%} of the weight; got {share:.1%}; make it lighter, or use engine='native'"
            )
            raise ValueError(message)

    @contextmanager
    def _library_errors(self, library: ModuleType) -> Iterator[None]:
        """Turn errors of the library into a ValueError that names the library."""
        try:
            yield
        except self._error_class(library) as error:
            message = f"{self.name} cannot train on this: {str(error).splitlines()[0]}"
            raise ValueError(message) from error

    def _controls(self, spec: MemberSpec) -> Settings:
        """Return the library's parameters for interactions, small leaves and columns per tree, if they are asked for.

        Hessians are the weights of the rows, so the least sum of hessians is the least number of rows.
        """
        interactions, least_hessian, column_share = self.controls
        controls: Settings = {}
        if spec.constraints.groups:
            controls[interactions] = [list(group) for group in spec.constraints.groups]
        if spec.min_samples_leaf > 1:
            controls[least_hessian] = float(spec.min_samples_leaf)
        if spec.max_features < 1.0:
            controls[column_share] = spec.max_features
        for option in sorted(controls.keys() & self.options.keys()):
            message = f"engine_params must not hold {option!r} beside the parameter of the estimator that sets it"
            raise ValueError(message)
        return controls

    def _steps(self, spec: MemberSpec, rows: LearningRows) -> StepSizes:
        """Return the step sizes of the chains."""
        return step_sizes(spec, rows.objective, rows.total)

    def _quiet(self, library: ModuleType) -> AbstractContextManager[None]:  # noqa: ARG002 (one library needs it)
        """Keep the library from printing while it trains."""
        return nullcontext()

    def _extra_arrays(self, chains: Sequence[Chain]) -> dict[str, AnyArray]:  # noqa: ARG002 (one library needs it)
        """Return arrays that only forests of this library have."""
        return {}

    @abc.abstractmethod
    def _known_options(self) -> Options:
        """Return the options of the library."""

    @abc.abstractmethod
    def _error_class(self, library: ModuleType) -> type[Exception]:
        """Return the class of the library's errors."""

    @abc.abstractmethod
    def _settings(self, spec: MemberSpec, steps: StepSizes, rows: LearningRows) -> Settings:
        """Return the library's parameters that all chains share."""

    @abc.abstractmethod
    def _member_settings(self, spec: MemberSpec, threads: int) -> Settings:
        """Return the library's parameters of one chain: seed and threads."""

    @abc.abstractmethod
    def _prepare(self, library: ModuleType, rows: LearningRows, settings: Settings, threads: int) -> LibraryObject:
        """Return training and evaluation rows as the library takes them."""

    @abc.abstractmethod
    def _train_chain(self, task: ChainTask) -> Chain:
        """Train one chain."""


def library_module(name: str) -> ModuleType:
    """Return a library's module; the error names the extra that installs it."""
    return require(name, extra=name, purpose=f"engine={name!r}")
