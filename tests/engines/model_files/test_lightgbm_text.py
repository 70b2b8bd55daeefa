"""LightGBM's text model is refused where LightGBM would trust it."""

import re

import pytest

from epiboost.engines.model_files.lightgbm import check_text
from tests.support.library_models import library_model

TREE = r"(?s)Tree=\d+\n.*?\n\n\n"


def edited(pattern, replacement):
    """Return the text with one change, and with the sizes of its trees as they are then."""
    text, _ = library_model("lightgbm")
    text = text.decode()
    changed = re.sub(pattern, replacement, text, count=1, flags=re.MULTILINE)
    assert changed != text
    sizes = " ".join(str(len(tree)) for tree in re.findall(TREE, changed))
    return re.sub(r"tree_sizes=[\d ]+", f"tree_sizes={sizes}", changed)


def test_a_text_as_it_was_saved_passes():
    content, shape = library_model("lightgbm")
    assert b"parameters:" not in content
    check_text(content.decode(), shape)


@pytest.mark.parametrize(
    ("pattern", "replacement", "fault"),
    [
        ("^left_child=-?\\d+", "left_child=0", "the child of one node"),
        ("^left_child=-?\\d+", "left_child=99", "children must be nodes"),
        ("^right_child=-?\\d+", "right_child=-99", "children must be nodes"),
        ("^right_child=-?\\d+ ", "right_child=", "right_child must hold one number per node"),
        ("^split_feature=\\d", "split_feature=3", "features must be columns"),
        ("^split_feature=\\d", "split_feature=-1", "features must be columns"),
        ("^split_feature=\\d", "split_feature=1.5", "split_feature must hold numbers"),
        ("^num_leaves=\\d", "num_leaves=2000000000", "one number per node"),
        ("^num_leaves=\\d", "num_leaves=0", "trees must have leaves"),
        ("^num_cat=\\d", "num_cat=-1", "trees must have leaves"),
        ("^num_cat=\\d", "num_cat=7", "must follow one another"),
        ("^cat_boundaries=0", "cat_boundaries=1", "must follow one another"),
        ("^cat_threshold=\\d+", "cat_threshold=9999999999", "words of 32 bits"),
        ("^cat_threshold=.*\n", "", "other lines"),
        ("^threshold=[^ ]+", "threshold=77", "by categories must have them"),
        ("^decision_type=\\d+", "decision_type=16", "types of decisions"),
        ("^leaf_value=[^ ]+", "leaf_value=nan", "leaf_value must hold numbers"),
        ("^leaf_value=[^ ]+", "leaf_value=1 ", "leaf_value must hold"),
        ("^split_gain=[^ ]+", "split_gain=x", "split_gain must hold numbers"),
        ("^is_linear=0", "is_linear=1", "constants"),
        ("^Tree=1", "Tree=2", "tree 1 is not at its place"),
        ("^max_feature_idx=2", "max_feature_idx=2000000", "last column"),
        ("^num_class=2", "num_class=3", "3 outputs"),
        ("^feature_names=Column_0", "feature_names=a", "names"),
        ("^version=v4", "version=v9", "header"),
        ("^label_index=0\n", "label_index=0\nobjective=custom\n", "header"),
        ("end of trees\n", "end of trees\n\nparameters:\n[data: /etc/passwd]\n", "followed by their end"),
    ],
)
def test_a_changed_text_is_refused(pattern, replacement, fault):
    _, shape = library_model("lightgbm")
    with pytest.raises(ValueError, match=fault):
        check_text(edited(pattern, replacement), shape)


def test_sizes_of_trees_must_be_those_of_the_text():
    content, shape = library_model("lightgbm")
    text = re.sub(r"tree_sizes=\d+", "tree_sizes=9" + "9" * 30, content.decode())
    with pytest.raises(ValueError, match="larger than the text"):
        check_text(text, shape)
