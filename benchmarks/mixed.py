"""The paper's classification tables that hold categories, read from the folder that EPIBOOST_DATA names.

Amazon, internet and kick have standard splits; adult is split four to one, stratified. So are the training rows, for
choosing a learning rate.
"""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

NAMES = ("adult", "amazon", "internet", "kick")
_KICK_CODES = ("WheelTypeID", "BYRNO", "VNZIP1", "IsOnlineSale")  # numbers that only name things


@dataclass(frozen=True, slots=True)
class Mixed:
    """One table with its split; columns of text are categories, all others are numbers."""

    name: str
    X_train: pd.DataFrame
    y_train: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray

    @property
    def categories(self) -> list[str]:
        """Names of the columns that hold categories."""
        return [name for name, dtype in self.X_train.dtypes.items() if dtype.kind == "O"]

    def validation(self) -> "Mixed":
        """Return the training rows split four to one."""
        train, test = _four_to_one(self.y_train)
        X, y = self.X_train, self.y_train
        return Mixed(self.name, X.iloc[train], y[train], X.iloc[test], y[test])

    def __str__(self) -> str:
        """Say what the table is and how large."""
        return f"{self.name} ({len(self.y_train):,} × {self.X_train.shape[1]}, {len(self.categories)} of categories)"


@cache
def load(name: str) -> Mixed:
    """Read one of the tables."""
    X, y = {"adult": _adult, "amazon": _amazon, "internet": _internet, "kick": _kick}[name]()
    if name == "adult":
        train, test = _four_to_one(y)
    else:
        train, test = (_indices(name, part) for part in ("train", "test"))
    X = X.reset_index(drop=True)
    return Mixed(name, X.iloc[train], y[train], X.iloc[test], y[test])


def is_there() -> bool:
    """Say whether the tables can be read."""
    return (Path(os.environ.get("EPIBOOST_DATA", "")) / "amazon" / "train.csv").is_file()


def _adult() -> tuple[pd.DataFrame, np.ndarray]:
    parts = [
        pd.read_csv(_folder() / "adult" / f"adult.{part}", skipinitialspace=True, keep_default_na=False)
        for part in ("data", "test")
    ]
    table = pd.concat(parts)
    label = table.pop("classification").str.rstrip(".") == ">50K"
    return table, label.to_numpy().astype(int)


def _amazon() -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_csv(_folder() / "amazon" / "train.csv", dtype=str)
    return table, table.pop("ACTION").to_numpy().astype(int)


def _internet() -> tuple[pd.DataFrame, np.ndarray]:
    lines = (_folder() / "internet" / "kdd_internet_usage.arff").read_text(encoding="utf-8").splitlines()
    begin = lines.index("@data") + 1
    names = [line.split()[1] for line in lines[:begin] if line.startswith("@attribute")]
    rows = [line.split(",") for line in lines[begin:] if line]
    table = pd.DataFrame(rows, columns=names)
    return table, (table.pop("Who_Pays_for_Access_Work") == "0").to_numpy().astype(int)


def _kick() -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_csv(_folder() / "kick" / "training.zip", dtype=dict.fromkeys(_KICK_CODES, str))
    table = table.drop(columns="RefId")
    table["PurchDate"] = (pd.to_datetime(table["PurchDate"], format="%m/%d/%Y") - pd.Timestamp("2009-01-01")).dt.days
    text = table.select_dtypes(object).columns
    table[text] = table[text].fillna("missing")  # CatBoost takes no missing categories
    return table, table.pop("IsBadBuy").to_numpy()


def _indices(name: str, part: str) -> np.ndarray:
    return np.loadtxt(_folder() / "splits" / f"{name}_{part}_idx.txt").astype(int)


def _four_to_one(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
    return train, test


def _folder() -> Path:
    return Path(os.environ["EPIBOOST_DATA"])
