"""Odd targets and weights by name: functions of the number of rows and a random generator."""

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from epiboost._typing import Column
from fuzz.odd_columns import Random


def _halves(n: int, first: object, second: object) -> list[object]:
    return [first if place % 2 else second for place in range(n)]


NUMBERS: dict[str, Callable[[int, Random], Column]] = {
    "plain": lambda n, random: random.normal(size=n),
    "whole": lambda n, random: random.integers(-5, 5, size=n),
    "flags": lambda n, random: random.integers(2, size=n).astype(bool),
    "constant": lambda n, random: np.full(n, random.choice([0.0, 1e200, -1e-200, 5e-324, 1e308])),
    "huge": lambda n, random: random.normal(size=n) * random.choice([1e100, 1e150, 1e160, 1e307]),
    "tiny": lambda n, random: random.normal(size=n) * random.choice([1e-100, 1e-150, 1e-160, 5e-324]),
    "far": lambda n, random: random.choice([1e16, 1e300, -1e307]) + random.normal(size=n),
    "outlier": lambda n, random: np.append(random.normal(size=max(n - 1, 0)), 1e150)[:n],
    "missing": lambda n, random: np.where(random.uniform(size=n) < 0.1, np.nan, 1.0),
    "infinite": lambda n, random: np.where(random.uniform(size=n) < 0.1, np.inf, 1.0),
    "text": lambda n, _: _halves(n, "1.5", "2"),
    "words": lambda n, _: _halves(n, "a", "b"),
    "objects": lambda n, _: np.array(_halves(n, 1.5, 2), dtype=object),
    "decimals": lambda n, _: _halves(n, Decimal("1.5"), Decimal(2)),
    "beyond double": lambda n, _: _halves(n, 10**400, 1),
    "None": lambda n, _: _halves(n, None, 1.0),
    "complex": lambda n, _: np.array(_halves(n, 1j, 2.0)),
    "dates": lambda n, _: pd.Series(pd.to_datetime(_halves(n, "2024-01-01", "2024-01-02"))),
    "one column": lambda n, random: random.normal(size=(n, 1)),
    "two columns": lambda n, random: random.normal(size=(n, 2)),
    "too long": lambda n, random: random.normal(size=n + 1),
    "indexed": lambda n, random: pd.Series(random.normal(size=n), index=random.permutation(n)),
    "Int64": lambda n, _: pd.Series(_halves(n, 1, 2), dtype="Int64"),
    "NA": lambda n, _: pd.Series(_halves(n, 1, pd.NA), dtype="Float64"),
    "polars": lambda n, random: pl.Series(random.normal(size=n)),
    "arrow": lambda n, random: pa.chunked_array([random.normal(size=n)]),
    "frame": lambda n, random: pd.DataFrame({"y": random.normal(size=n)}),
    "nothing": lambda _, __: None,
}
LABELS: dict[str, Callable[[int, Random], Column]] = {
    "plain": lambda n, random: random.integers(2, size=n),
    "three": lambda n, random: random.choice(["low", "middle", "high"], size=n),
    "flags": lambda n, random: random.integers(2, size=n).astype(bool),
    "one class": lambda n, _: ["same"] * n,
    "all different": lambda n, _: list(range(n)),
    "rare": lambda n, _: np.append(np.zeros(max(n - 1, 0), dtype=int), 1)[:n],
    "floats": lambda n, _: _halves(n, 0.0, 1.0),
    "fractions": lambda n, _: _halves(n, 0.5, 1.5),
    "large": lambda n, _: _halves(n, 2**62, -(2**62)),
    "mixed": lambda n, _: np.array(_halves(n, "a", 1), dtype=object),
    "objects": lambda n, _: np.array(_halves(n, "a", "b"), dtype=object),
    "empty text": lambda n, _: _halves(n, "", " "),
    "unicode": lambda n, _: _halves(n, "é", "e\u0301"),
    "bytes": lambda n, _: _halves(n, b"a", b"b"),
    "tuples": lambda n, _: _halves(n, (1, 2), (3, 4)),
    "None": lambda n, _: _halves(n, None, "a"),
    "NaN": lambda n, _: np.array(_halves(n, np.nan, 1.0)),
    "NA": lambda n, _: pd.Series(_halves(n, pd.NA, "a"), dtype="string"),
    "beyond double": lambda n, _: _halves(n, 10**400, 1),
    "categories": lambda n, _: pd.Series(pd.Categorical(_halves(n, "a", "b"), ["c", "b", "a"])),
    "nullable": lambda n, _: pd.Series(_halves(n, 1, 0), dtype="boolean"),
    "dates": lambda n, _: pd.Series(pd.to_datetime(_halves(n, "2024-01-01", "2024-01-02"))),
    "polars": lambda n, _: pl.Series(_halves(n, "a", "b"), dtype=pl.Categorical),
    "arrow": lambda n, _: pa.chunked_array([pa.array(_halves(n, "a", "b"), pa.string()).dictionary_encode()]),
    "two columns": lambda n, random: random.integers(2, size=(n, 2)),
    "too long": lambda n, random: random.integers(2, size=n + 1),
}
WEIGHTS: dict[str, Callable[[int, Random], Column]] = {
    "none": lambda _, __: None,
    "some zero": lambda n, random: random.integers(2, size=n),
    "all zero": lambda n, _: np.zeros(n),
    "negative": lambda n, _: np.full(n, -1.0),
    "missing": lambda n, _: np.full(n, np.nan),
    "huge": lambda n, random: 10.0 ** random.uniform(0, 20, size=n),
    "tiny": lambda n, random: 10.0 ** random.uniform(-320, 0, size=n),
    "text": lambda n, _: ["1"] * n,
    "series": lambda n, _: pd.Series(np.ones(n)),
    "one number": lambda _, __: 2.0,
    "too long": lambda n, _: np.ones(n + 1),
    "beyond double": lambda n, _: [10**400] * n,
    "None": lambda n, _: [None] * n,
}
