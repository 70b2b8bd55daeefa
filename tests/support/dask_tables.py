"""Tables in Dask partitions. Tests that import this are skipped without Dask."""

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

NAMES = ["a", "b", "c"]


def quadratic_frame(n_samples):
    """Return a pandas frame of three columns, and a target that depends on the square of the second."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(n_samples, 3)), columns=NAMES)
    return X, X["a"] + X["b"] ** 2 + 0.3 * random.normal(size=n_samples)


def frame_with_missing(n_samples):
    """Return such a frame with missing values and an index that is not the row number."""
    X, y = (part.set_axis(np.arange(n_samples) * 2) for part in quadratic_frame(n_samples))
    X.loc[X["b"] > 1.5, "c"] = np.nan
    return X, y


def in_partitions(table, parts=4):
    """Return a table and its target as a Dask frame and a Dask series."""
    X, y = table
    frame = dd.from_pandas(X.assign(y=y), npartitions=parts)
    return frame[NAMES], frame["y"]


def in_chunks(table, rows=250, columns=2):
    """Return a table and its target as Dask arrays."""
    X, y = table
    return da.from_array(X.to_numpy(), chunks=(rows, columns)), da.from_array(y.to_numpy(), chunks=rows)


def lazy_grades(y):
    """Return the label "low", "middle" or "high" for each number of a Dask series, as a Dask series."""
    return y.map_partitions(lambda part: pd.cut(part, [-9, 0, 1, 99], labels=["low", "middle", "high"]).astype(object))
