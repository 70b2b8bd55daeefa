"""Chains on the device: the arrays of each, and the structure by which kernels find them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from epiboost._typing import AnyArray, LibraryObject
from epiboost.engines.cuda.training.arena import Arena
from epiboost.engines.cuda.training.backend import Backend
from epiboost.engines.cuda.training.layout import Record, record, structure
from epiboost.engines.cuda.training.plan import BLOCK, Plan, padded
from epiboost.engines.cuda.training.rows import (
    draw_limit,
    fixed_point,
    largest_level,
    max_rows,
    min_integer_weight,
    structure_share,
)
from epiboost.engines.cuda.training.samples import DeviceSample
from epiboost.engines.cuda.training.shape import Shape
from epiboost.engines.native.chain_recipe import ChainRecipe

_NO_SPLIT = 255  # threshold: no bin is above it
_NO_LEAF = 255  # parent of a split that is not made


@dataclass(frozen=True, slots=True)
class Chain:
    """One chain to train.

    Attributes
    ----------
    recipe : ChainRecipe
    seed : int
    sample : DeviceSample
    evaluation : DeviceSample or None
    steps : array of ``Step``
    given : (feature, threshold, parent, value) or None
        The trees with which it begins, see `Trees`.
    """

    recipe: ChainRecipe
    seed: int
    sample: DeviceSample
    evaluation: DeviceSample | None
    steps: AnyArray
    given: tuple[AnyArray, ...] | None = None


@dataclass(frozen=True, slots=True)
class DeviceTrees:
    """Trees of chains on the device, see `Trees`.

    Attributes
    ----------
    feature, threshold, parent, value : device arrays of shape (chains, trees, ...)
    """

    feature: LibraryObject
    threshold: LibraryObject
    parent: LibraryObject
    value: LibraryObject

    @classmethod
    def of(cls, backend: Backend, shape: Shape, chains: Sequence[Chain]) -> Self:
        """Allocate the trees of chains; those that are given are there already."""
        size = (len(chains), shape.trees)
        feature: AnyArray = np.zeros((*size, shape.splits), dtype=np.uint16)
        threshold: AnyArray = np.full((*size, shape.splits), _NO_SPLIT, dtype=np.uint8)
        parent: AnyArray = np.full((*size, shape.splits if shape.max_leaves else 0), _NO_LEAF, dtype=np.uint8)
        value_shape = (*size, shape.leaves, shape.outputs)
        if not shape.given:
            value = backend.zeros(value_shape, np.float32)
            return cls(backend.put(feature), backend.put(threshold), backend.put(parent), value)
        arrays = feature, threshold, parent, np.zeros(value_shape, dtype=np.float32)
        for number, chain in enumerate(chains):
            if chain.given is not None:
                for own, given in zip(arrays, chain.given, strict=True):
                    own[number, : len(given)] = given
        return cls(*map(backend.put, arrays))


@dataclass(slots=True)
class EvaluationArrays:
    """Losses and scores of the evaluation rows of one chain, on the device; None without such rows."""

    losses: LibraryObject | None = None
    scores: LibraryObject | None = None


class MemberBuilder:
    """Allocates the arrays of chains and fills their structures.

    Parameters
    ----------
    backend : Backend
    shape : Shape
        Of the largest chain; all have the same outputs, depth and trees.
    plan : Plan
    """

    def __init__(self, backend: Backend, shape: Shape, plan: Plan) -> None:
        """Store the arguments."""
        self.backend = backend
        self.shape = shape
        self.plan = plan
        self.arena = Arena(backend)
        self._known: dict[tuple[float, ...], int] = {}  # addresses of constants, which chains share

    def build(self, chain: Chain, trees: DeviceTrees, number: int) -> tuple[Record, EvaluationArrays]:
        """Return the structure of the chain with a number among those of ``trees``, and its evaluation arrays."""
        fields: dict[str, Any] = {**chain.sample.fields, **_numbers(chain, self.shape)}
        fields.update({**self._state(chain), **self._sample(chain), **self._of_tree(chain)})
        for name in ("feature", "threshold", "value"):
            fields[name] = self.backend.pointer(getattr(trees, name)[number])
        _alias_sample(fields)
        evaluation = EvaluationArrays()
        if chain.evaluation is not None:
            self._add_evaluation(chain.evaluation, evaluation, fields)
        return record("Member", **fields), evaluation

    def build_growth(self, chain: Chain, trees: DeviceTrees, number: int) -> Record:
        """Return the structure of the growing leaf-wise tree of a chain."""
        shape, zeros = self.shape, self.arena.zeros
        nodes, (stride, _) = 2 * shape.leaves - 1, sample_stride(chain)
        fields = {
            "nodes": zeros(nodes * structure("Node").itemsize, np.uint8),
            "best": zeros(nodes, np.uint64),
            "divided": zeros(shape.splits, np.int32),
            "listed": zeros((2, stride), np.uint32),
            "parent": self.backend.pointer(trees.parent[number]),
        }
        if chain.recipe.interactions:
            fields["paths"] = zeros((nodes, shape.group_words), np.uint32)
        if shape.keeps_sums:
            fields["sums"] = zeros((chain.sample.columns, shape.splits, shape.planes, shape.cells), np.uint32)
        if any(chain.recipe.monotone):
            fields["boxes"] = zeros((shape.splits, shape.leaves, 2), np.int16)
            fields["pairs"] = zeros((shape.most_pairs, 2), np.int16)
            fields["push"] = zeros(shape.most_pairs, np.float64)
        return record("Growth", **fields)

    def _constants(self, numbers: tuple[float, ...]) -> int:
        """Return the address of some constants."""
        if numbers not in self._known:
            self._known[numbers] = self.arena.put(np.array(numbers, dtype=np.float32))
        return self._known[numbers]

    def _state(self, chain: Chain) -> dict[str, int]:
        stride, outputs, zeros = padded(chain.sample.rows), self.shape.outputs, self.arena.zeros
        state = {
            "steps": self.arena.put(chain.steps),
            "start": self._constants(tuple(chain.recipe.start)),
            "constants": self._constants(tuple(chain.recipe.constants) or (0.0,)),
            "scores": zeros((outputs, stride), np.float32),
            "gradients": zeros((outputs, stride), np.float32),
            "leaf": zeros(stride, np.uint8),
        }
        if self.shape.guards_variance:
            state["leave_one_out"] = zeros(stride, np.float32)
        if self.shape.keeps_own_gradients:
            state["own_gradient"] = zeros(stride, np.float32)
        if self.shape.subsamples:
            state["drawn_weight"] = zeros(stride, np.float32)
            state["drawn_integer_weight"] = zeros(stride, np.int32)
        if any(chain.recipe.monotone):
            state["monotone"] = self.arena.put(np.array(chain.recipe.monotone, dtype=np.int32))
            state["gradient_noise"] = zeros(stride, np.float32)
            state["leaf_changes"] = zeros((3, self.shape.leaves), np.float32)
        if chain.recipe.interactions:
            state["groups"] = self.arena.put(group_masks(chain.recipe, chain.sample.columns, self.shape.group_words))
        return state

    def _sample(self, chain: Chain) -> dict[str, int]:
        stride, samples = sample_stride(chain)
        arrays = {
            "integers": self.arena.zeros((4 if self.shape.packs else self.shape.outputs, stride), np.int8),
            "sample_leaf": self.arena.zeros((2, stride), np.uint8),
        }
        if samples:
            arrays["sample_bins"] = self.arena.zeros((chain.sample.columns, stride), np.uint8)
            if not self.shape.packs and (self.shape.subsamples or "integer_weight" in chain.sample.fields):
                arrays["sample_weight"] = self.arena.zeros(stride, np.int32)
        return arrays

    def _of_tree(self, chain: Chain) -> dict[str, int]:
        shape, zeros = self.shape, self.arena.zeros
        arrays = {
            "drawn": zeros(1, np.uint64),
            "largest": zeros((2, shape.outputs), np.int32),
            "squares": zeros(shape.outputs, np.int64),
            "best": zeros(shape.depth, np.uint64),
            "arrived": zeros(chain.sample.columns + 2, np.uint32),
            "sums": zeros((2, shape.leaves, shape.sum_lanes), np.int64),
            "leaf_steps": zeros((shape.outputs, shape.leaves), np.float32),
            "leaf_totals": zeros((shape.leaves, 2), np.float32),
            "own_values": zeros(1, np.int32),
        }
        columns, leaf = chain.sample.columns, (shape.planes, shape.cells)
        if self.plan.row_tiles > 1:
            arrays["histograms"] = zeros((columns, shape.shared_leaves, *leaf), np.uint32)
        if self.plan.subtracts:
            arrays["parents"] = zeros((2, columns, max(shape.leaves // 4, 1), *leaf), np.uint32)
            arrays["right_is_lighter"] = zeros((2, columns, shape.leaves // 2), np.uint8)
        return arrays

    def _add_evaluation(self, rows: DeviceSample, arrays: EvaluationArrays, fields: dict[str, Any]) -> None:
        stride = padded(rows.rows)
        arrays.losses = self.backend.zeros(self.shape.trees, np.float64)
        arrays.scores = self.backend.zeros((self.shape.outputs, stride), np.float32)
        fields.update(
            rows.fields,
            losses=self.backend.pointer(arrays.losses),
            evaluation_scores=self.backend.pointer(arrays.scores),
            block_losses=self.arena.zeros(max(stride // BLOCK, 1), np.float64),
            evaluation_rows=rows.rows,
            evaluation_stride=stride,
            evaluation_total_weight=rows.weights.total,
        )


def sample_stride(chain: Chain) -> tuple[int, bool]:
    """Return the padded number of rows that choose the splits, at most, and whether they are a sample."""
    rows = max_rows(chain.recipe, chain.sample.rows)
    return padded(rows), structure_share(chain.recipe, chain.sample.rows) < 1.0


def group_masks(recipe: ChainRecipe, columns: int, words: int) -> AnyArray:
    """Return the groups of interacting columns that each column is in, as bits, shape (columns, words)."""
    masks = np.zeros((columns, words), dtype=np.uint32)
    for number, group in enumerate(recipe.interactions):
        for column in group:
            masks[column, number // 32] |= np.uint32(1 << number % 32)
    return masks


def table_of(name: str, records: list[Record]) -> AnyArray:
    """Return structures with a name as an array."""
    table = np.zeros(len(records), structure(name))
    for position, one in enumerate(records):
        table[position] = one
    return table


def _alias_sample(fields: dict[str, Any]) -> None:
    """Let the sample that chooses the splits be the rows themselves where all rows do."""
    if fields["samples_structure"]:
        return
    fields["sample_bins"] = fields["bins"]
    weight = fields.get("drawn_integer_weight") or fields.get("integer_weight")
    if weight:
        fields["sample_weight"] = weight


def _numbers(chain: Chain, shape: Shape) -> dict[str, Any]:
    """Return the fields of ``Member`` that are numbers."""
    recipe, sample = chain.recipe, chain.sample
    stride, samples = sample_stride(chain)
    share = structure_share(recipe, sample.rows)
    spare_bits = sample.weights.spare_bits
    in_groups = len({column for group in recipe.interactions for column in group})
    return {
        "seed": chain.seed,
        "rows": sample.rows,
        "stride": padded(sample.rows),
        "sample_stride": stride,
        "sample_capacity": max_rows(recipe, sample.rows),
        "learning_rate": recipe.learning_rate,
        "l2": recipe.l2,
        "rows_for_noise": sample.weights.total * share * recipe.subsample,
        "column_share": recipe.column_share,
        "step_rate": recipe.learning_rate,
        "split_l2": recipe.l2 * share,
        "weight_unit": sample.weights.unit,
        "weight_scale": fixed_point(sample.weights.largest, spare_bits),
        "largest_weight": sample.weights.largest,
        "largest_level": largest_level(recipe, sample.rows),
        "noise": recipe.noise,
        "variance_guard": recipe.variance_guard,
        "neighbour_share": recipe.subsample,
        "draw_limit": draw_limit(recipe.subsample),
        "structure_limit": draw_limit(share),
        "subsamples": shape.subsamples,
        "samples_structure": samples,
        "spare_bits": spare_bits,
        "noise_bits": sample.weights.unused_bits,
        "columns": sample.columns,
        "usable_columns": in_groups if recipe.interactions else sample.columns,
        "least_weight": min_integer_weight(recipe, sample.weights),
    }
