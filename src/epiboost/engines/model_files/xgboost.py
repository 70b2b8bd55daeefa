"""Checks XGBoost's binary model, UBJSON: objects with known names, and arrays with one value per node of a tree."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from epiboost._typing import AnyArray, Integers
from epiboost.engines.model_files.trees import ModelShape, require, tree_depth
from epiboost.engines.model_files.ubjson import decode

_BASE_SCORE = re.compile(r"0E0|\[0E0(?:,0E0)*+\]")
_PER_NODE: dict[str, npt.DTypeLike] = {
    "default_left": np.uint8,
    "left_children": np.int32,
    "parents": np.int32,
    "right_children": np.int32,
    "split_conditions": np.float32,
    "split_indices": np.int32,
    "split_type": np.uint8,
}
_GAINS: dict[str, npt.DTypeLike] = {"loss_changes": np.float32, "sum_hessian": np.float32}
_CATEGORIES: dict[str, npt.DTypeLike] = {
    "categories": np.int32,
    "categories_nodes": np.int32,
    "categories_segments": np.int64,
    "categories_sizes": np.int64,
}
_TREE_PARAMETERS = {"num_deleted", "num_feature", "num_nodes", "size_leaf_vector"}
_TREE = {"base_weights", "id", "tree_param", *_PER_NODE, *_CATEGORIES}
_ROOTS_PARENT = (-1, 2**31 - 1)


def check_bytes(content: bytes, shape: ModelShape) -> None:
    """Raise a ValueError unless the bytes are a model as `XGBoostForest.to_file` stores it, with valid trees."""
    model = decode(content)
    learner, version = (_fields(model, {"learner", "version"})[name] for name in ("learner", "version"))
    parts = _fields(
        learner,
        {"attributes", "feature_names", "feature_types", "gradient_booster", "learner_model_param", "objective"},
    )
    kinds = ["c" if count else "q" for count in shape.n_codes]
    parameters = _fields(
        parts["learner_model_param"], {"base_score", "boost_from_average", "num_class", "num_feature", "num_target"}
    )
    booster = _fields(parts["gradient_booster"], {"model", "name"})
    facts = {
        "it must be of a version of XGBoost": len(_whole_numbers(version)) == 3,  # noqa: PLR2004 (major, minor, patch)
        "it must not have attributes": parts["attributes"] == {},
        "its columns must not have names": parts["feature_names"] == [],
        "its columns must have the types of the header": parts["feature_types"] in ([], kinds),
        "it must be a gbtree": booster["name"] == "gbtree",
        "it must have no objective of its own": parts["objective"]
        == {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}},
        "it must start at zero": isinstance(parameters["base_score"], str)
        and _BASE_SCORE.fullmatch(parameters["base_score"]) is not None
        and parameters["base_score"].count("0E0") in {1, shape.n_outputs},
        "it must have no start value": parameters["boost_from_average"] in ("0", "1"),
        "it must have no classes": parameters["num_class"] == "0",
        f"it must have {shape.n_features} columns": parameters["num_feature"] == str(shape.n_features),
        f"it must have {shape.n_outputs} outputs": parameters["num_target"] == str(shape.n_outputs),
    }
    for fault, holds in facts.items():
        require(bool(holds), fault)
    _check_booster(booster["model"], shape)


def _check_booster(model: object, shape: ModelShape) -> None:
    """Check the trees, and which output each of them is for."""
    names = {"gbtree_model_param", "iteration_indptr", "tree_info", "trees"}
    parts = _fields(model, names, optional={"cats"})
    if "cats" in parts:  # XGBoost from 3.1 on keeps names of categories; we give it codes
        names_of_categories = _fields(parts["cats"], {"enc", "feature_segments", "sorted_idx"})
        require(all(len(value) == 0 for value in names_of_categories.values()), "its categories must not have names")
    trees, outputs = parts["trees"], _whole_numbers(parts["tree_info"])
    require(isinstance(trees, list) and len(trees) == len(outputs), "it must say which output each tree is for")
    counts = {"num_parallel_tree": "1", "num_trees": str(len(trees))}
    require(parts["gbtree_model_param"] == counts, "its number of trees must be that of its trees")
    if not trees:
        require(_whole_numbers(parts["iteration_indptr"]).tolist() == [0], "it must have no iterations without trees")
        return
    fields = [_checked_tree(tree, number, shape) for number, tree in enumerate(trees)]
    width = fields[0]["width"]
    per_step = shape.n_outputs if width == 1 else 1
    require(all(tree["width"] == width for tree in fields), "its leaves must have one size")
    require(np.array_equal(outputs, np.arange(len(trees)) % per_step), "trees of the outputs must alternate")
    steps = np.arange(0, len(trees) + 1, per_step)
    require(np.array_equal(_whole_numbers(parts["iteration_indptr"]), steps), "a step must have one tree per output")
    _check_nodes(fields, shape)


def _checked_tree(tree: object, number: int, shape: ModelShape) -> dict[str, Any]:
    """Return the fields of a tree, after a check of their types and sizes."""
    fields = _fields(tree, _TREE, optional={"leaf_weights", *_GAINS})
    nodes = len(fields["left_children"]) if isinstance(fields["left_children"], np.ndarray) else 0
    is_vector = _fields(fields["tree_param"], _TREE_PARAMETERS)["size_leaf_vector"] != "1"
    # Trees whose leaves have several values have gains and values of their own from XGBoost 3.1 on.
    require(is_vector or fields.keys() == _TREE | _GAINS.keys(), "a tree must have the arrays of its kind")
    width = shape.n_outputs if is_vector else 1
    leaves = int((fields["left_children"] == -1).sum()) if nodes else 0
    sizes: dict[str, tuple[npt.DTypeLike, int | None]] = {
        **{name: (dtype, nodes) for name, dtype in _PER_NODE.items()},
        **{name: (dtype, nodes) for name, dtype in _GAINS.items() if name in fields},
        **{name: (dtype, None) for name, dtype in _CATEGORIES.items()},
        "base_weights": (np.float32, nodes * width),
    }
    if "leaf_weights" in fields:
        sizes["leaf_weights"] = (np.float32, leaves * width)
    for name, (dtype, size) in sizes.items():
        value = fields[name]
        holds = isinstance(value, np.ndarray) and value.dtype == dtype and (size is None or len(value) == size)
        require(holds, f"{name} must have one value per node")
    parameters = {
        "num_deleted": "0",
        "num_feature": str(shape.n_features),
        "num_nodes": str(nodes),
        "size_leaf_vector": str(width),
    }
    require(nodes > 0 and fields["tree_param"] == parameters, "a tree must have the size of its arrays")
    require(type(fields["id"]) is int and fields["id"] == number, "trees must be numbered")
    return {**fields, "nodes": nodes, "width": width, "leaves": leaves}


def _check_nodes(trees: Sequence[Mapping[str, Any]], shape: ModelShape) -> None:
    """Check the nodes of all trees together."""
    nodes = {name: np.concatenate([tree[name] for tree in trees]) for name in _PER_NODE}
    counts = np.array([tree["nodes"] for tree in trees], dtype=np.int64)
    roots = np.cumsum(counts) - counts
    first = np.repeat(roots, counts)
    left, right = (nodes[name].astype(np.int64) for name in ("left_children", "right_children"))
    is_leaf = left == -1
    limit = np.repeat(counts, counts)
    inside = is_leaf | ((left >= 0) & (left < limit) & (right >= 0) & (right < limit))
    require(bool(inside.all()), "children must be nodes of their tree")
    tree_depth(left + first, right + first, roots, is_leaf=is_leaf)
    is_root, parents = np.isin(np.arange(len(left)), roots), nodes["parents"]
    of_root = np.isin(parents, _ROOTS_PARENT)
    fits = np.where(is_root, of_root, parents == _parents(left + first, right + first, is_leaf) - first)
    require(bool(fits.all()), "parents must be those of the children")
    has_values = np.array(["leaf_weights" in tree for tree in trees])
    position = np.concatenate([np.arange(tree["leaves"]) for tree in trees])  # in the values of leaves with several
    right_of_leaf = np.where(np.repeat(has_values, counts)[is_leaf], position, -1)
    require(bool((right[is_leaf] == right_of_leaf).all()), "a leaf must not have a child")
    features = nodes["split_indices"]
    require(bool(((features >= 0) & (features < shape.n_features)).all()), "features must be columns of the table")
    flags = max(int(nodes[name].max()) for name in ("default_left", "split_type"))
    require(flags <= 1, "kinds of splits must be known")
    require(all(bool(np.isfinite(_leaf_values(tree)).all()) for tree in trees), "leaf values must be finite")
    for tree in trees:
        _check_categories(tree, shape)


def _leaf_values(tree: Mapping[str, Any]) -> AnyArray:
    """Return the values of the leaves, or those of all nodes where leaves have none of their own."""
    if tree["width"] == 1:
        return np.asarray(tree["split_conditions"][tree["left_children"] == -1])
    return np.asarray(tree.get("leaf_weights", tree["base_weights"]))


def _parents(left: Integers, right: Integers, is_leaf: AnyArray) -> Integers:
    """Return the parent of each node, -1 for a root; children are positions among the nodes of all trees."""
    inner = np.flatnonzero(~is_leaf)
    parents = np.full(len(left), -1, dtype=np.int64)
    parents[left[inner]] = parents[right[inner]] = inner
    return parents


def _check_categories(tree: Mapping[str, Any], shape: ModelShape) -> None:
    """Check the sets of categories: their nodes, and where each set begins and how many categories it has."""
    nodes, sizes, segments = tree["categories_nodes"], tree["categories_sizes"], tree["categories_segments"]
    is_category = (tree["split_type"] == 1) & (tree["left_children"] != -1)
    require(np.array_equal(nodes, np.flatnonzero(tree["split_type"])), "a split by categories must have them")
    require(np.array_equal(nodes, np.flatnonzero(is_category)), "a leaf must not have categories")
    if not len(nodes):
        empty = not len(sizes) and not len(segments) and not len(tree["categories"])
        require(empty, "categories must belong to a split")
        return
    fit = len(sizes) == len(nodes) and bool(((sizes > 0) & (sizes <= len(tree["categories"]))).all())
    require(fit and np.array_equal(segments, np.cumsum(sizes) - sizes), "sets of categories must follow one another")
    require(int(sizes.sum()) == len(tree["categories"]), "sets of categories must follow one another")
    n_codes = np.repeat(np.asarray(shape.n_codes)[tree["split_indices"][nodes]], sizes)
    known = (tree["categories"] >= 0) & (tree["categories"] < n_codes)
    require(bool(known.all()), "categories must be codes of their column")


def _fields(value: object, names: set[str], optional: frozenset[str] | set[str] = frozenset()) -> dict[str, Any]:
    """Return an object; a ValueError unless it has these names."""
    found = value if isinstance(value, dict) else {}
    if not (names <= found.keys() and found.keys() - names <= optional):
        message = f"it must hold {sorted(names)}, got {sorted(found)!r:.200}"
        raise ValueError(message)
    return found


def _whole_numbers(value: object) -> Integers:
    """Return a list of whole numbers as an array."""
    require(isinstance(value, list) and all(type(number) is int for number in value), "numbers of trees must be whole")
    return np.array(value, dtype=np.int64)
