"""Checks LightGBM's text model: a header, then one block of ``name=values`` lines per tree.

Only this part of LightGBM's text is stored. What follows it, importances and parameters, is not needed to predict.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from epiboost._typing import AnyArray, Integers
from epiboost.engines.model_files.trees import ModelShape, require, tree_depth

END = "end of trees\n"

_FINITE = r"-?\d{1,25}(?:\.\d{1,25})?(?:e[-+]?\d{1,3})?"
_NUMBER = rf"(?:{_FINITE}|-?inf|-?nan)"
_INTEGER = r"-?\d{1,10}"
_RANGE = re.compile(rf"none|\[{_NUMBER}:{_NUMBER}\]|-?\d+(?::-?\d+)*")
_HEADER = re.compile(
    r"tree\nversion=v4\nnum_class=(?P<n_classes>\d{1,9})\nnum_tree_per_iteration=(?P<n_outputs>\d{1,9})\n"
    r"label_index=0\nmax_feature_idx=(?P<last_feature>\d{1,9})\nfeature_names=(?P<names>[^\n]*)\n"
    r"(?:monotone_constraints=(?P<monotone>[-01 ]*)\n)?"
    r"feature_infos=(?P<ranges>[^\n]*)\ntree_sizes=(?P<sizes>[\d ]*)\n\n"
)
_INTEGERS, _FINITES, _NUMBERS = (re.compile(rf"(?:{one} )*+{one}") for one in (_INTEGER, _FINITE, _NUMBER))

_SPLITS = ("split_feature", "split_gain", "threshold", "decision_type", "left_child", "right_child")
_LEAVES = ("leaf_value", "leaf_weight", "leaf_count")
_INNER = ("internal_value", "internal_weight", "internal_count")
_CATEGORIES = ("cat_boundaries", "cat_threshold")
_BEGINNING = ("num_leaves", "num_cat", *_SPLITS, *_LEAVES, *_INNER)
_ENDING = ("is_linear", "shrinkage")
_LINES = {(*_BEGINNING, *_ENDING), (*_BEGINNING, *_CATEGORIES, *_ENDING)}

_IS_CATEGORY = 1  # bit of a decision type; the next is the direction of missing values, then comes their kind
_DECISION_TYPES = 12  # there are three kinds of missing values
_PATTERNS = {
    **dict.fromkeys(
        ("num_leaves", "num_cat", "split_feature", "decision_type", "left_child", "right_child"), _INTEGERS
    ),
    **dict.fromkeys(("leaf_count", "internal_count", *_CATEGORIES), _INTEGERS),
    "leaf_value": _FINITES,
}
_WORD = 1 << 32  # categories are the bits of 32-bit words


def check_text(text: str, shape: ModelShape) -> None:
    """Raise a ValueError unless the text is a model as `LightGBMForest.to_file` stores it, with valid trees."""
    header = _HEADER.match(text)
    if header is None:
        message = "its header is not that of a text model of version v4"
        raise ValueError(message)
    _check_header(header, shape)
    trees = [_lines(block) for block in _blocks(text, header)]
    require(len(trees) % shape.n_outputs == 0, f"{len(trees)} trees are no multiple of {shape.n_outputs} outputs")
    if trees:
        _check_trees(trees, shape)


def _check_header(header: re.Match[str], shape: ModelShape) -> None:
    n_features, ranges = shape.n_features, header["ranges"].split(" ")
    for name in ("n_classes", "n_outputs"):
        require(int(header[name]) == shape.n_outputs, f"it has {header[name]} outputs, not {shape.n_outputs}")
    require(int(header["last_feature"]) == n_features - 1, f"its last column is not {n_features - 1}")
    names = " ".join(f"Column_{column}" for column in range(n_features))
    require(header["names"] == names, "its columns must have the names that LightGBM gives them")
    known = len(ranges) == n_features and all(map(_RANGE.fullmatch, ranges))
    require(known, "it must say the range of each column")
    monotone = header["monotone"]
    require(monotone is None or len(monotone.split()) == n_features, "it must hold one constraint per column")


def _blocks(text: str, header: re.Match[str]) -> list[str]:
    """Return the text of each tree, without its number."""
    sizes, digits = header["sizes"].split(), len(str(len(text)))
    require(all(len(size) <= digits for size in sizes), "a tree is larger than the text")
    position, blocks = header.end(), []
    for number, size in enumerate(map(int, sizes)):
        title, block = f"Tree={number}\n", text[position : position + size]
        require(block.startswith(title) and block.endswith("\n\n\n"), f"tree {number} is not at its place")
        blocks.append(block[len(title) : -3])
        position += size
    require(text[position:] == END, "its trees must be followed by their end")
    return blocks


def _lines(block: str) -> dict[str, str]:
    """Return the values of each line of a tree, still as text."""
    parts = [line.partition("=") for line in block.split("\n")]
    require(tuple(name for name, _, _ in parts) in _LINES, "a tree has other lines than LightGBM's trees")
    lines = {name: values for name, _, values in parts}
    require(lines["is_linear"] == "0", "leaves must hold constants")
    require(("cat_threshold" in lines) == (lines["num_cat"] != "0"), "a tree must hold the categories of its splits")
    return lines


def _check_trees(trees: Sequence[Mapping[str, str]], shape: ModelShape) -> None:
    n_leaves, n_sets = (_integers(name, trees) for name in ("num_leaves", "num_cat"))
    require(bool((n_leaves > 0).all()) and bool((n_sets >= 0).all()), "trees must have leaves")
    for names, counts in ((_SPLITS + _INNER, n_leaves - 1), (_LEAVES, n_leaves), (("shrinkage",), n_leaves * 0 + 1)):
        for name in names:
            lengths = np.array([tree[name].count(" ") + 1 if tree[name] else 0 for tree in trees])
            # LightGBM does not keep the weight and the count of a leaf without splits.
            absent = (lengths == 0) & (n_leaves == 1) & (name in {"leaf_weight", "leaf_count"})
            require(bool(((lengths == counts) | absent).all()), f"{name} must hold one number per node")
            _joined(name, trees)
    splits = {name: _integers(name, trees) for name in ("split_feature", "decision_type", "left_child", "right_child")}
    features, types = splits["split_feature"], splits["decision_type"]
    require(bool(((features >= 0) & (features < shape.n_features)).all()), "features must be columns of the table")
    require(bool(((types >= 0) & (types < _DECISION_TYPES)).all()), "types of decisions must be known")
    is_category = (types & _IS_CATEGORY) > 0
    of_category = np.asarray(shape.n_codes)[features] > 0
    require(bool((of_category | ~is_category).all()), "only categorical columns can be split by categories")
    _check_children(splits, n_leaves)
    ends = np.cumsum(n_leaves - 1)
    for tree, end, count in zip(trees, ends.tolist(), (n_leaves - 1).tolist(), strict=True):
        _check_categories(tree, is_category[end - count : end])


def _check_children(splits: Mapping[str, Integers], n_leaves: Integers) -> None:
    """Check children: positions of nodes in their tree, or leaves as -1 - leaf."""
    n_inner = n_leaves - 1
    first_inner, first_leaf = np.cumsum(n_inner) - n_inner, np.cumsum(n_leaves) - n_leaves
    n_all, tree = int(n_inner.sum()), np.repeat(np.arange(len(n_leaves)), n_inner)
    children = []
    for name in ("left_child", "right_child"):
        child = splits[name]
        inside = np.where(child >= 0, child < n_inner[tree], ~child < n_leaves[tree])
        require(bool(inside.all()), "children must be nodes of their tree")
        places = np.where(child >= 0, first_inner[tree] + child, n_all + first_leaf[tree] + ~child)
        children.append(np.concatenate([places, np.full(int(n_leaves.sum()), -1)]))
    roots = np.where(n_inner > 0, first_inner, n_all + first_leaf)
    tree_depth(children[0], children[1], roots, is_leaf=np.arange(len(children[0])) >= n_all)


def _check_categories(tree: Mapping[str, str], is_category: AnyArray) -> None:
    """Check the sets of categories of a tree: the threshold of such a split is the number of its set."""
    if "cat_threshold" not in tree:
        require(not is_category.any(), "a split by categories must have them")
        return
    n_sets, bounds, words = int(tree["num_cat"]), *(_integers(name, [tree]) for name in _CATEGORIES)
    follow = len(bounds) == n_sets + 1 and bounds[0] == 0 and bool((np.diff(bounds) >= 0).all())
    require(follow and bounds[-1] == len(words), "sets of categories must follow one another")
    require(bool(((words >= 0) & (words < _WORD)).all()), "sets of categories must be words of 32 bits")
    sets = np.array(tree["threshold"].split(" "), dtype=np.float64)[is_category]
    require(bool(((sets >= 0) & (sets < n_sets)).all()), "a split by categories must have them")


def _integers(name: str, trees: Sequence[Mapping[str, str]]) -> Integers:
    """Return the whole numbers of all trees, one after another."""
    return np.fromstring(_joined(name, trees), dtype=np.int64, sep=" ")


def _joined(name: str, trees: Sequence[Mapping[str, str]]) -> str:
    """Return the numbers of all trees as one text.

    LightGBM reads trees in several threads, where a word that is not a number ends the process.
    """
    joined = " ".join(filter(None, (tree[name] for tree in trees)))
    require(not joined or _PATTERNS.get(name, _NUMBERS).fullmatch(joined) is not None, f"{name} must hold numbers")
    return joined
