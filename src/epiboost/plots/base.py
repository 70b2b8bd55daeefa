"""Base classes of displays: the import of matplotlib, the choice of Axes, and `plot`.

A display takes its data in ``__init__``, draws it in `plot` and keeps what it drew in attributes that end in ``_``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from epiboost._optional import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class PanelDisplay(ABC):
    """Base of displays: draws panels side by side, each on its own Axes."""

    axes_: list[Axes]
    figure_: Figure | SubFigure
    panel_size: ClassVar[tuple[float, float]] = (4.8, 4.0)
    """Width and height of a panel of a new figure, in inches."""

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, sequence of them, or None, default=None
            Where to draw, one Axes per panel; None makes a new figure.

        Returns
        -------
        self
        """
        self._set_axes(ax)
        self._draw()
        return self

    def _set_axes(self, ax: Axes | Sequence[Axes] | None) -> None:
        titles = self._panel_titles()
        axes = _new_axes(len(titles), self.panel_size) if ax is None else list(np.ravel(np.asarray(ax)))
        if len(axes) != len(titles):
            message = f"ax must hold {len(titles)} Axes, one per panel ({', '.join(titles)}), got {len(axes)}"
            raise ValueError(message)
        self.axes_ = axes
        self.figure_ = axes[0].figure

    @abstractmethod
    def _panel_titles(self) -> Sequence[str]:
        """Return what each panel shows, from left to right."""

    @abstractmethod
    def _draw(self) -> None:
        """Draw on ``self.axes_``."""


class Display(PanelDisplay):
    """Base of displays with a single panel."""

    @property
    def ax_(self) -> Axes:
        """The Axes of the panel."""
        return self.axes_[0]

    def _panel_titles(self) -> Sequence[str]:
        return (type(self).__name__,)


def import_matplotlib(module: str) -> ModuleType:
    """Return a module of matplotlib, or raise an error that names the extra that installs it."""
    return require(module, extra="plot", purpose="drawing uncertainty")


def _new_axes(n_panels: int, size: tuple[float, float]) -> list[Axes]:
    """Return the Axes of a new figure with panels side by side."""
    width, height = size
    _, axes = import_matplotlib("matplotlib.pyplot").subplots(
        1, n_panels, figsize=(width * n_panels, height), layout="constrained", squeeze=False
    )
    return list(axes[0])
