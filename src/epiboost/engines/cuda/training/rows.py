"""Weights of training rows as integers, and numbers that depend on them: the twin of ``training/context.hpp``.

>>> round_weights(np.array([1.0, 2.0], dtype=np.float32)).integer.tolist()
[1, 2]
"""

import math
from dataclasses import dataclass

import numpy as np

from epiboost._typing import AnyArray, Floats32
from epiboost.engines.native.chain_recipe import ChainRecipe

_MAX_LEVEL = np.float32(126.0)
_MAX_DRAWS = 64.0
_MANY_TIMES = np.float32(1024.0)
_PART = 1 << 20


@dataclass(frozen=True, slots=True)
class RowWeights:
    """Weights of rows.

    Attributes
    ----------
    integer : int32 array of shape (n,)
        Multiples of the unit.
    unit, largest, smallest : float
    total : float
        Sum of the weights, in the order of the rows.
    draws : int32 array of shape (n,)
        How often each row is drawn by subsampling.
    """

    integer: AnyArray
    unit: float
    largest: float
    smallest: float
    total: float

    @property
    def total_integer(self) -> int:
        """Sum of the integer weights."""
        return int(self.integer.sum(dtype=np.int64))

    @property
    def unused_bits(self) -> int:
        """Bits that a sum of 30 bits of each row leaves unused, of 63."""
        return max(0, 32 - len(self.integer).bit_length())

    @property
    def spare_bits(self) -> int:
        """Bits beyond 30 that leaf sums may use: one row may be so heavy that 30 bits leave none for others."""
        is_level = np.float32(self.largest) < _MANY_TIMES * np.float32(max(1.0, self.smallest))
        return 0 if is_level else self.unused_bits


def total_weight(weight: Floats32) -> float:
    """Return the sum of weights in double precision, one after the other."""
    total = 0.0
    for first in range(0, len(weight), _PART):
        part = weight[first : first + _PART].astype(np.float64)
        part[0] += total
        total = float(np.add.accumulate(part)[-1])
    return total


def round_weights(weight: Floats32) -> RowWeights:
    """Round weights to integers whose sum fits 31 bits; weights that are small integers stay as they are."""
    largest, total = float(weight.max()), total_weight(weight)
    unit = 1.0
    if total >= 2.0**30 or not bool((weight == np.floor(weight)).all()):
        unit = max(largest * 2.0**-20, total * 2.0**-30)
    quotient = weight.astype(np.float64) / unit
    whole = np.trunc(quotient)
    rounded = whole + (quotient - whole >= 0.5)  # noqa: PLR2004 (half away from zero, as C++ rounds)
    integer = np.maximum(rounded, 1.0).astype(np.int32)
    return RowWeights(integer, float(np.float32(unit)), largest, float(weight.min()), total)


def count_draws(weight: Floats32) -> AnyArray:
    """Return how often each row is drawn by subsampling: a row of weight w counts as w rows."""
    return np.clip(np.ceil(weight), 1.0, _MAX_DRAWS).astype(np.int32)


def neighbour_weight(same_as_before: AnyArray, weight: Floats32) -> Floats32 | None:
    """Return the weight of the other rows with the same bins; None if no row has any.

    Parameters
    ----------
    same_as_before : array of shape (n,)
        Whether each row has the bins of the row before it.
    weight : array of shape (n,)
    """
    cell = np.cumsum(same_as_before == 0) - 1
    sums = np.bincount(cell, weight.astype(np.float64))
    others = (sums[cell] - np.minimum(weight, np.float32(1.0))).astype(np.float32)
    return others if (others > 0.0).any() else None


def structure_share(recipe: ChainRecipe, rows: int) -> float:
    """Return the share of the rows that choose the splits."""
    return min(1.0, recipe.structure_rows / rows) if recipe.structure_rows > 0 else 1.0


def max_rows(recipe: ChainRecipe, rows: int) -> int:
    """Return an upper bound of the number of rows that choose the splits of a tree.

    >>> from types import SimpleNamespace
    >>> max_rows(SimpleNamespace(structure_rows=100.0), 10_000)
    284
    """
    share = structure_share(recipe, rows)
    if share >= 1.0:
        return rows
    drawn = share * rows
    return int(drawn + 12.0 * math.sqrt(drawn) + 64.0)


def largest_level(recipe: ChainRecipe, rows: int) -> float:
    """Return the size of the integer gradients, whose sums must fit 31 bits."""
    return float(min(_MAX_LEVEL, np.floor(np.float32(2.0**30) / np.float32(max_rows(recipe, rows)))))


def max_integer_weight(recipe: ChainRecipe, weights: RowWeights) -> int:
    """Return an upper bound of the integer weights in a histogram."""
    rows = len(weights.integer)
    if structure_share(recipe, rows) >= 1.0:
        return weights.total_integer
    return max_rows(recipe, rows) * int(weights.integer.max())


def min_integer_weight(recipe: ChainRecipe, weights: RowWeights) -> int:
    """Return the least weight of a leaf, of the rows that choose the splits."""
    if recipe.min_leaf_weight <= 0.0:
        return 0
    wanted = recipe.min_leaf_weight * structure_share(recipe, len(weights.integer)) / weights.unit
    return math.floor(wanted + 0.5)


def fixed_point(largest: float, spare_bits: int) -> float:
    """Return the power of two that takes numbers up to ``largest`` below 2 to the 30 + spare bits.

    >>> fixed_point(1.0, 0) == 2.0**29
    True
    """
    if not largest > 0.0:
        return 1.0
    exponent = max(math.frexp(largest)[1] - 1, -127)
    return math.ldexp(1.0, min(29 + spare_bits - exponent, 120))


def draw_limit(probability: float) -> int:
    """Return the number below which 32 random bits are with the given probability."""
    return int(min(probability * 2.0**32, 4294967295.0))
