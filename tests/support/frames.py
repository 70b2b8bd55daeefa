"""Frames of pandas, polars and Arrow, and small frames with text columns."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": lambda columns: pa.table(dict(columns))}
"""For each library, a function that makes a frame of a dictionary of columns."""

every_library = pytest.mark.parametrize("library", FRAMES)


def named_columns(X, names="abcdefgh"):
    """Return the columns of an array by name."""
    return {name: X[:, place] for place, name in zip(range(X.shape[1]), names, strict=False)}


def house_frame(n_samples=400, *, seed=0):
    """Return a pandas frame of sizes, ages and towns, and prices, which depend on the size alone."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": random.normal(size=n_samples),
            "age": random.normal(size=n_samples),
            "town": random.choice(["a", "b"], n_samples),
        }
    )
    return frame, frame["size"].to_numpy() + 0.3 * random.normal(size=n_samples)
