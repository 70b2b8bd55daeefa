"""What the command explain writes and draws."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from epiboost._cli.files import write_table
from epiboost._files.atomic import whole_file
from epiboost._optional import require
from epiboost.explain import Attribution
from epiboost.plots import AttributionDisplay

_SIZE = (6.4, 4.4)
_DOTS_PER_INCH = 150
_PICTURES = (".png", ".svg", ".pdf")


def label_of(model: Any, text: str) -> Any:  # noqa: ANN401 (any model, any label)
    """Return the class of a model that is written like this."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        message = f"--label names a class, and this model predicts a number; got {text!r}"
        raise ValueError(message)
    named = {str(label): label for label in classes.tolist()}
    if text not in named:
        message = f"--label must be one of {', '.join(map(repr, named))}; got {text!r}"
        raise ValueError(message)
    return named[text]


def write_values(found: Attribution, path: Path) -> None:
    """Write the measure of each row, the base, and a column a feature; their sum is the measure.

    A feature that is named like one of the first two columns has ``value of`` before its name, twice if need be.
    """
    columns = {found.measure: found.output, "base": found.base_values}
    for name, values in zip(found.feature_names, found.values.T, strict=True):
        free = name
        while free in columns or (free != name and free in found.feature_names):
            free = f"value of {free}"
        columns[free] = values
    write_table(columns, path)


def check_picture(path: Path, others: Sequence[Path]) -> None:
    """Raise an error if a picture cannot be drawn there, before any work is spent."""
    if path.suffix.lower() not in _PICTURES:
        message = f"cannot draw {str(path)!r}: the name must end in {', '.join(_PICTURES[:-1])} or {_PICTURES[-1]}"
        raise ValueError(message)
    if path.resolve() in [other.resolve() for other in others]:
        message = f"cannot draw {str(path)!r}: it is where the values are written"
        raise ValueError(message)


def draw_summary(found: Attribution, path: Path) -> None:
    """Draw the features that matter most."""
    figure = require("matplotlib.figure", extra="plot", purpose="drawing uncertainty").Figure(
        figsize=_SIZE, layout="constrained"
    )
    AttributionDisplay(found).plot(figure.subplots())
    with whole_file(path) as draft:
        figure.savefig(draft, dpi=_DOTS_PER_INCH)
