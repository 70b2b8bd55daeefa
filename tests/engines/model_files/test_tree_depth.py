"""Every node of a tree is reached once from its root."""

import numpy as np
import pytest

from epiboost.engines.model_files.trees import tree_depth

LEFT, RIGHT = [1, -1, 3, -1, -1, -1], [2, -1, 4, -1, -1, -1]  # a tree of two levels and a single leaf
ROOTS = [0, 5]


def depth(left=LEFT, right=RIGHT, roots=ROOTS):
    left, right, roots = (np.array(part, dtype=np.int64) for part in (left, right, roots))
    return tree_depth(left, right, roots, is_leaf=left < 0)


def test_the_depth_is_that_of_the_deepest_tree():
    assert depth() == 2


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"left": [6, -1, 3, -1, -1, -1]}, "children must be nodes"),
        ({"right": [-2, -1, 4, -1, -1, -1]}, "children must be nodes"),
        ({"roots": [0, 6]}, "children must be nodes"),
        ({"roots": [0, 0]}, "the child of one node"),
        ({"roots": [0]}, "the child of one node"),
        ({"right": [1, -1, 4, -1, -1, -1]}, "the child of one node"),
        ({"left": [0, -1, 3, -1, -1, -1]}, "the child of one node"),
        ({"left": [1, -1, 2, 3, -1, -1], "right": [5, -1, 3, 4, -1, -1], "roots": [0]}, "the child of one node"),
        ({"left": [1, -1, 3, 2], "right": [4, -1, 5, 6], "roots": [0]}, "children must be nodes"),
        ({"left": [1, -1, -1, 4, 3, -1, -1], "right": [2, -1, -1, 5, 6, -1, -1], "roots": [0]}, "have cycles"),
    ],
)
def test_children_that_make_no_tree_are_refused(change, fault):
    with pytest.raises(ValueError, match=fault):
        depth(**change)
