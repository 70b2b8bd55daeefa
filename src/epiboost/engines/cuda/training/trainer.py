"""Trains chains on a GPU: uploads the rows, repeats the kernels of one tree, and returns the trees."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from epiboost._progress import Progress
from epiboost._typing import AnyArray, LibraryObject
from epiboost.engines.cuda.device import check_fits
from epiboost.engines.cuda.training.backend import Backend, Definitions
from epiboost.engines.cuda.training.layout import Record, record
from epiboost.engines.cuda.training.members import Chain, DeviceTrees, EvaluationArrays, MemberBuilder, member_table
from epiboost.engines.cuda.training.plan import (
    Plan,
    Shape,
    columns_at_once,
    groups_of,
    is_crowded,
    member_bytes,
    plan_launches,
    sample_bytes,
)
from epiboost.engines.cuda.training.rows import RowWeights, max_integer_weight, max_rows, structure_share
from epiboost.engines.cuda.training.samples import upload_evaluation, upload_sample, weights_of
from epiboost.engines.cuda.training.schedule import steps_of
from epiboost.engines.native.chains import ChainTable, SampleArrays, Trees
from epiboost.engines.native.training import round_callback
from epiboost.engines.rounds import Rounds

_NORMAL = 0  # its code, as in core/constants.hpp
_MAX_DEPTH = 8
_PACKED_WEIGHT = 65_535  # PackedTwo::capacity of the native core
_USUAL_BLOCKS, _CROWDED_BLOCKS = 2, 4  # that find splits, on one multiprocessor
_SHORT, _LONG = 0.05, 0.2  # seconds between two looks at the clock: a person who stops training waits no longer


def unsupported(table: ChainTable) -> str | None:
    """Return which parameter keeps chains from being trained on a GPU; None if they can be.

    >>> from types import SimpleNamespace
    >>> recipe = SimpleNamespace(leaves=31, depth=6)
    >>> unsupported(SimpleNamespace(recipe=recipe))
    'max_leaves'
    """
    recipe = table.recipe
    if recipe.leaves:
        return "max_leaves"
    return "max_depth" if recipe.depth > _MAX_DEPTH else None


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


@dataclass(frozen=True, slots=True)
class _Task:
    """A table, its samples, and the number of its first chain."""

    table: ChainTable
    samples: list[SampleArrays]
    weights: list[RowWeights]
    first: int


class _Training:
    """One call of `train_on_gpu`."""

    def __init__(self, backend: Backend, tables: list[ChainTable], progress: Progress, rounds: Rounds | None) -> None:
        self.backend = backend
        self.sizes = [len(table.seeds) for table in tables]
        self.trees = tables[0].recipe.trees
        self.has_losses = tables[0].evaluation is not None
        self.round_trees = self.trees if rounds is None else rounds.trees
        self.go_on = None if rounds is None else round_callback(rounds, tables)
        self.tasks = list(_tasks(tables))
        tables.clear()
        definitions = _definitions(self.tasks)
        shape = _shape_of(self.tasks, packs=definitions.packs)
        members, limits = sum(self.sizes), backend.limits
        together = columns_at_once(shape, members, limits)
        blocks = _CROWDED_BLOCKS if is_crowded(shape, members, limits) and together == 1 else _USUAL_BLOCKS
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
        members = sum(self.sizes)
        plan = plan_launches(self.shape, members, self.backend.limits)
        chain = member_bytes(self.shape) + plan.global_bytes(self.shape) // members
        shared = sum(sample_bytes(self.shape) * len(task.samples) for task in self.tasks)
        free = self.backend.free_bytes()
        needed = shared + chain * (1 if self.go_on is None else members)
        check_fits(needed, free, f"{members if self.go_on else 1} chains of {self.shape.rows:,} rows")
        return groups_of([chain] * members, free - shared)

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
                given = None if table.given is None else (table.given[0][own], table.given[1][own], table.given[3][own])
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
        self.members = backend.put(member_table([member for member, _ in built]))
        self.counters = backend.zeros(2, np.int32)
        self.global_histograms = self._global_histograms()
        self.arguments = self._arguments()

    def _global_histograms(self) -> LibraryObject | None:
        size = self.plan.global_bytes(self.shape)
        return self.backend.empty(size // 4, np.uint32) if size else None

    def _arguments(self) -> Record:
        histograms = self.global_histograms
        upcoming = self.backend.pointer(self.counters)
        return record(
            "Chains",
            members=self.backend.pointer(self.members),
            upcoming=upcoming,
            current=upcoming + 4,
            histograms=0 if histograms is None else self.backend.pointer(histograms),
            depth=self.shape.depth,
            cells=self.shape.cells,
            subtracts=self.plan.subtracts,
            leaves_per_pass=self.plan.leaves_per_pass,
            row_tiles=self.plan.row_tiles,
            column_groups=self.shape.column_groups,
            given=self.shape.given,
            sum_copies=self.plan.sum_copies,
            group_words=self.shape.group_words,
        )

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
        feature, threshold, value = (get(array) for array in (own_trees.feature, own_trees.threshold, own_trees.value))
        losses = np.full((len(self.chains), self.training.trees if self.training.has_losses else 0), np.nan)
        for own, evaluation in zip(losses, self.evaluations, strict=True):
            if evaluation.losses is not None and len(own):
                own[:trees] = get(evaluation.losses)[:trees]
        parent = np.zeros((*feature.shape[:2], 0), dtype=np.uint8)
        return feature, threshold, parent, value, np.full(len(self.chains), trees, dtype=np.int32), losses


def _next_size(at_once: int, seconds: float) -> int:
    """Return how many trees are launched before the next look at the clock."""
    if seconds < _SHORT:
        return at_once * 2
    return max(1, at_once // 2) if seconds > _LONG else at_once


def _tasks(tables: Sequence[ChainTable]) -> Iterator[_Task]:
    """Yield the tables with their samples and weights."""
    first = 0
    for table in tables:
        samples = list(table.sample_arrays())
        known: dict[int, RowWeights] = {}
        for arrays in samples:  # orders of the same rows share their weights
            if id(arrays.weight) not in known:
                known[id(arrays.weight)] = weights_of(arrays)
        yield _Task(table, samples, [known[id(arrays.weight)] for arrays in samples], first)
        first += len(table.seeds)


def _definitions(tasks: Sequence[_Task]) -> Definitions:
    """Return the constants of the kernels; the order of float additions is that of the native core's layouts."""
    recipe = tasks[0].table.recipe
    outputs = len(recipe.start)
    weight = max(max_integer_weight(task.table.recipe, weights) for task in tasks for weights in task.weights)
    lanes = 1
    if outputs > 2 or (outputs == 2 and weight > _PACKED_WEIGHT):  # noqa: PLR2004 (packed layouts)
        lanes = next((count for count in (4, 8) if outputs < count), 16)
    counts_squares = not recipe.is_of_classes or any(task.table.recipe.random_strength > 0.0 for task in tasks)
    return Definitions(recipe.objective, outputs, lanes, counts_squares, _is_monotone(tasks))


def _is_monotone(tasks: Sequence[_Task]) -> bool:
    return any(direction != 0 for task in tasks for direction in task.table.recipe.monotone)


def _shape_of(tasks: Sequence[_Task], *, packs: bool) -> Shape:
    """Return the sizes of the largest chain."""
    recipes = [task.table.recipe for task in tasks]
    rows = [(recipe, len(arrays.y)) for task, recipe in zip(tasks, recipes, strict=True) for arrays in task.samples]
    sampled = [max_rows(recipe, count) for recipe, count in rows if structure_share(recipe, count) < 1.0]
    held_out = [task.table.evaluation for task in tasks]
    given = tasks[0].table.given
    guards_variance = any(recipe.guards_variance for recipe in recipes)
    return Shape(
        rows=max(count for _, count in rows),
        columns=max(arrays.bins.shape[1] for task in tasks for arrays in task.samples),
        outputs=len(recipes[0].start),
        depth=recipes[0].depth,
        cells=-(-max(int(task.table.counts.max()) for task in tasks) // 4) * 4,
        trees=recipes[0].trees,
        sample_rows=max(sampled, default=0),
        evaluation_rows=max((len(rows[1]) for rows in held_out if rows is not None), default=0),
        given=0 if given is None else given[0].shape[1],
        group_words=max(-(-len(recipe.interactions) // 32) for recipe in recipes),
        targets=1 if tasks[0].table.y.ndim == 1 else tasks[0].table.y.shape[1],
        guards_variance=guards_variance,
        keeps_own_gradients=guards_variance and recipes[0].objective != _NORMAL,
        subsamples=any(recipe.subsample < 1.0 for recipe in recipes),
        weighs_sample=any((weights.integer != 1).any() for task in tasks for weights in task.weights),
        packs=packs,
        is_monotone=_is_monotone(tasks),
    )
