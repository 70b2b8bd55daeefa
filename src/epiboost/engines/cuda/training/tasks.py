"""Tables of chains with their samples, and what follows from all of them: the constants of the kernels, and sizes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from epiboost.engines.cuda.training.backend import Definitions
from epiboost.engines.cuda.training.rows import RowWeights, max_integer_weight, max_rows, structure_share
from epiboost.engines.cuda.training.samples import weights_of
from epiboost.engines.cuda.training.shape import Shape
from epiboost.engines.native.chains import ChainTable, SampleArrays

_NORMAL = 0  # its code, as in core/constants.hpp
_PACKED_WEIGHT = 65_535  # PackedTwo::capacity of the native core


@dataclass(frozen=True, slots=True)
class Task:
    """A table, its samples, and the number of its first chain."""

    table: ChainTable
    samples: list[SampleArrays]
    weights: list[RowWeights]
    first: int


def tasks_of(tables: Sequence[ChainTable]) -> Iterator[Task]:
    """Yield the tables with their samples and weights."""
    first = 0
    for table in tables:
        samples = list(table.sample_arrays())
        known: dict[int, RowWeights] = {}
        for arrays in samples:  # orders of the same rows share their weights
            if id(arrays.weight) not in known:
                known[id(arrays.weight)] = weights_of(arrays)
        yield Task(table, samples, [known[id(arrays.weight)] for arrays in samples], first)
        first += len(table.seeds)


def definitions_of(tasks: Sequence[Task]) -> Definitions:
    """Return the constants of the kernels; the order of float additions is that of the native core's layouts."""
    recipe = tasks[0].table.recipe
    outputs = len(recipe.start)
    weight = max(max_integer_weight(task.table.recipe, weights) for task in tasks for weights in task.weights)
    lanes = 1
    if outputs > 2 or (outputs == 2 and weight > _PACKED_WEIGHT):  # noqa: PLR2004 (packed layouts)
        lanes = next((count for count in (4, 8) if outputs < count), 16)
    counts_squares = not recipe.is_of_classes or any(task.table.recipe.random_strength > 0.0 for task in tasks)
    return Definitions(recipe.objective, outputs, lanes, counts_squares, _is_monotone(tasks), recipe.leaves > 0)


def _is_monotone(tasks: Sequence[Task]) -> bool:
    return any(direction != 0 for task in tasks for direction in task.table.recipe.monotone)


def shape_of(tasks: Sequence[Task], *, packs: bool) -> Shape:
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
        max_leaves=recipes[0].leaves,
    )
