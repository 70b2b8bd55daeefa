"""Checks the target statistics of CatBoost's binary model.

A table of target statistics is a hash table: it must have an empty bucket, because CatBoost looks for a category until
it finds one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from epiboost._files.requirements import require_facts
from epiboost.engines.model_files.flatbuffer import Number, Table, Vector
from epiboost.engines.model_files.trees import require

_FLOAT_SPLIT = np.dtype([("Index", "<i4"), ("Border", "<f4")])
_ONE_HOT_SPLIT = np.dtype([("Index", "<i4"), ("Value", "<i4")])
_BUCKET = np.dtype([("Hash", "<u8"), ("Index", "<u4")])

_COMBINATION = Table(
    {"CatFeatures": Vector("<i4"), "FloatSplits": Vector(_FLOAT_SPLIT), "OneHotSplits": Vector(_ONE_HOT_SPLIT)}
)
CTR_BASE = Table(
    {"FeatureCombination": _COMBINATION, "CtrType": Number("i1"), "TargetBorderClassifierIdx": Number("<i4")}
)
VALUE_TABLE = Table(
    {
        "ModelCtrBase": CTR_BASE,
        "IndexHashRaw": Vector("u1"),
        "CTRBlob": Vector("u1"),
        "CounterDenominator": Number("<i4"),
        "TargetClassesCount": Number("<i4"),
    }
)

_MAX_COMBINATION = 64  # columns and splits; CatBoost copies them for each border
_BORDERS, _BUCKETS, _COUNTER, _FREQUENCY = 0, 1, 4, 5  # types of target statistics; the two between are means
_EMPTY = 2**64 - 1  # hash of an empty bucket


def check_statistics(trees: Mapping[str, Any], tables: Sequence[Mapping[str, Any]]) -> None:
    """Check the target statistics, and that every one which a column is encoded by is there."""
    known: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    values = {one["Index"]: set(one["Values"].tolist()) for one in trees["OneHotFeatures"]}
    for table in tables:
        _check_combination(table["ModelCtrBase"], trees, values)
        _check_buckets(table)
        known[_key(table["ModelCtrBase"])] = table
    require(len(known) == len(tables), "target statistics must be different")
    for feature in trees["CtrFeatures"]:
        require(feature["Ctr"] is not None, "a target statistic must be described")
        _check_combination(feature["Ctr"]["Base"], trees, values)
        found = known.get(_key(feature["Ctr"]["Base"]))
        if found is None:
            message = "a column is encoded by a target statistic that is missing"
            raise ValueError(message)
        numbers = [feature["Ctr"][name] for name in ("PriorNum", "PriorDenom", "Shift", "Scale")]
        require(bool(np.isfinite(numbers).all()), "numbers of a target statistic must be finite")
        n_classes = _n_counts(found) if found["ModelCtrBase"]["CtrType"] in {_BORDERS, _BUCKETS} else 1
        require(0 <= feature["Ctr"]["TargetBorderIdx"] < n_classes, "a target statistic must be of a class")


def _check_combination(
    base: Mapping[str, Any] | None, trees: Mapping[str, Any], values: Mapping[int, set[int]]
) -> None:
    """Check the columns and splits that a target statistic combines."""
    combination = None if base is None else base["FeatureCombination"]
    if base is None or combination is None:
        message = "a target statistic must be of a combination of columns"
        raise ValueError(message)
    columns, categories, numeric = combination["CatFeatures"].tolist(), trees["CatFeatures"], trees["FloatFeatures"]
    floats, one_hot = combination["FloatSplits"], combination["OneHotSplits"]
    facts = {
        "the kind of a target statistic must be known": _BORDERS <= base["CtrType"] <= _FREQUENCY,
        "a combination is too long": len(columns) + len(floats) + len(one_hot) <= _MAX_COMBINATION,
        "a combination must be of categorical columns": all(
            0 <= column < len(categories) and categories[column]["UsedInModel"] == 1 for column in columns
        ),
        "a combination must be of borders of columns": all(
            0 <= split["Index"] < len(numeric) and split["Border"] in numeric[split["Index"]]["Borders"]
            for split in floats
        ),
        "a combination must be of values of columns": all(
            int(split["Value"]) in values.get(int(split["Index"]), set()) for split in one_hot
        ),
    }
    require_facts(facts)


def _check_buckets(table: Mapping[str, Any]) -> None:
    """Check the hash table of a target statistic, and that its values are there."""
    raw, blob, kind = table["IndexHashRaw"], table["CTRBlob"], table["ModelCtrBase"]["CtrType"]
    n_buckets, rest = divmod(len(raw), _BUCKET.itemsize)
    require(not rest and n_buckets > 0 and n_buckets & (n_buckets - 1) == 0, "a hash table must have 2^k buckets")
    buckets = raw.view(_BUCKET)
    filled = buckets["Hash"] != _EMPTY
    require(not filled.all(), "a hash table must have an empty bucket")
    if kind in {_BORDERS, _BUCKETS}:
        require(_n_counts(table) > 1, "a target statistic must be of at least two classes")
        size = 4 * _n_counts(table)
    else:
        size = 4 if kind in {_COUNTER, _FREQUENCY} else 8  # a count, or a sum and a count
    require(len(blob) % size == 0, "a target statistic must have a value per category")
    require(bool((buckets["Index"][filled] < len(blob) // size).all()), "a category must have a target statistic")


def _n_counts(table: Mapping[str, Any]) -> int:
    """Return how many counts there are per category."""
    return int(table["TargetClassesCount"])


def _key(base: Mapping[str, Any]) -> tuple[Any, ...]:
    combination = base["FeatureCombination"]
    names = ("CatFeatures", "FloatSplits", "OneHotSplits")
    return base["CtrType"], base["TargetBorderClassifierIdx"], *(combination[name].tobytes() for name in names)
