"""Weights of classes, by which the weights of their rows are multiplied.

>>> class_weights("balanced", np.array(["no", "yes"]), np.array([0, 0, 0, 1]), np.ones(4))
array([0.66666667, 2.        ])
>>> class_weights({"yes": 5}, np.array(["no", "yes"]), np.array([0, 0, 0, 1]), np.ones(4))
array([1., 5.])
"""

import numbers
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from epiboost._typing import AnyArray, Floats, Integers

ClassWeight: TypeAlias = str | Mapping[Any, float] | None
"""None, "balanced", or a weight per label."""

BALANCED = "balanced"


def check_class_weight(class_weight: object) -> None:
    """Raise an error unless this is None, "balanced", or a mapping to positive numbers."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == BALANCED):
        return
    if not isinstance(class_weight, Mapping):
        message = f"class_weight must be None, 'balanced' or a dictionary from labels to weights; got {class_weight!r}"
        raise ValueError(message)  # noqa: TRY004 (scikit-learn's checks of parameters raise ValueErrors)
    for label, weight in class_weight.items():
        is_number = isinstance(weight, numbers.Real) and not isinstance(weight, bool)
        if not (is_number and np.isfinite(weight) and weight > 0):
            message = f"class_weight must hold positive numbers; got {weight!r} for class {label!r}"
            raise ValueError(message)


def class_weights(class_weight: ClassWeight, labels: AnyArray, codes: Integers, weight: Floats) -> Floats:
    """Return the weight of each class, shape (classes,).

    Parameters
    ----------
    class_weight : None, "balanced" or mapping from labels to weights
        Checked by `check_class_weight`. Classes that a mapping does not name have weight one.
    labels : array of shape (classes,)
    codes : integer array of shape (n,)
        Class of each training row.
    weight : array of shape (n,)
        Weight of each training row; "balanced" classes have equal sums of weights.
    """
    if class_weight is None:
        return np.ones(len(labels))
    if isinstance(class_weight, str):
        sums = np.bincount(codes, weights=weight, minlength=len(labels))
        balanced: Floats = sums.sum() / (len(labels) * sums)
        return balanced
    known = labels.tolist()
    unknown = [label for label in class_weight if label not in known]
    if unknown:
        message = f"class_weight names {unknown[0]!r}, which is none of the classes {known}"
        raise ValueError(message)
    return np.array([class_weight.get(label, 1.0) for label in known], dtype=np.float64)
