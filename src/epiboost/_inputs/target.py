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
_TABLE_AXES = 2


class Target(ABC):
    """What an estimator predicts; made by `fit` from the rows that it is trained on."""

    __slots__ = ()

    has_classes: ClassVar[bool]
    """Whether the target is of labels."""

    @property
    def settings(self) -> tuple[float, ...]:
        """Numbers of the family that all chains share, see `Dataset`; none for classes."""
        return ()

    @property
    @abstractmethod
    def family(self) -> Family:
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
    """A target of finite numbers.

    Attributes
    ----------
    distribution : str
        Name of the family that members predict.
    n_parameters : int
        Its number of parameters.
    numbers : tuple of float
        Numbers of the family that all chains share, see `Dataset`.
    """

    distribution: str = "normal"
    n_parameters: int = 2
    numbers: tuple[float, ...] = ()

    has_classes: ClassVar[bool] = False

    @property
    def settings(self) -> tuple[float, ...]:
        """Numbers of the family."""
        return self.numbers

    @property
    def family(self) -> Family:
        """The name of the distribution."""
        return self.distribution

    @staticmethod
    def check(y: Column) -> Floats:
        """Return one finite number per row."""
        if isinstance(y, np.ndarray) and y.dtype.names is not None:
            message = f"y has the fields {', '.join(y.dtype.names)}; events and times are for EpiBoostSurvivalRegressor"
            raise ValueError(message)
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
        if values.ndim == _TABLE_AXES and values.shape[1] > 1:
            message = (
                f"y should be a 1d array, got an array of shape {values.shape} instead; for several targets there is "
                "MultiTargetRegressor"
            )
            raise ValueError(message)
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
        """The name of the distribution."""
        return self.distribution

    @property
    def n_classes(self) -> int:
        """0: there are no classes."""
        return 0

    @property
    def n_outputs(self) -> int:
        """The number of parameters, 2 for a Normal: mean and variance."""
        return self.n_parameters

    def to_file(self) -> dict[str, AnyArray]:
        """Return the distribution and its number of parameters; no arrays for a Normal."""
        if self.distribution == "normal":
            return {}
        return {
            "distribution": np.array(self.distribution),
            "n_parameters": np.array(self.n_parameters),
            "settings": np.array(self.settings, dtype=np.float64),
        }

    @classmethod
    def from_file(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the target that `to_file` described."""
        if "distribution" not in arrays:
            return cls()
        name, n_parameters = arrays["distribution"], arrays["n_parameters"]
        if name.dtype.kind != "U" or name.ndim or n_parameters.dtype.kind not in "iu" or n_parameters.ndim:
            message = "the distribution must be a name, with a number of parameters"
            raise ValueError(message)
        settings = arrays["settings"]
        if settings.dtype != np.float64 or settings.ndim != 1 or not np.isfinite(settings).all():
            message = "the settings of a distribution must be finite numbers"
            raise ValueError(message)
        return cls(str(name), int(n_parameters), tuple(settings.tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class Classes(Target):
    """A target of labels, predicted by class probabilities.

    Attributes
    ----------
    labels : array of shape (classes,)
        In ascending order, which is that of the probabilities.
    """

    labels: AnyArray

    has_classes: ClassVar[bool] = True

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
    def family(self) -> Family:
        """Class probabilities."""
        return "categorical"

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
