"""Arrays of trees, described at `NativeForest`: the leaves of rows, and checks of what a model file holds."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from epiboost._boosting.capacity import MAX_DEPTH, MAX_LEAVES
from epiboost._boosting.objectives import objective_from_header
from epiboost._files.requirements import require_arrays, require_facts
from epiboost._typing import AnyArray, Bytes

_NOT_MADE = 255  # parent of a split that was not made


def find_leaves(above: AnyArray, parent: Bytes) -> Bytes:
    """Return the leaf of each row from whether its bins are above the thresholds of a tree, shape (n, splits)."""
    if not parent.size:
        return np.packbits(above, axis=1, bitorder="little")[:, 0]
    leaf = np.zeros(len(above), dtype=np.uint8)
    for split, divided in enumerate(parent):
        if divided != _NOT_MADE:
            leaf[(leaf == divided) & above[:, split]] = split + 1
    return leaf


_FILE_TYPES = {
    "feature": (np.uint16, 3),
    "threshold": (np.uint8, 3),
    "parent": (np.uint8, 3),
    "leaf": (np.float32, 4),
    "count": (np.int32, 1),
    "evaluation": (np.float64, 2),
}


def check_arrays(header: Mapping[str, Any], arrays: Mapping[str, AnyArray], n_columns: int) -> None:
    """Raise a ValueError unless the arrays of a model file are trees on so many columns."""
    require_arrays(arrays, _FILE_TYPES)
    members, trees, splits = arrays["feature"].shape
    outputs = len(objective_from_header(header["objective"]).start)
    parent = arrays["parent"]
    is_symmetric = parent.shape[2] == 0
    leaves = 1 << splits if is_symmetric else splits + 1
    facts = {
        "depth must be from 1 to 8, or leaves from 2 to 255": 1
        <= splits
        <= (MAX_DEPTH if is_symmetric else MAX_LEAVES - 1),
        "parent must have the shape of feature": parent.shape == (members, trees, 0 if is_symmetric else splits),
        "parents must be leaves": bool(((parent <= np.arange(parent.shape[2])) | (parent == _NOT_MADE)).all()),
        "splits that are not made must come last": bool(
            np.diff((parent == _NOT_MADE).astype(np.int8)).min(initial=0) >= 0
        ),
        "there must be trees": members > 0 and trees > 0,
        "threshold must have the shape of feature": arrays["threshold"].shape == arrays["feature"].shape,
        "features must be columns of the table": bool((arrays["feature"] < n_columns).all()),
        "leaf must hold a value for every leaf": arrays["leaf"].shape == (members, trees, leaves, outputs),
        "leaf values must be finite": bool(np.isfinite(arrays["leaf"]).all()),
        "count must be the number of trees of each member": arrays["count"].shape == (members,)
        and bool(((arrays["count"] > 0) & (arrays["count"] <= trees)).all()),
        "decay must be above 0 and at most 1": 0.0 < float(header["decay"]) <= 1.0,
        "evaluation must have one row per member": arrays["evaluation"].shape[0] == members,
    }
    require_facts(facts)
