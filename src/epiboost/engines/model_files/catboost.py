"""Checks CatBoost's binary model: a flatbuffer with the trees, then one flatbuffer per table of target statistics.

Symmetric trees split on "binary features", which are numbered in this order: borders of the numeric columns, values of
one-hot columns, and borders of target statistics, which `catboost_statistics` checks.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from epiboost._files.requirements import require_facts
from epiboost._typing import AnyArray
from epiboost.engines.model_files.catboost_statistics import CTR_BASE, VALUE_TABLE, check_statistics
from epiboost.engines.model_files.flatbuffer import Many, Number, Table, Text, Vector, decode
from epiboost.engines.model_files.trees import ModelShape, require

_POSITION = {"Index": Number("<i4", -1), "FlatIndex": Number("<i4", -1)}
_REPACKED = np.dtype([("FeatureIndex", "<u2"), ("XorMask", "u1"), ("SplitIdx", "u1")])

_FLOAT_FEATURE = Table(
    {
        "HasNans": Number("u1"),
        **_POSITION,
        "Borders": Vector("<f4"),
        "FeatureId": Text(),
        "NanValueTreatment": Number("i1"),
    }
)
_CAT_FEATURE = Table({**_POSITION, "FeatureId": Text(), "UsedInModel": Number("u1", 1)})
_ONE_HOT_FEATURE = Table({"Index": Number("<i4", -1), "Values": Vector("<i4"), "StringValues": Many(Text())})
_CTR = Table(
    {
        "Base": CTR_BASE,
        "TargetBorderIdx": Number("<i4"),
        "PriorNum": Number("<f4"),
        "PriorDenom": Number("<f4", 1),
        "Shift": Number("<f4"),
        "Scale": Number("<f4", 1),
    }
)
_CTR_FEATURE = Table({"Ctr": _CTR, "Borders": Vector("<f4")})
_NOT_SUPPORTED = Vector("u1")  # checked to be empty: the size of what they hold does not matter
_TREES = Table(
    {
        "ApproxDimension": Number("<i4"),
        "TreeSplits": Vector("<i4"),
        "TreeSizes": Vector("<i4"),
        "TreeStartOffsets": Vector("<i4"),
        "CatFeatures": Many(_CAT_FEATURE),
        "FloatFeatures": Many(_FLOAT_FEATURE),
        "OneHotFeatures": Many(_ONE_HOT_FEATURE),
        "CtrFeatures": Many(_CTR_FEATURE),
        "LeafValues": Vector("<f8"),
        "LeafWeights": Vector("<f8"),
        "NonSymmetricStepNodes": _NOT_SUPPORTED,
        "NonSymmetricNodeIdToLeafId": _NOT_SUPPORTED,
        "TextFeatures": _NOT_SUPPORTED,
        "EstimatedFeatures": _NOT_SUPPORTED,
        "Scale": Number("<f8", 1),
        "Bias": Number("<f8"),
        "MultiBias": Vector("<f8"),
        "RepackedBins": Vector(_REPACKED),
        "EmbeddingFeatures": _NOT_SUPPORTED,
    }
)
MODEL = Table({"FormatVersion": Text(), "ModelTrees": _TREES, "InfoMap": _NOT_SUPPORTED, "ModelPartIds": Many(Text())})
_MAGIC = b"CBM1"
_SIZE = struct.Struct("<I")
_MAX_DEPTH = 16  # CatBoost's limit
_PER_BIN = 254  # values that one byte of CatBoost's bins holds
_MAX_BINS = 0xFFFF
_ONE_HOT = 0xFF  # mark of a split on a one-hot column


def check_bytes(content: bytes, shape: ModelShape) -> None:
    """Raise a ValueError unless the bytes are a model as `CatBoostForest.to_file` stores it, with valid trees."""
    parts = list(_parts(content))
    model = decode(parts[0], MODEL)
    trees = model["ModelTrees"]
    facts = {
        "it must be of the format FlabuffersModel_v1": model["FormatVersion"] == "FlabuffersModel_v1",
        "it must not have metadata": not len(model["InfoMap"]),
        "it must hold trees": trees is not None,
        "it must hold target statistics where it says so": model["ModelPartIds"] in ([], ["static_provider_v1"])
        and (len(parts) > 1) == bool(model["ModelPartIds"]),
    }
    require_facts(facts)
    n_bins = _check_features(trees, shape)
    _check_trees(trees, shape, n_bins)
    if len(parts) > 1:
        count = parts[1]
        tables = [decode(part, VALUE_TABLE) for part in parts[2:]]
        require(_SIZE.unpack(count)[0] == len(tables), "it must hold as many target statistics as it says")
    else:
        tables = []
    check_statistics(trees, tables)


def _parts(content: bytes) -> Iterator[bytes]:
    """Yield the flatbuffer of the model, the number of target statistics if it has any, and their flatbuffers."""
    require(content[: len(_MAGIC)] == _MAGIC, "it does not begin as a model of CatBoost")
    part, position = _sized(content, len(_MAGIC))
    yield part
    if position == len(content):
        return
    require(position + _SIZE.size <= len(content), "it ends too early")
    yield content[position : position + _SIZE.size]
    position += _SIZE.size
    while position < len(content):
        part, position = _sized(content, position)
        yield part


def _sized(content: bytes, position: int) -> tuple[bytes, int]:
    """Return bytes that follow their number, and the position after them."""
    begin = position + _SIZE.size
    require(begin <= len(content), "it ends too early")
    end = begin + _SIZE.unpack_from(content, position)[0]
    require(end <= len(content), "it ends too early")
    return content[begin:end], end


def _check_features(trees: Mapping[str, Any], shape: ModelShape) -> list[tuple[int, bool]]:
    """Check the columns, and return the number of binary features of each, and whether it is one-hot."""
    numeric, categories = trees["FloatFeatures"], trees["CatFeatures"]
    n_categories = sum(count > 0 for count in shape.n_codes)
    n_numeric = shape.n_features - n_categories
    facts = {
        f"it must have {n_numeric} numeric columns, numbered": _positions(numeric)
        == [(number, number) for number in range(n_numeric)],
        f"it must have {n_categories} categorical columns, numbered": _positions(categories)
        == [(number, n_numeric + number) for number in range(n_categories)],
        "borders must ascend": all(_ascend(feature["Borders"]) for feature in (*numeric, *trees["CtrFeatures"])),
        "the place of missing values must be known": all(0 <= feature["NanValueTreatment"] <= 2 for feature in numeric),  # noqa: PLR2004 (as is, below or above)
        "a one-hot column must be categorical": all(
            0 <= feature["Index"] < n_categories and categories[feature["Index"]]["UsedInModel"] == 1
            for feature in trees["OneHotFeatures"]
        ),
        "a one-hot column must have as many names as values": all(
            len(feature["StringValues"]) in {0, len(feature["Values"])} for feature in trees["OneHotFeatures"]
        ),
        "a model must not have text or embeddings": not any(
            len(trees[name]) for name in ("TextFeatures", "EstimatedFeatures", "EmbeddingFeatures")
        ),
    }
    require_facts(facts)
    return [
        *((len(feature["Borders"]), False) for feature in numeric),
        *((len(feature["Values"]), True) for feature in trees["OneHotFeatures"]),
        *((len(feature["Borders"]), False) for feature in trees["CtrFeatures"]),
    ]


def _check_trees(trees: Mapping[str, Any], shape: ModelShape, n_bins: Sequence[tuple[int, bool]]) -> None:
    sizes, splits = trees["TreeSizes"].astype(np.int64), trees["TreeSplits"].astype(np.int64)
    require(bool(((sizes >= 0) & (sizes <= _MAX_DEPTH)).all()), f"a tree must have at most {_MAX_DEPTH} levels")
    n_leaves, repacked = int((1 << sizes).sum()), _repacked_bins(n_bins)
    facts = {
        f"it must have {shape.n_outputs} outputs": trees["ApproxDimension"] == shape.n_outputs,
        "it must have trees": len(sizes) > 0,
        "trees must be symmetric": not any(
            len(trees[name]) for name in ("NonSymmetricStepNodes", "NonSymmetricNodeIdToLeafId")
        ),
        "trees must follow one another": np.array_equal(trees["TreeStartOffsets"], np.cumsum(sizes) - sizes)
        and len(splits) == int(sizes.sum()),
        "splits must be on columns of the table": bool(((splits >= 0) & (splits < len(repacked))).all()),
        "a tree must have a value for every leaf": len(trees["LeafValues"]) == n_leaves * shape.n_outputs
        and len(trees["LeafWeights"]) == n_leaves,
        "leaf values must be finite": bool(np.isfinite(trees["LeafValues"]).all()),
        "scale and bias must be finite": bool(np.isfinite([trees["Scale"], trees["Bias"], *trees["MultiBias"]]).all()),
        "it must have one bias per output": len(trees["MultiBias"]) in {0, shape.n_outputs},
    }
    require_facts(facts)
    require(np.array_equal(trees["RepackedBins"], repacked[splits]), "splits must be those of the trees")


def _repacked_bins(n_bins: Sequence[tuple[int, bool]]) -> AnyArray:
    """Return where CatBoost finds each binary feature in its table of bins."""
    parts, first = [np.empty(0, dtype=_REPACKED)], 0
    for count, is_one_hot in n_bins:
        place = np.arange(count)
        part = np.zeros(count, dtype=_REPACKED)
        value = place % _PER_BIN + 1
        require(first + count // _PER_BIN <= _MAX_BINS, "it has too many columns")
        part["FeatureIndex"] = first + place // _PER_BIN
        part["XorMask"] = _ONE_HOT - value if is_one_hot else 0
        part["SplitIdx"] = _ONE_HOT if is_one_hot else value
        parts.append(part)
        first += -(-count // _PER_BIN)
    return np.concatenate(parts)


def _positions(features: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    return [(feature["Index"], feature["FlatIndex"]) for feature in features]


def _ascend(borders: AnyArray) -> bool:
    return bool((borders[1:] > borders[:-1]).all()) and not np.isnan(borders).any()
