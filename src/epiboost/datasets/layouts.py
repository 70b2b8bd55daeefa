"""Readers of the paper's datasets, one per file layout.

Numbers that are identifiers (of wheel types, buyers, advertisements) are read as text, because they are categories.
"""

import csv
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from io import TextIOWrapper

import numpy as np

from epiboost._optional import require
from epiboost._typing import Floats, Integers, LibraryObject
from epiboost.datasets.registry import data_folder, path_of
from epiboost.datasets.table import Table

UCI = {
    "boston": "bostonHousing",
    "concrete": "concrete",
    "energy": "energy",
    "kin8nm": "kin8nm",
    "naval": "naval-propulsion-plant",
    "power": "power-plant",
    "protein": "protein-tertiary-structure",
    "wine": "wine-quality-red",
    "yacht": "yacht",
}
YEAR_TRAIN_ROWS, YEAR_ROWS = 463_715, 515_345
KDD_CATEGORIES = 190  # the first text column of the small Orange table is Var191
_KICK_CODES = ("WheelTypeID", "BYRNO", "VNZIP1", "IsOnlineSale")
_CLICK_NUMBERS = ("impression", "depth", "position")
_FIRST_DAY = "2009-01-01"
_YEAR, _SONGS, SLICES = "msd/YearPredictionMSD.txt", "msd/timbre_4680x90.csv", "ct/slice_localization_data.csv"

Frame = LibraryObject


def uci(name: str) -> Table:
    """Read a UCI regression dataset with its standard splits."""
    folder = f"uci/{UCI[name]}"
    table = np.loadtxt(path_of(f"{folder}/data.txt"), ndmin=2)
    features = _integers(f"{folder}/index_features.txt")
    target = int(_integers(f"{folder}/index_target.txt")[0])
    n_splits = int(_integers(f"{folder}/n_splits.txt")[0])
    splits = tuple(
        (_integers(f"{folder}/index_train_{i}.txt"), _integers(f"{folder}/index_test_{i}.txt")) for i in range(n_splits)
    )
    return Table(name, "regression", table[:, features], table[:, target], splits)


def year(name: str) -> Table:
    """Read Year MSD: the year, then ninety numbers; the last tenth of the rows are test rows."""
    table = np.loadtxt(path_of(_YEAR), delimiter=",", ndmin=2)
    n_train = YEAR_TRAIN_ROWS if len(table) == YEAR_ROWS else len(table) * 9 // 10
    rows = np.arange(len(table))
    return Table(name, "regression", table[:, 1:], table[:, 0], ((rows[:n_train], rows[n_train:]),))


def adult(name: str) -> Table:
    """Read the census incomes; there is no standard split of the paper's sizes."""
    pandas = _pandas()
    parts = [
        pandas.read_csv(path_of(f"adult/adult.{part}"), skipinitialspace=True, keep_default_na=False)
        for part in ("data", "test")
    ]
    table = pandas.concat(parts, ignore_index=True)
    label = table.pop("classification").str.rstrip(".") == ">50K"
    return Table(name, "classification", table, label.to_numpy().astype(np.int64), ())


def amazon(name: str) -> Table:
    """Read the resource accesses of employees; all columns are categories."""
    table = _pandas().read_csv(path_of("amazon/train.csv"), dtype=str)
    label = table.pop("ACTION").to_numpy().astype(np.int64)
    return Table(name, "classification", table, label, _standard_split(name))


def internet(name: str) -> Table:
    """Read the survey of internet usage, an ARFF file; all columns are categories."""
    lines = path_of("internet/kdd_internet_usage.arff").read_text(encoding="utf-8").splitlines()
    begin = next(number for number, line in enumerate(lines) if line.strip().lower() == "@data") + 1
    names = [line.split()[1] for line in lines[:begin] if line.lower().startswith("@attribute")]
    rows = list(csv.reader(line for line in lines[begin:] if line.strip()))
    table = _pandas().DataFrame(rows, columns=names)
    label = (table.pop("Who_Pays_for_Access_Work") == "0").to_numpy().astype(np.int64)
    return Table(name, "classification", table, label, _standard_split(name))


def kick(name: str) -> Table:
    """Read the cars bought at auctions; the date of purchase becomes a number of days."""
    pandas = _pandas()
    with zipfile.ZipFile(path_of("kick/training.zip")) as archive, archive.open("training.csv") as file:
        table = pandas.read_csv(TextIOWrapper(file, encoding="utf-8"), dtype=dict.fromkeys(_KICK_CODES, str))
    table = table.drop(columns="RefId")
    days = pandas.to_datetime(table["PurchDate"], format="%m/%d/%Y") - pandas.Timestamp(_FIRST_DAY)
    table["PurchDate"] = days.dt.days
    label = table.pop("IsBadBuy").to_numpy().astype(np.int64)
    return Table(name, "classification", _name_missing_categories(table), label, _standard_split(name))


def click(name: str) -> Table:
    """Read the clicks on advertisements: three numeric columns, the others are categorical."""
    pandas = _pandas()
    path = path_of("click/click_prediction_399482.csv")
    names = pandas.read_csv(path, nrows=0).columns
    codes = {column: str for column in names if column not in {"click", *_CLICK_NUMBERS}}
    table = pandas.read_csv(path, dtype=codes)
    label = table.pop("click").to_numpy().astype(np.int64)
    return Table(name, "classification", _name_missing_categories(table), label, ())


def kdd2009(name: str) -> Table:
    """Read the customers of Orange: 190 numeric columns, 40 of text, and a separate file of labels -1 and 1."""
    pandas = _pandas()
    path = path_of("kdd2009/orange_small_train.data")
    names = list(pandas.read_csv(path, sep="\t", nrows=0).columns)
    text = dict.fromkeys(names[KDD_CATEGORIES:], str)
    table = pandas.read_csv(path, sep="\t", dtype=text)
    table = table.dropna(axis="columns", how="all")
    label = np.loadtxt(path_of(f"kdd2009/orange_small_train_{name}.labels")) > 0
    return Table(name, "classification", _name_missing_categories(table), label.astype(np.int64), _standard_split(name))


def songs() -> Floats:
    """Return the songs from which out-of-domain rows are drawn: the year and ninety numbers.

    They come from the complete Year MSD file if it is available, else from a file of 4680 songs.
    """
    file = songs_file()
    return np.loadtxt(path_of(file), delimiter=",", skiprows=int(file == _SONGS), ndmin=2)


def songs_file() -> str:
    """Return the file that `songs` reads: Year MSD, unless only the file of 4680 songs is available."""
    folder = data_folder()
    return _SONGS if (folder / _SONGS).is_file() and not (folder / _YEAR).is_file() else _YEAR


def slices() -> Floats:
    """Return the CT slices from which out-of-domain rows of wide tables are drawn, without constant columns."""
    table = np.loadtxt(path_of(SLICES), delimiter=",", skiprows=1, ndmin=2)[:, 1:]
    return table[:, table.std(axis=0) > 0]


LAYOUTS: dict[str, Callable[[str], Table]] = {
    **dict.fromkeys(UCI, uci),
    "year": year,
    "adult": adult,
    "amazon": amazon,
    "click": click,
    "internet": internet,
    **dict.fromkeys(("appetency", "churn", "upselling"), kdd2009),
    "kick": kick,
}


def load(name: str) -> Table:
    """Load a dataset of the paper; its files are downloaded if they are missing.

    Parameters
    ----------
    name : str
        For regression: boston, concrete, energy, kin8nm, naval, power, protein, wine, yacht or year. For
        classification: adult, amazon, appetency, churn, click, internet, kick or upselling.

    Returns
    -------
    Table
        Features, target and standard splits. Files are read once. Arrays are read-only; a frame is a copy.

    Raises
    ------
    MissingDataError
        If a file is missing and cannot be downloaded; the error says where it comes from and where to put it.
    DamagedDataError
        If a file has the wrong checksum.

    Notes
    -----
    Files are stored in the folder that the environment variable ``EPIBOOST_DATA`` names, or else in the user's cache.
    """
    if name not in LAYOUTS:
        message = f"there is no dataset {name!r}; choose from {', '.join(sorted(LAYOUTS))}"
        raise ValueError(message)
    table = _read(name, str(data_folder()))
    return table if isinstance(table.X, np.ndarray) else replace(table, X=table.X.copy())


@cache
def _read(name: str, _folder: str) -> Table:
    """Read a dataset once per folder; arrays are made read-only, because later callers get the same ones."""
    table = LAYOUTS[name](name)
    for array in (table.X, table.y, *(rows for split in table.splits for rows in split)):
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return table


def _standard_split(name: str) -> tuple[tuple[Integers, Integers], ...]:
    return ((_integers(f"splits/{name}_train_idx.txt"), _integers(f"splits/{name}_test_idx.txt")),)


def _integers(file: str) -> Integers:
    integers: Integers = np.loadtxt(path_of(file), ndmin=1).astype(np.int64)
    return integers


def _name_missing_categories(table: Frame) -> Frame:
    """Return a frame with the category "missing" for missing categories; missing numbers stay missing."""
    text = table.select_dtypes(object).columns
    return table.assign(**{name: table[name].fillna("missing") for name in text})


def _pandas() -> LibraryObject:
    return require("pandas", extra="paper", purpose="reading datasets with categories")
