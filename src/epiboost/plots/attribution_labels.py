"""Text and checks of the displays of attributions and of drift."""

from __future__ import annotations

import numpy as np

from epiboost.explain import Attribution

_MAX_LETTERS = 28
_THOUSAND, _TEN_MILLION = 1e3, 1e7


def check_drawable(attribution: Attribution) -> None:
    """Raise an error if there is no Attribution or it has no rows."""
    if not isinstance(attribution, Attribution):
        message = (
            f"an Attribution is needed, as epiboost.explain.attribute returns it; got {type(attribution).__name__}"
        )
        raise TypeError(message)
    if not len(attribution):
        message = "there are no rows to draw; at least one is needed"
        raise ValueError(message)


def measure_label(attribution: Attribution) -> str:
    """Return what is explained, as the label of an axis."""
    if attribution.measure not in {"mean", "score"}:
        return f"{attribution.measure} uncertainty ({attribution.unit})"
    if attribution.label is None:
        return "prediction"
    what = "probability" if attribution.measure == "mean" else attribution.unit
    return f"{what} of {short(str(attribution.label))}"


def caution_below(label: str, attribution: Attribution) -> str:
    """Return the label of an axis, with a second line if values cancel each other; see `Attribution.caution`."""
    return f"{label}\nvalues cancel each other: see cancellation" if attribution.caution else label


def formatted_number(value: float) -> str:
    """Return a number with thousands separators, or with three digits if it is small or very large.

    >>> formatted_number(12345.6), formatted_number(0.012345)
    ('12,346', '0.0123')
    """
    return f"{value:,.0f}" if _THOUSAND <= abs(value) < _TEN_MILLION else f"{value:.3g}"


def formatted_cell(value: object) -> str:
    """Return the value of a feature with four digits if it is a number, and shortened if it is text.

    >>> formatted_cell(1.23456), formatted_cell("Oslo")
    ('1.235', 'Oslo')
    """
    return f"{value:.4g}" if isinstance(value, float | np.floating) else short(str(value))


def short(text: str) -> str:
    r"""Return at most 28 characters of a text, with dollar signs escaped: matplotlib would read a formula.

    >>> short("price in $")
    'price in \\$'
    """
    text = text.replace("$", r"\$")
    return text if len(text) <= _MAX_LETTERS else f"{text[: _MAX_LETTERS - 1]}…"
