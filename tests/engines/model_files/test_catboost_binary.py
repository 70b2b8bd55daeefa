"""CatBoost's binary model is refused where CatBoost would trust it."""

import numpy as np
import pytest

from epiboost.engines.model_files.catboost import MODEL, check_bytes
from epiboost.engines.model_files.catboost_statistics import VALUE_TABLE
from epiboost.engines.model_files.flatbuffer import decode
from epiboost.engines.model_files.trees import ModelShape
from tests.support.library_models import library_model, replace_array


def parts():
    """Return the bytes, the trees and the first table of target statistics."""
    content, shape = library_model("catboost")
    size = int.from_bytes(content[4:8], "little")
    begin = 8 + size + 4
    first = content[begin + 4 : begin + 4 + int.from_bytes(content[begin : begin + 4], "little")]
    return content, shape, decode(content[8 : 8 + size], MODEL)["ModelTrees"], decode(first, VALUE_TABLE)


def test_bytes_as_they_were_saved_pass():
    content, shape, trees, table = parts()
    assert len(trees["CtrFeatures"]) > 0
    assert len(table["IndexHashRaw"]) > 0
    check_bytes(content, shape)


@pytest.mark.parametrize(
    ("name", "place", "value", "fault"),
    [
        ("TreeSplits", 0, 10**6, "columns of the table"),
        ("TreeSplits", -1, -1, "columns of the table"),
        ("TreeSplits", 0, 0, "those of the trees"),
        ("TreeSizes", 0, 31, "at most 16 levels"),
        ("TreeSizes", 0, -1, "at most 16 levels"),
        ("TreeSizes", 0, 1, "follow one another"),
        ("TreeStartOffsets", 1, 10**6, "follow one another"),
        ("LeafValues", 0, np.nan, "finite"),
        ("LeafValues", -1, np.inf, "finite"),
        ("RepackedBins", 0, (60_000, 0, 1), "those of the trees"),
    ],
)
def test_a_changed_array_of_the_trees_is_refused(name, place, value, fault):
    content, shape, trees, _ = parts()
    with pytest.raises(ValueError, match=fault):
        check_bytes(replace_array(content, trees[name], place, value), shape)


def test_a_hash_table_without_an_empty_bucket_is_refused():
    content, shape, _, table = parts()
    full = content.replace(b"\xff" * 8, b"\x01" * 8)
    with pytest.raises(ValueError, match="must have an empty bucket"):
        check_bytes(full, shape)
    assert len(table["IndexHashRaw"]) % 12 == 0


def test_a_category_without_a_target_statistic_is_refused():
    content, shape, _, table = parts()
    buckets = table["IndexHashRaw"].view([("Hash", "<u8"), ("Index", "<u4")])
    filled = int(np.flatnonzero(buckets["Hash"] != 2**64 - 1)[0])
    with pytest.raises(ValueError, match="must have a target statistic"):
        check_bytes(replace_array(content, buckets, filled, (buckets["Hash"][filled], 10**6)), shape)


@pytest.mark.parametrize(
    ("n_codes", "n_outputs", "fault"),
    [
        ((0, 0, 7), 3, "3 outputs"),
        ((0, 0, 0), 2, "3 numeric columns"),
        ((0, 0, 7, 7), 2, "2 categorical columns"),
    ],
)
def test_a_model_of_another_shape_is_refused(n_codes, n_outputs, fault):
    with pytest.raises(ValueError, match=fault):
        check_bytes(library_model("catboost")[0], ModelShape(n_codes, n_outputs))


def test_bytes_that_end_too_early_or_go_on_are_refused():
    content, shape, _, _ = parts()
    for cut in [*range(40), len(content) // 2, len(content) - 1]:
        with pytest.raises(ValueError, match=r".{10}"):
            check_bytes(content[:cut], shape)
    for more in (b"\x00", bytes(4), b"\xff" * 8):
        with pytest.raises(ValueError, match=r".{10}"):
            check_bytes(content + more, shape)


def test_any_changed_word_passes_or_is_a_value_error():
    content, shape, _, _ = parts()
    refused = 0
    for place in range(0, len(content) - 4, 4):
        word = content[:place] + b"\xff\xff\xff\x7f" + content[place + 4 :]
        try:
            check_bytes(word, shape)
        except ValueError:
            refused += 1
    assert refused > len(content) // 4 // 3
