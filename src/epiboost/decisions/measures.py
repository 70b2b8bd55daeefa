"""Which part of the uncertainty a decision looks at."""

from typing import Any, Literal, TypeAlias, get_args

from epiboost._typing import Floats

Measure: TypeAlias = Literal["total", "data", "knowledge"]
"""A part of the uncertainty."""


def check_measure(measure: str) -> None:
    """Raise an error if there is no such part.

    >>> check_measure("knowledge")
    """
    if measure not in get_args(Measure):
        message = f"measure must be one of {get_args(Measure)}, got {measure!r}"
        raise ValueError(message)


def measured(model: Any, X: Any, measure: Measure) -> Floats:  # noqa: ANN401 (any model that knows its uncertainty)
    """Return one part of a model's uncertainty for each row."""
    values: Floats = getattr(model.predict_uncertainty(X), measure)
    return values
