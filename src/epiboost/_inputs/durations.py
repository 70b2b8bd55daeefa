"""Targets of durations of which only bounds may be known: checks, and the target of an estimator.

>>> durations_of(np.array([(True, 2.0), (False, 3.0)], dtype=[("event", bool), ("time", float)]))
array([[ 2.,  2.],
       [ 3., inf]])
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import narwhals as nw
import numpy as np

from epiboost._inputs.target import Numbers
from epiboost._typing import AnyArray, Column, Floats

_FORMS = (
    "y must be a structured array of an event (bool) and a time, an array of shape (n, 2) of lower and upper bounds, "
    "or of shape (n,) of observed times"
)
_N_BOUNDS = 2
_FEW_ENDS = 3  # different upper bounds of durations that are known to lie in one of two intervals


def durations_of(y: Column) -> Floats:
    """Return the lower and upper bound of each duration, shape (n, 2).

    Parameters
    ----------
    y : structured array, frame of two columns, or array of shape (n, 2) or (n,)
        An event, true if the time is that of the event and false if it was only seen to be longer, and a time. Or
        bounds: equal for an observed duration, an infinite upper bound if it is only known to be longer, a lower bound
        of 0 or minus infinity if it is only known to be shorter.

    Raises
    ------
    ValueError
        For targets that are no durations; it says what is allowed.
    """
    columns = _columns(y)
    if columns is not None:
        bounds = _of_events(*columns)
    else:
        values = np.asarray(y)
        if values.dtype.kind not in "fiuO" or values.ndim not in (1, _N_BOUNDS):
            message = f"{_FORMS}; got {values.dtype} of shape {values.shape}"
            raise ValueError(message)
        if values.ndim == _N_BOUNDS and values.shape[1] != _N_BOUNDS:
            message = f"{_FORMS}; got shape {values.shape}"
            raise ValueError(message)
        numbers = _numbers(values, "bounds" if values.ndim == _N_BOUNDS else "times")
        _refuse_events_as_bounds(numbers)
        bounds = numbers if numbers.ndim == _N_BOUNDS else np.stack([numbers, numbers], axis=1)
    _check_bounds(bounds)
    return np.maximum(bounds, 0.0)


def _refuse_events_as_bounds(numbers: Floats) -> None:
    """Raise a ValueError for an array of zeros and ones beside times, which would be read as bounds."""
    if numbers.ndim != _N_BOUNDS or not np.array_equal(np.unique(numbers[:, 0]), (0.0, 1.0)):
        return
    if len(np.unique(numbers[:, 1])) > _FEW_ENDS:
        message = (
            "the first column of y holds only 0 and 1, as events do, but would be read as lower bounds; give events as "
            "bool: a structured array or a frame of an event and a time"
        )
        raise ValueError(message)


def right_censored(bounds: Floats) -> tuple[AnyArray, Floats]:
    """Return event and time of bounds; a ValueError if some are neither observed nor right-censored.

    >>> event, time = right_censored(np.array([[2.0, 2.0], [3.0, np.inf]]))
    >>> event.tolist(), time.tolist()
    ([True, False], [2.0, 3.0])
    """
    event = bounds[:, 0] == bounds[:, 1]
    other = ~event & np.isfinite(bounds[:, 1])
    if other.any():
        row = int(np.argmax(other))
        message = (
            f"only observed and right-censored durations can be weighted by their censoring; row {row} is known to be "
            f"between {bounds[row, 0]:g} and {bounds[row, 1]:g}; use concordance_score"
        )
        raise ValueError(message)
    return event, bounds[:, 0]


@dataclass(frozen=True, slots=True)
class Durations(Numbers):
    """A target of durations of which only bounds may be known.

    Attributes
    ----------
    loss : str
        Name of the loss that is fitted.
    """

    loss: str = ""

    has_classes: ClassVar[bool] = False

    @staticmethod
    def check(y: Column) -> Floats:
        """Return the bounds of each duration."""
        return durations_of(y)

    @classmethod
    def of(cls, distribution: str, loss: str, n_parameters: int, bounds: Floats) -> Self:
        """Return the target of training rows, of which some must tell when they end and some how long they last."""
        if not np.isfinite(bounds[:, 1]).any():
            message = (
                f"all {len(bounds)} durations of y are right-censored: none is known to end, so no model can say when; "
                "give rows with an event"
            )
            raise ValueError(message)
        if not (bounds[:, 0] > 0.0).any():
            message = f"all {len(bounds)} durations of y are left-censored; give rows with a lower bound above 0"
            raise ValueError(message)
        return cls(distribution, n_parameters, (), loss)

    @property
    def objective(self) -> str:
        """The name of the loss."""
        return self.loss

    def to_file(self) -> dict[str, AnyArray]:
        """Return the distribution, its number of parameters and the loss."""
        return {**super(Durations, self).to_file(), "loss": np.array(self.loss)}

    @classmethod
    def from_file(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the target that `to_file` described."""
        numbers, loss = Numbers.from_file(arrays), arrays["loss"]
        if loss.dtype.kind != "U" or loss.ndim:
            message = "the loss must be a name"
            raise ValueError(message)
        return cls(numbers.distribution, numbers.n_parameters, (), str(loss))


def _columns(y: Column) -> tuple[AnyArray, AnyArray] | None:
    """Return event and time, of which one is boolean; None for arrays without columns of different types."""
    if isinstance(y, np.ndarray) and y.dtype.names is not None:
        columns = [y[name] for name in y.dtype.names]
    else:
        frame = nw.from_native(y, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return None
        columns = [frame[name].to_numpy() for name in frame.columns]
    are_events = [column.dtype.kind == "b" for column in columns]
    if len(columns) == _N_BOUNDS and sum(are_events) == 1:
        event = are_events.index(True)
        return columns[event], columns[1 - event]
    if isinstance(y, np.ndarray):
        message = f"{_FORMS}; got the fields {y.dtype.descr}, of which one must be boolean and the other one numbers"
        raise ValueError(message)  # noqa: TRY004 (the type is allowed, its fields are not)
    return None


def _of_events(event: AnyArray, time: AnyArray) -> Floats:
    numbers = _numbers(time, "times")
    infinite = np.isinf(numbers)
    if infinite.any():
        message = f"times must be finite, got {numbers[infinite][0]:g} in row {int(np.argmax(infinite))}"
        raise ValueError(message)
    not_positive = np.flatnonzero(~(numbers > 0.0) & ~np.isnan(numbers))
    if not_positive.size:
        row = not_positive[0]
        message = (
            f"times must be above 0; y holds {numbers[row]:g} in row {row}"
            f"{f' and {not_positive.size - 1} more such values' if not_positive.size > 1 else ''}; leave such rows "
            "out, or add what is lost by rounding"
        )
        raise ValueError(message)
    return np.stack([numbers, np.where(event, numbers, np.inf)], axis=1)


def _numbers(values: AnyArray, what: str) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        message = f"{what} of y must be numbers: {error}"
        raise ValueError(message) from error
    missing = np.asarray(np.isnan(numbers.reshape(len(numbers), -1)).any(axis=1))
    if missing.any():
        message = (
            f"{what} of y must not be NaN: {np.count_nonzero(missing)} of {len(missing)} rows, the first is row "
            f"{int(np.argmax(missing))}; an unknown end is an infinite upper bound"
        )
        raise ValueError(message)
    return numbers


def _check_bounds(bounds: Floats) -> None:
    lower, upper = bounds.T
    faults = {
        "a lower bound above the upper one": lower > upper,
        "an upper bound that is not above 0": ~(upper > 0.0),
        "an infinite lower bound": np.isposinf(lower),
        "a lower bound below 0 that is not minus infinity": (lower < 0.0) & ~np.isneginf(lower),
        "no bound at all": (lower <= 0.0) & np.isposinf(upper),
    }
    for fault, rows in faults.items():
        if rows.any():
            row = int(np.argmax(rows))
            message = (
                f"durations must have bounds 0 <= lower <= upper with upper > 0; y has {fault} in row {row}: "
                f"({lower[row]:g}, {upper[row]:g})"
            )
            raise ValueError(message)
