"""XGBoost's binary model is refused where XGBoost would trust it."""

import numpy as np
import pytest

from epiboost.engines.model_files.ubjson import decode
from epiboost.engines.model_files.xgboost import check_bytes
from fuzz.forgeries import encode_ubjson
from tests.support.library_models import library_model

LEARNER = ("learner", "learner_model_param")
BOOSTER = ("learner", "gradient_booster", "model")
CHANGES = {
    "left_children": [(0, 0, "one node"), (0, 99, "nodes of their tree"), (0, -2, "nodes of their tree")],
    "right_children": [(0, 99, "nodes of their tree"), (-1, 1, "must not have a child")],
    "parents": [(1, 1, "parents"), (0, 1, "parents")],
    "split_indices": [(0, 3, "columns of the table"), (0, -1, "columns of the table")],
    "split_type": [(0, 2, "kinds of splits"), (-1, 1, "by categories")],
    "default_left": [(0, 7, "kinds of splits")],
    "split_conditions": [(-1, np.nan, "finite")],
    "categories": [(0, 2**31 - 1, "codes of their column"), (0, -1, "codes of their column")],
    "categories_sizes": [(0, 2**40, "follow one another"), (0, -1, "follow one another")],
    "categories_segments": [(0, 5, "follow one another")],
    "categories_nodes": [(0, 77, "by categories")],
}


def changed(keys, value):
    content, shape = library_model("xgboost")
    model = part = decode(content)
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = value
    return encode_ubjson(model), shape


def first_tree_with_categories():
    model = decode(library_model("xgboost")[0])
    trees = model["learner"]["gradient_booster"]["model"]["trees"]
    number = next(number for number, tree in enumerate(trees) if len(tree["categories"]))
    return number, trees[number]


def test_bytes_as_they_were_saved_pass():
    content, shape = library_model("xgboost")
    check_bytes(content, shape)
    check_bytes(encode_ubjson(decode(content)), shape)


@pytest.mark.parametrize(
    ("name", "place", "value", "fault"), [(name, *change) for name in CHANGES for change in CHANGES[name]]
)
def test_a_changed_array_of_a_tree_is_refused(name, place, value, fault):
    number, tree = first_tree_with_categories()
    array = tree[name].copy()
    array[place] = value
    with pytest.raises(ValueError, match=fault):
        check_bytes(*changed((*BOOSTER, "trees", number, name), array))


@pytest.mark.parametrize("name", sorted(set(CHANGES) - {"categories"}))
def test_an_array_of_another_length_or_type_is_refused(name):
    number, tree = first_tree_with_categories()
    for array in (tree[name][:-1], tree[name].astype(np.float64)):
        with pytest.raises(ValueError, match=r"one value per node|follow one another|by categories|size of its arrays"):
            check_bytes(*changed((*BOOSTER, "trees", number, name), array))


@pytest.mark.parametrize(
    ("keys", "value", "fault"),
    [
        ((*BOOSTER, "trees", 0, "tree_param", "num_nodes"), "2000000000", "size of its arrays"),
        ((*BOOSTER, "trees", 0, "tree_param", "size_leaf_vector"), "1000000", "one value per node"),
        ((*BOOSTER, "trees", 0, "id"), 5, "numbered"),
        ((*BOOSTER, "trees", 0, "extra"), 5, "it must hold"),
        ((*BOOSTER, "gbtree_model_param", "num_trees"), "2000000000", "number of trees"),
        ((*BOOSTER, "tree_info"), [7] * 8, "alternate"),
        ((*BOOSTER, "tree_info"), "text", "whole"),
        ((*BOOSTER, "iteration_indptr"), [0, 8], "one tree per output"),
        ((*LEARNER, "num_feature"), "4000000000", "3 columns"),
        ((*LEARNER, "num_target"), "4000000000", "2 outputs"),
        ((*LEARNER, "num_class"), "1000000000", "no classes"),
        ((*LEARNER, "base_score"), "[" + "0E0," * 1000 + "0E0]", "start at zero"),
        (("learner", "objective", "name"), "rank:ndcg", "objective"),
        (("learner", "attributes"), {"best_iteration": "7"}, "attributes"),
        (("learner", "gradient_booster", "name"), "dart", "gbtree"),
        (("learner", "feature_types"), ["int"] * 3, "types of the header"),
        (("version",), [3], "version"),
    ],
)
def test_a_changed_parameter_is_refused(keys, value, fault):
    with pytest.raises(ValueError, match=fault):
        check_bytes(*changed(keys, value))


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "too early"),
        (b"{", "too early"),
        (b"{}", "must hold"),
        (b"{}{}", "2 bytes follow"),
        (b"[#L" + b"\x7f" * 8, "bytes are left"),
        (b"[$d#L" + bytes(7) + b"\x01ZZ", "too early"),
        (b"[" * 100, "without a size"),
        (b"[#L" + bytes(7) + b"\x01" + (b"[#L" + bytes(7) + b"\x01") * 50 + b"Z" * 100, "nested too deeply"),
        (b"[$S#L" + bytes(8), "array of the type 'S'"),
        (b"N", "type 'N'"),
        (b"{" + (b"L" + bytes(7) + b"\x01ai\x01") * 2 + b"}", "'a' twice"),
    ],
)
def test_bytes_that_xgboost_does_not_write_are_refused(content, fault):
    with pytest.raises(ValueError, match=fault):
        check_bytes(content, library_model("xgboost")[1])
