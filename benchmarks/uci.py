"""The nine regression tables of the paper with their standard splits, read from the folder that EPIBOOST_DATA names."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FOLDERS = {
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


@dataclass(frozen=True, slots=True)
class Split:
    """One standard split of one table."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def splits(name: str, count: int) -> Iterator[Split]:
    """Yield the first standard splits of a table."""
    folder = _data_folder() / "uci" / FOLDERS[name]
    table = np.loadtxt(folder / "data.txt")
    features = np.loadtxt(folder / "index_features.txt").astype(int)
    target = int(np.loadtxt(folder / "index_target.txt"))
    for number in range(count):
        train = np.loadtxt(folder / f"index_train_{number}.txt").astype(int)
        test = np.loadtxt(folder / f"index_test_{number}.txt").astype(int)
        yield Split(table[train][:, features], table[train, target], table[test][:, features], table[test, target])


def _data_folder() -> Path:
    folder = os.environ.get("EPIBOOST_DATA")
    if not folder or not (Path(folder) / "uci").is_dir():
        message = f"EPIBOOST_DATA must name a folder that holds uci/; it is {folder!r}"
        raise SystemExit(message)
    return Path(folder)
