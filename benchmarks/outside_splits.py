"""Splits of published comparisons, as row numbers: standard, shuffled, gap and tail."""

import numpy as np
from sklearn.model_selection import ShuffleSplit, train_test_split

from epiboost.datasets import MissingDataError, Table, load

SHUFFLES, HELD_OUT_SHARE = 20, 0.1
CLASSIFICATION_SPLITS, CLASSIFICATION_SHARE = 3, 0.2
CATEGORICAL = {"boston": (3,)}  # whether the tract is at the river; the other columns of the gap tables are numbers

Rows = np.ndarray
RowSplit = tuple[Rows, Rows]


def table(name: str) -> Table:
    """Load a dataset, or end with a message of one line."""
    try:
        return load(name)
    except MissingDataError as error:
        raise SystemExit(str(error)) from error


def standard(name: str) -> list[RowSplit]:
    """Return the standard splits of a regression dataset."""
    return list(table(name).splits)


def shuffled(name: str) -> list[RowSplit]:
    """Return the splits of Brophy and Lowd: 20 random tenths of the rows, in the order of the file."""
    splitter = ShuffleSplit(SHUFFLES, test_size=HELD_OUT_SHARE, random_state=1)
    return list(splitter.split(table(name).X))


def gaps(name: str) -> list[RowSplit]:
    """Return one split per continuous feature: the middle third of its order is held out."""
    n = len(table(name).y)
    return _split_by_order(name, np.arange(n // 3, 2 * n // 3))


def tails(name: str) -> list[RowSplit]:
    """Return one split per continuous feature: the outer sixths of its order are held out."""
    n = len(table(name).y)
    return _split_by_order(name, np.r_[: -(-n // 6), 5 * n // 6 : n])


def stratified(name: str) -> list[RowSplit]:
    """Return random splits of a classification dataset, four to one."""
    y = table(name).y
    rows = np.arange(len(y))
    return [
        tuple(train_test_split(rows, test_size=CLASSIFICATION_SHARE, stratify=y, random_state=seed))
        for seed in range(CLASSIFICATION_SPLITS)
    ]


def hold_out(rows: Rows, seed: int) -> RowSplit:
    """Split rows at random, nine to one."""
    kept, held_out = train_test_split(rows, test_size=HELD_OUT_SHARE, random_state=seed)
    return kept, held_out


def _split_by_order(name: str, places: Rows) -> list[RowSplit]:
    """Return one split per continuous feature; rows at the given places of its order are test rows."""
    X = table(name).X
    features = [feature for feature in range(X.shape[1]) if feature not in CATEGORICAL.get(name, ())]
    orders = [np.argsort(X[:, feature], kind="stable") for feature in features]
    return [(np.sort(np.delete(order, places)), order[places]) for order in orders]
