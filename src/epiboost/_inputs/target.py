"""The target of an estimator: numbers or classes.

A target checks what a user passes as ``y``, encodes it as the numbers that an engine learns from, and saves itself. To
add another kind of target, add a class here and an objective in `epiboost._boosting.objectives`.

>>> target = Classes.fit(Classes.check(["no", "yes", "no"]))
>>> target.encode(np.array(["yes", "no"]))
array([1., 0.])
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_array, column_or_1d

from epiboost._inputs.labels import check_finite, check_labels, distinct_labels, holds_dates, label_codes, to_array
from epiboost._typing import AnyArray, Column, Family, Floats

_MIN_CLASSES = 2


class Target(ABC):
    """What an estimator predicts; made by `fit` from the rows that it is trained on."""

    __slots__ = ()

    family: ClassVar[Family]
    """The distribution that members predict."""

    @staticmethod
    @abstractmethod
    def check(y: Column) -> AnyArray:
        """Return one value or label per row; an error says what cannot be used."""

    @classmethod
    @abstractmethod
    def fit(cls, y: AnyArray) -> Self:
        """Return the target of checked training rows."""

    @abstractmethod
    def encode(self, y: AnyArray, *, name: str = "y") -> Floats:
        """Return checked values or labels as numbers; ``name`` is what an error calls them."""

    @abstractmethod
    def decode(self, numbers: AnyArray) -> AnyArray:
        """Return what `encode` took: numbers, or the labels of class codes."""

    @property
    @abstractmethod
    def objective(self) -> str:
        """Name of the loss, one of `epiboost._boosting.objectives.OBJECTIVES`."""

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """Number of classes; 0 for numbers."""

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """Number of distribution parameters per row and member."""

    @abstractmethod
    def to_file(self) -> dict[str, AnyArray]:
        """Return the arrays of a model file."""

    @classmethod
    @abstractmethod
    def from_file(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the target that `to_file` described; a ValueError if the arrays are not valid."""


@dataclass(frozen=True, slots=True)
class Numbers(Target):
    """A target of finite numbers, predicted by a Normal."""

    family: ClassVar[Family] = "normal"

    @staticmethod
    def check(y: Column) -> Floats:
        """Return one finite number per row."""
        if not (isinstance(y, np.ndarray) and y.dtype.kind in "fiub"):
            y = check_array(to_array(y), ensure_2d=False, dtype=None, input_name="y", ensure_all_finite=False)
            if holds_dates(y):
                message = f"y holds dates or durations ({y.dtype}); turn them into numbers, say days since a fixed day"
                raise ValueError(message)
        dtype = np.float64 if y.dtype.kind in "OUS" else None
        try:
            values = check_finite(y, dtype)
        except ValueError as error:
            if "convert string" not in str(error):
                raise
            message = f"y must hold numbers; {error}. Labels are for EpiBoostClassifier"
            raise ValueError(message) from error
        return np.asarray(column_or_1d(values, warn=True), dtype=np.float64)

    @classmethod
    def fit(cls, y: AnyArray) -> Self:  # noqa: ARG003 (nothing is to be remembered of numbers)
        """Return the target."""
        return cls()

    def encode(self, y: AnyArray, *, name: str = "y") -> Floats:  # noqa: ARG002 (the name is for errors)
        """Return the numbers."""
        return y

    def decode(self, numbers: AnyArray) -> AnyArray:
        """Return the numbers."""
        return numbers

    @property
    def objective(self) -> str:
        """The Normal."""
        return "normal"

    @property
    def n_classes(self) -> int:
        """0: there are no classes."""
        return 0

    @property
    def n_outputs(self) -> int:
        """2: mean and variance."""
        return 2

    def to_file(self) -> dict[str, AnyArray]:
        """Return no arrays."""
        return {}

    @classmethod
    def from_file(cls, arrays: Mapping[str, AnyArray]) -> Self:  # noqa: ARG003 (there are none)
        """Return the target."""
        return cls()


@dataclass(frozen=True, slots=True, eq=False)
class Classes(Target):
    """A target of labels, predicted by class probabilities.

    Attributes
    ----------
    labels : array of shape (classes,)
        In ascending order, which is that of the probabilities.
    """

    labels: AnyArray

    family: ClassVar[Family] = "categorical"

    @staticmethod
    def check(y: Column) -> AnyArray:
        """Return one label per row."""
        return check_labels(y)

    @classmethod
    def fit(cls, y: AnyArray) -> Self:
        """Return the target with the labels that occur."""
        labels = distinct_labels(y)
        if len(labels) < _MIN_CLASSES:
            message = f"Classifier can't train when only one class is present: y holds {labels.tolist()}"
            raise ValueError(message)
        return cls(labels)

    def encode(self, y: AnyArray, *, name: str = "y") -> Floats:
        """Return the position of each label."""
        return label_codes(y, self.labels, name=name).astype(np.float64)

    def decode(self, numbers: AnyArray) -> AnyArray:
        """Return the labels of class codes."""
        labels: AnyArray = self.labels[numbers]
        return labels

    @property
    def objective(self) -> str:
        """Logistic loss for two classes, softmax for more."""
        return "bernoulli" if len(self.labels) == _MIN_CLASSES else "categorical"

    @property
    def n_classes(self) -> int:
        """Number of labels."""
        return len(self.labels)

    @property
    def n_outputs(self) -> int:
        """Number of labels: one probability each."""
        return len(self.labels)

    def to_file(self) -> dict[str, AnyArray]:
        """Return the labels; objects must be text."""
        labels = self.labels
        if labels.dtype.kind == "O":
            if not all(isinstance(label, str) for label in labels):
                message = f"labels must be numbers, booleans or text to be saved; got {labels.tolist()}"
                raise ValueError(message)
            labels = labels.astype(str)
        return {"classes": labels, "classes_are_objects": np.array(self.labels.dtype.kind == "O")}

    @classmethod
    def from_file(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the target that `to_file` described."""
        labels = arrays["classes"]
        is_float = labels.dtype.kind == "f"
        if labels.ndim != 1 or not np.array_equal(np.unique(labels), labels) or (is_float and np.isnan(labels).any()):
            message = "labels must be distinct, in order and not missing"
            raise ValueError(message)
        return cls(labels.astype(object) if bool(arrays["classes_are_objects"]) else labels)
