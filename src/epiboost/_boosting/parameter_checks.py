"""Checks of the parameters of estimators: an error says what was got and what is allowed."""

import numbers
import warnings

import numpy as np

from epiboost._boosting.capacity import AUTO

_MAX_INT = 2**31 - 1


def is_auto(value: object) -> bool:
    """Return whether a parameter is "auto"."""
    return isinstance(value, str) and value == AUTO


def require_integer(
    name: str, value: object, minimum: int, maximum: int | None = None, *, also: str = "", hint: str = ""
) -> None:
    """Refuse what is not a whole number between two limits; ``also`` names other values that are allowed."""
    allowed = f"of at least {minimum} and below 2^31" if maximum is None else f"from {minimum} to {maximum}"
    is_integer = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_integer or not minimum <= int(value) <= (_MAX_INT if maximum is None else maximum):  # type: ignore[call-overload]
        message = f"{name} must be {also}a whole number {allowed}{hint}; got {value!r}"
        raise ValueError(message)


def require_number(
    name: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    also: str = "",
) -> None:
    """Refuse what is not a finite number within the limits."""
    limits = []
    number = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else float("nan")
    fits = bool(np.isfinite(number))
    if above is not None:
        limits.append(f"above {above:g}")
        fits = fits and number > above
    if at_least is not None:
        limits.append(f"of at least {at_least:g}")
        fits = fits and number >= at_least
    if at_most is not None:
        limits.append(f"at most {at_most:g}")
        fits = fits and number <= at_most
    if not fits:
        message = f"{name} must be {also}a number {' and '.join(limits)}; got {value!r}"
        raise ValueError(message)


def warn_of_large_leaves(min_samples_leaf: int, n_rows: float) -> None:
    """Warn if no tree can have a split, because two leaves need more rows than there are."""
    if 2 * min_samples_leaf > n_rows:
        message = (
            f"min_samples_leaf={min_samples_leaf} is more than half of the {n_rows:g} training rows, so no tree "
            "has a split and all rows get the same prediction; lower it"
        )
        warnings.warn(message, UserWarning, stacklevel=3)
