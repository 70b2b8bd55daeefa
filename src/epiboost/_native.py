"""The native core, in the build for the best instruction set of this machine.

There is one module per instruction set. All are compiled from the same sources (``src/native``) and compute the same
bits. The environment variable ``EPIBOOST_INSTRUCTIONS`` (``portable``, ``avx2`` or ``avx512``) overrides the choice.
A wheel has all modules, an install from source for this machine alone may have one; ``_processor``, a module of its
own, tells what the processor can do.

>>> instruction_set() in available_instruction_sets()
True
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, cast

from epiboost import _processor
from epiboost._typing import AnyArray, Bytes, Floats, Floats32, Integers

# Every build has its own copy of these classes. For type checkers, those of the portable build stand for all of them.
if TYPE_CHECKING:
    import epiboost._native_portable as portable
    from epiboost._native_portable import (
        CategoryEncoder,
        ChainRecipe,
        ClassRecalibration,
        KeyIndex,
        NormalRecalibration,
        Predictor,
        Sample,
    )
else:
    CategoryEncoder = ChainRecipe = ClassRecalibration = KeyIndex = NormalRecalibration = Predictor = Sample = object

__all__ = [
    "VARIABLE",
    "CategoryEncoder",
    "ChainRecipe",
    "ClassRecalibration",
    "KeyIndex",
    "NativeModule",
    "NormalRecalibration",
    "Predictor",
    "Sample",
    "available_instruction_sets",
    "family_code",
    "instruction_set",
    "native",
]

VARIABLE = "EPIBOOST_INSTRUCTIONS"


class NativeModule(Protocol):
    """What every build has; see ``_native_portable.pyi`` for the types and shapes of the arrays."""

    CategoryEncoder: type[CategoryEncoder]
    ChainRecipe: type[ChainRecipe]
    ClassRecalibration: type[ClassRecalibration]
    KeyIndex: type[KeyIndex]
    NormalRecalibration: type[NormalRecalibration]
    Predictor: type[Predictor]
    Sample: type[Sample]

    FIRST_FAMILY: int

    def family_names(self) -> list[str]:
        """Return the names of the families of distributions, whose codes follow each other from `FIRST_FAMILY`."""

    def find_borders(self, table: AnyArray, weights: Floats, max_bins: int, threads: int) -> list[Floats]:
        """Return the borders of each column; empty ``weights`` mean that all rows weigh the same."""

    def bin_table(self, table: AnyArray, borders: Floats, offsets: Integers, threads: int) -> Bytes:
        """Return the bins of a table."""

    def nearest_rows(
        self, queries: Floats32, reference: Floats32, weight: Floats32, groups: Integers, threads: int = 1
    ) -> tuple[Floats32, Integers]:
        """Return the distance of each query to the nearest reference row, and the position of that row.

        Queries have the shape (n, columns), reference rows (columns, m). The weight of a column is 0 for numbers,
        otherwise the distance between two categories. With groups, the queries are the reference rows, and rows of the
        same group are left out; without, groups are empty.
        """

    def nearest_values(self, queries: Floats32, values: Floats32, offsets: Integers) -> Floats32:
        """Return the distance of each number to the nearest value of its column, shape (n, columns).

        The ascending values of column j are ``values[offsets[j] : offsets[j + 1]]``. The distance is infinite if there
        are none, NaN for a missing number.
        """

    def count_values(self, queries: Floats32, values: Floats32, offsets: Integers) -> AnyArray:
        """Return how many values of its column are at least as large as each number, shape (n, columns)."""

    def hash_rows(self, bins: Bytes, threads: int = 1) -> AnyArray:
        """Return a hash of each row; equal rows have equal hashes."""

    def hash_numbers(self, table: AnyArray, more: Floats, threads: int) -> AnyArray:
        """Return a hash of each row of a table of numbers and of further columns; equal rows have equal hashes."""

    def column_ranges(self, table: AnyArray, threads: int) -> tuple[Floats, Floats, Bytes]:
        """Return the smallest and the largest number of each column, and whether values are missing.

        A column without any number has infinity as its smallest, and minus infinity as its largest.
        """

    def ordered_means(
        self,
        category: Integers,
        target: Floats,
        weight: Floats,
        order: Integers,
        *,
        categories: int,
        prior: float,
        strength: float,
    ) -> Floats:
        """Return the mean target of each row's category over the rows that precede it in the order."""

    def train(
        self,
        samples: Sequence[Sequence[portable.Sample]],
        evaluations: Sequence[Sequence[portable.Sample]],
        recipes: Sequence[portable.ChainRecipe],
        seeds: Sequence[AnyArray],
        *,
        threads: int,
        progress: Callable[[int], None],
        losses: bool = False,
        round_trees: int = 2**31 - 1,
        round_done: Callable[[int, list[tuple[int, AnyArray]]], bool] | None = None,
        given: tuple[AnyArray, AnyArray, Bytes, Floats32] | None = None,
    ) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray, AnyArray, Floats]:
        """Train one chain per seed; return features, thresholds, parents, leaf values, tree counts and losses.

        Chains begin with the trees that are given, as features, thresholds, parents and leaf values.
        """

    def langevin_noise(self, seed: int, tree: int, keys: AnyArray, output: int) -> Floats32:
        """Return standard Normal noise, one number per key."""

    def tree_shapley_values(  # noqa: PLR0917 (the arrays of trees)
        self,
        feature: AnyArray,
        threshold: Bytes,
        parent: Bytes,
        leaf: Floats,
        player: AnyArray,
        rows: Bytes,
        background: Bytes,
        threads: int,
        values: Floats,
    ) -> float:
        """Write the Shapley values of a sum of trees; return the mean of the sum over the background rows.

        Trees have the shape (trees, splits), bins (columns, rows), values (rows, players).
        """

    def recalibrate_normal(
        self, settings: portable.NormalRecalibration, parameters: Floats, threads: int, changed: Floats
    ) -> None:
        """Write recalibrated Normal parameters, shape (members, n, 2)."""

    def recalibrated_normal_variance(
        self, settings: portable.NormalRecalibration, parameters: Floats, threads: int
    ) -> tuple[Floats, Floats]:
        """Return the data and the knowledge uncertainty of each row of Normal parameters after recalibration."""

    def split_normal_variance(self, parameters: Floats, threads: int) -> tuple[Floats, Floats]:
        """Return the data and the knowledge uncertainty of each row of Normal parameters."""

    def recalibrate_classes(
        self, settings: portable.ClassRecalibration, parameters: Floats, threads: int, changed: Floats
    ) -> None:
        """Write recalibrated class probabilities, shape (members, n, classes)."""

    def recalibrated_class_entropy(
        self, settings: portable.ClassRecalibration, parameters: Floats, threads: int
    ) -> tuple[Floats, Floats]:
        """Return the data and the knowledge uncertainty of each row of class probabilities after recalibration."""

    def split_class_entropy(self, parameters: Floats, threads: int) -> tuple[Floats, Floats]:
        """Return the data and the knowledge uncertainty of each row of class probabilities."""


def available_instruction_sets() -> tuple[str, ...]:
    """Return the instruction sets that can be used on this machine and have a module, best first."""
    return tuple(name for name in _processor.instruction_sets() if importlib.util.find_spec(f"epiboost._native_{name}"))


def instruction_set() -> str:
    """Return the instruction set in use."""
    available = available_instruction_sets()
    if not available:
        message = "this install was compiled for another processor; install a wheel, or install again from source"
        raise ImportError(message)
    chosen = os.environ.get(VARIABLE) or available[0]
    if chosen not in available:
        message = f"{VARIABLE} is {chosen!r}; on this machine this install has {', '.join(available)}"
        raise ValueError(message)
    return chosen


@functools.cache
def native() -> NativeModule:
    """Return the native module of the instruction set in use, which is chosen at the first call."""
    return cast("NativeModule", importlib.import_module(f"epiboost._native_{instruction_set()}"))


@functools.cache
def family_code(name: str) -> int:
    """Return the number of a family of distributions in the native core; a ValueError if it has none of that name.

    >>> family_code(native().family_names()[0]) == native().FIRST_FAMILY
    True
    """
    names = native().family_names()
    if name not in names:
        message = (
            f"the native core has no formulas of the family {name!r}; use engine='lightgbm' or engine='xgboost', which "
            "take those of Python, or add them in src/native/families"
        )
        raise ValueError(message)
    return native().FIRST_FAMILY + names.index(name)


if TYPE_CHECKING:
    _module_type: NativeModule = portable  # the generated stub agrees with the protocol
