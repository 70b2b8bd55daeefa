"""The result of `attribute`: what each feature adds to a measure of each row."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from epiboost._display import html_table
from epiboost._posterior.frames import Frame, FrameBackend, make_frame
from epiboost._typing import AnyArray, Floats, Integers, LibraryObject
from epiboost.explain.game import Explained

Unit: TypeAlias = Literal["variance", "nats", "probability", "target", "log-odds", "log-probability"]
"""Unit of the values: squared units of the target, nats, a probability, units of the target, or those of a score."""

MAX_RATIO = 3.0
"""A term that is so many times the number it explains is cancelled by others."""

_MIN_SHARE = 0.1  # of the rows, from which a caution is due

_SHOWN_FEATURES = 6


@dataclass(frozen=True, slots=True, eq=False)
class Attribution:
    """What each feature adds to a measure of each row.

    ``values``, ``base_values``, ``data`` and ``feature_names`` are as in `shap.Explanation`.

    Attributes
    ----------
    values : array of shape (n, features)
        Shapley values: positive where the value of the feature makes the measure larger than its average.
    base_values : array of shape (n,)
        Mean of the measure over the background, the same for each row.
    data : array of shape (n, features)
        The values of the features, as they were given.
    feature_names : tuple of str
    measure : {"knowledge", "data", "total", "mean", "score"}
        What is explained: a part of the uncertainty, the prediction, or the score of a class.
    unit : {"variance", "nats", "probability", "target", "log-odds", "log-probability"}
    label : object
        The class whose probability or score is explained; None otherwise.
    index : pandas.Index or None
        That of the frame that was explained; `to_frame` keeps it.
    groups : tuple of tuples of str, or None
        The names of the columns of each feature, if columns were explained in groups.

    Examples
    --------
    >>> import numpy as np
    >>> found = Attribution(
    ...     values=np.array([[0.5, -0.1]]),
    ...     base_values=np.array([0.2]),
    ...     data=np.array([[90, 3]]),
    ...     feature_names=("age", "pay"),
    ...     measure="knowledge",
    ...     unit="nats",
    ... )
    >>> found.output.round(3), found.first(1)
    (array([0.6]), array([['age']], dtype=object))
    >>> found.to_frame()
       age  pay
    0  0.5 -0.1
    """

    values: Floats
    base_values: Floats
    data: AnyArray
    feature_names: tuple[str, ...]
    measure: Explained
    unit: Unit
    label: Any = None
    index: LibraryObject = None
    groups: tuple[tuple[str, ...], ...] | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

    def __repr__(self) -> str:
        """Return what is explained and the most important features."""
        leading = ", ".join(self.leading) or "none"
        rows = f"{len(self)} row{'' if len(self) == 1 else 's'}"
        text = (
            f"Attribution of {self.measure} ({self.unit}): {rows}, {len(self.feature_names)} features, first {leading}"
        )
        return f"{text}. {self.caution}" if self.caution else text

    def _repr_html_(self) -> str:
        """Return a table of the first rows and the most important features, for notebooks."""
        shown = {self.feature_names[feature]: self.values[:, feature] for feature in self.order[:_SHOWN_FEATURES]}
        return html_table(repr(self), {self.measure: self.output, **shown}, self.index, len(self))

    @property
    def output(self) -> Floats:
        """The measure of each row, ``base_values + values.sum(axis=1)``, shape (n,)."""
        output: Floats = self.base_values + self.values.sum(axis=1)
        return output

    @property
    def importance(self) -> Floats:
        """Mean absolute value of each feature, shape (features,)."""
        importance: Floats = np.abs(self.values).mean(axis=0)
        return importance

    @property
    def order(self) -> Integers:
        """Positions of the features, most important first, shape (features,)."""
        return np.argsort(-self.importance, kind="stable")

    @property
    def leading(self) -> tuple[str, ...]:
        """Names of the three most important features; fewer if the others are zero in all rows."""
        return tuple(self.feature_names[feature] for feature in self.order[:3] if self.importance[feature] > 0.0)

    @property
    def cancellation(self) -> Floats:
        """Largest absolute value of each row divided by the number that is explained, shape (n,).

        That number is the uncertainty of the row or of the background, if that is larger. Of a prediction or a score it
        is the root mean square difference of the rows from the background mean. Values that are many times larger
        cancel each other, as those of correlated features do: rows that mix such features with those of a background
        row are unlike all rows of the table, and the model is asked about them.
        """
        largest = np.abs(self.values).max(axis=1, initial=0.0)
        if self.measure in {"mean", "score"}:
            scale = (
                np.full(len(self), np.sqrt(np.square(self.output - self.base_values).mean())) if len(self) else largest
            )
        else:
            scale = np.maximum(np.abs(self.output), np.abs(self.base_values))
        ratio: Floats = np.divide(largest, scale, out=np.zeros(len(self)), where=largest > 0.0)
        return ratio

    @property
    def caution(self) -> str:
        """A sentence if values of many rows are far larger than the number they explain; empty otherwise."""
        share = float((self.cancellation > MAX_RATIO).mean()) if len(self) else 0.0
        if share < _MIN_SHARE:
            return ""
        text = (
            f"In {share:.0%} of the rows a value is more than {MAX_RATIO:g} times the number that is explained: values "
            "of opposite sign cancel each other"
        )
        if self.groups is not None:
            return f"{text}."
        return f"{text}, as those of correlated features do. groups='correlated' explains such features together."

    def first(self, n: int = 3) -> AnyArray:
        """Return the names of the features that make the measure of each row large.

        Parameters
        ----------
        n : int, default=3
            Number of features.

        Returns
        -------
        array of str, of shape (rows, n)
            Largest value first; an empty string where no further value is positive.
        """
        order = np.argsort(-self.values, axis=1, kind="stable")[:, :n]
        named: AnyArray = np.array(self.feature_names, dtype=object)[order]
        named[np.take_along_axis(self.values, order, axis=1) <= 0.0] = ""
        return named

    def to_frame(self, backend: FrameBackend = "pandas") -> Frame:
        """Return the values as a data frame with one column per feature.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
            The library of the frame, which must be installed.

        Raises
        ------
        ImportError
            If the library is not installed.
        """
        return make_frame(dict(zip(self.feature_names, self.values.T, strict=True)), backend, self.index)
