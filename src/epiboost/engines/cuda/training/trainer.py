"""Trains chains on a GPU: uploads the rows, repeats the kernels of one tree, and returns the trees."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from epiboost._progress import Progress
from epiboost._typing import AnyArray, LibraryObject
from epiboost.engines.cuda.device import check_fits
from epiboost.engines.cuda.training.backend import Backend
from epiboost.engines.cuda.training.layout import Record, record
from epiboost.engines.cuda.training.members import Chain, DeviceTrees, EvaluationArrays, MemberBuilder, table_of
from epiboost.engines.cuda.training.plan import (
    Plan,
    columns_at_once,
    groups_of,
    is_crowded,
    member_bytes,
    plan_launches,
    sample_bytes,
)
from epiboost.engines.cuda.training.samples import upload_evaluation, upload_sample
from epiboost.engines.cuda.training.schedule import steps_of
from epiboost.engines.cuda.training.tasks import definitions_of, shape_of, tasks_of
from epiboost.engines.native.chains import ChainTable, Trees
from epiboost.engines.native.training import round_callback
from epiboost.engines.rounds import Rounds

_MAX_DEPTH = 8
_USUAL_BLOCKS, _CROWDED_BLOCKS = 2, 4  # that find splits, on one multiprocessor
_SHORT, _LONG = 0.05, 0.2  # seconds between two looks at the clock: a person who stops training waits no longer


def unsupported(table: ChainTable) -> str | None:
    """Return which parameter keeps chains from being trained on a GPU; None if they can be.

    >>> from types import SimpleNamespace
    >>> recipe = SimpleNamespace(leaves=0, depth=9)
    >>> unsupported(SimpleNamespace(recipe=recipe))
    'max_depth'
    """
    recipe = table.recipe
    return "max_depth" if not recipe.leaves and recipe.depth > _MAX_DEPTH else None


def train_on_gpu(
    tables: list[ChainTable],
    threads: int,
    progress: Progress,
    rounds: Rounds | None = None,
    *,
    backend: Backend | None = None,
) -> list[Trees]:
    """Train the chains of all tables side by side on a GPU, as ``train_here`` on the processor; the list is emptied.

    Parameters
    ----------
    tables : list of ChainTable
    threads : int
        Threads of the host, which the GPU does not need.
    progress : Progress
    rounds : Rounds, optional
        When to pause, and what to do then.
    backend : Backend, optional
        The device; the default is the GPU that CuPy uses.

    Raises
    ------
    ValueError
        If the kernels lack what a recipe asks for.
    DeviceError
        If there is no GPU that can be used, or too little memory.
    """
    del threads
    for table in tables:
        parameter = unsupported(table)
        if parameter is not None:
            message = f"device='cuda' does not support this {parameter}; use device='cpu', or 'auto'"
            raise ValueError(message)
    if backend is None:
        from epiboost.engines.cuda.training.cupy_backend import CupyBackend  # noqa: PLC0415 (imports CuPy)

        backend = CupyBackend()
    with backend.exclusive():
        return _Training(backend, tables, progress, rounds).run()


class _Training:
    """One call of `train_on_gpu`."""

    def __init__(self, backend: Backend, tables: list[ChainTable], progress: Progress, rounds: Rounds | None) -> None:
        self.backend = backend
        self.sizes = [len(table.seeds) for table in tables]
        self.trees = tables[0].recipe.trees
        self.has_losses = tables[0].evaluation is not None
        self.round_trees = self.trees if rounds is None else rounds.trees
        self.go_on = None if rounds is None else round_callback(rounds, tables)
        self.tasks = list(tasks_of(tables))
        tables.clear()
        definitions = definitions_of(self.tasks)
        shape = shape_of(self.tasks, packs=definitions.packs)
        members, limits = sum(self.sizes), backend.limits
        together = columns_at_once(shape, members, limits)
        is_alone = together == 1 and not shape.max_leaves  # whose registers are few enough for more blocks
        blocks = _CROWDED_BLOCKS if is_crowded(shape, members, limits) and is_alone else _USUAL_BLOCKS
        self.definitions = replace(definitions, columns_at_once=together, level_blocks=blocks)
        self.shape = replace(shape, columns_at_once=together)
        self.total = sum(self.sizes) * self.trees
        self.progress = progress
        self.done = 0

    def run(self) -> list[Trees]:
        """Train all chains, in groups if the memory asks for it."""
        self.backend.compile(self.definitions)
        groups = self._groups()
        parts = []
        for group in groups:
            with_rows = self._upload(group)
            parts.append(_Group(self, with_rows, group.start).train())
            self.done += len(group) * self.trees
            del with_rows  # before those of the next group are copied
        self.progress(self.total, self.total)
        together = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)] if len(parts) > 1 else parts[0]
        ends = np.cumsum(self.sizes)[:-1]
        return [Trees(*of_table) for of_table in zip(*(np.split(array, ends) for array in together), strict=True)]

    def _groups(self) -> list[range]:
        """Return the chains that are trained at once; chains that pause together must all fit."""
        members, free = sum(self.sizes), self.backend.free_bytes()
        at_once = 1 if self.go_on is None else members
        shared = sum(sample_bytes(self.shape) * len(task.samples) for task in self.tasks)
        if shared + at_once * self._chain_bytes() > free:
            self.shape = replace(self.shape, keeps_sums=False)
        chain = self._chain_bytes()
        check_fits(shared + at_once * chain, free, f"{at_once} chains of {self.shape.rows:,} rows")
        return groups_of([chain] * members, free - shared)

    def _chain_bytes(self) -> int:
        members = sum(self.sizes)
        plan = plan_launches(self.shape, members, self.backend.limits)
        return member_bytes(self.shape) + plan.global_bytes(self.shape) // members

    def _upload(self, group: range) -> list[Chain]:
        """Copy the rows of the chains of a group to the device."""
        chains = []
        for task in self.tasks:
            table = task.table
            wanted = [chain for chain in group if task.first <= chain < task.first + len(table.seeds)]
            if not wanted:
                continue
            held_out = table.evaluation_arrays()
            evaluation = None if held_out is None else upload_evaluation(self.backend, held_out)
            used = sorted({(chain - task.first) % len(task.samples) for chain in wanted})
            samples = {
                number: upload_sample(self.backend, task.samples[number], table.recipe, task.weights[number])
                for number in used
            }
            steps = {number: steps_of(table.recipe, task.weights[number].total) for number in used}
            for chain in wanted:
                own = chain - task.first
                number = own % len(task.samples)
                given = None if table.given is None else tuple(array[own] for array in table.given)
                seed = int(table.seeds[own])
                chains.append(Chain(table.recipe, seed, samples[number], evaluation, steps[number], given))
        return chains


class _Group:
    """Chains that are trained at once."""

    def __init__(self, training: _Training, chains: list[Chain], first: int) -> None:
        backend, shape = training.backend, training.shape
        self.training, self.backend, self.shape = training, backend, shape
        self.chains, self.first = chains, first
        self.plan: Plan = plan_launches(shape, len(chains), backend.limits)
        self.trees = DeviceTrees.of(backend, shape, chains)
        self.builder = MemberBuilder(backend, shape, self.plan)  # keeps the arrays alive
        built = [self.builder.build(chain, self.trees, number) for number, chain in enumerate(chains)]
        self.evaluations: list[EvaluationArrays] = [evaluation for _, evaluation in built]
        self.members = backend.put(table_of("Member", [member for member, _ in built]))
        self.growths = self._growths()
        self.counters = backend.zeros(2, np.int32)
        self.global_histograms = self._global_histograms()
        self.arguments = self._arguments()

    def _growths(self) -> LibraryObject | None:
        if not self.shape.max_leaves:
            return None
        numbered = enumerate(self.chains)
        growths = [self.builder.build_growth(chain, self.trees, number) for number, chain in numbered]
        return self.backend.put(table_of("Growth", growths))

    def _global_histograms(self) -> LibraryObject | None:
        size = self.plan.global_bytes(self.shape)
        return self.backend.empty(size // 4, np.uint32) if size else None

    def _arguments(self) -> Record:
        upcoming, histograms, growths = map(self._pointer, (self.counters, self.global_histograms, self.growths))
        return record(
            "Chains",
            members=self.backend.pointer(self.members),
            upcoming=upcoming,
            current=upcoming + 4,
            histograms=histograms,
            depth=self.shape.depth,
            cells=self.shape.cells,
            subtracts=self.plan.subtracts,
            leaves_per_pass=self.plan.leaves_per_pass,
            row_tiles=self.plan.row_tiles,
            column_groups=self.shape.column_groups,
            given=self.shape.given,
            sum_copies=self.plan.sum_copies,
            group_words=self.shape.group_words,
            growths=growths,
            leaves=self.shape.max_leaves,
            tile_rows=self.plan.tile_rows,
        )

    def _pointer(self, array: LibraryObject | None) -> int:
        return 0 if array is None else self.backend.pointer(array)

    def train(self) -> tuple[AnyArray, ...]:
        """Train the chains; return the arrays of `Trees`."""
        training, trees = self.training, 0
        given, grown = self.shape.given, self._recorded(self.plan.grown)
        if given:
            self._repeat(self._recorded(self.plan.given), given, 0)
        while trees < training.trees:
            end = min(training.trees, trees + training.round_trees)
            self._repeat(grown, end - max(trees, given), max(trees, given))
            trees = end
            if training.go_on is not None and not training.go_on(trees, self._scores(trees)):
                break
        return self._result(trees)

    def _recorded(self, launches: Sequence[object]) -> Callable[[], None]:
        """Return a function that grows one tree of each chain."""

        def work() -> None:
            for launch in launches:
                self.backend.launch(launch, self.arguments)  # type: ignore[arg-type]

        return self.backend.record(work)

    def _repeat(self, tree: Callable[[], None], count: int, before: int) -> None:
        """Grow trees; look at the clock now and then, so that the device is never far behind."""
        at_once, done = 1, 0
        waiting: Callable[[], None] | None = None
        last = time.monotonic()
        while done < count:
            for _ in range(min(at_once, count - done)):
                tree()
            done += min(at_once, count - done)
            mark = self.backend.mark()
            if waiting is not None:
                waiting()
            waiting, now = mark, time.monotonic()
            at_once = _next_size(at_once, now - last)
            last = now
            training = self.training
            training.progress(training.done + (before + done) * len(self.chains), training.total)
        if waiting is not None:
            waiting()

    def _scores(self, trees: int) -> list[tuple[int, AnyArray]]:
        """Return the scores of evaluation rows after so many trees."""
        scores = []
        for number, (chain, evaluation) in enumerate(zip(self.chains, self.evaluations, strict=True)):
            if chain.evaluation is None:
                continue
            raw = self.backend.get(evaluation.scores)[:, : chain.evaluation.rows].T
            start = np.array(chain.recipe.start, dtype=np.float32)
            scores.append((self.first + number, start + chain.steps["decay_after"][trees - 1] * raw))
        return scores

    def _result(self, trees: int) -> tuple[AnyArray, ...]:
        get = self.backend.get
        own_trees = self.trees
        names = ("feature", "threshold", "parent", "value")
        feature, threshold, parent, value = (get(getattr(own_trees, name)) for name in names)
        losses = np.full((len(self.chains), self.training.trees if self.training.has_losses else 0), np.nan)
        for own, evaluation in zip(losses, self.evaluations, strict=True):
            if evaluation.losses is not None and len(own):
                own[:trees] = get(evaluation.losses)[:trees]
        return feature, threshold, parent, value, np.full(len(self.chains), trees, dtype=np.int32), losses


def _next_size(at_once: int, seconds: float) -> int:
    """Return how many trees are launched before the next look at the clock."""
    if seconds < _SHORT:
        return at_once * 2
    return max(1, at_once // 2) if seconds > _LONG else at_once
