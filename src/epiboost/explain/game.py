"""The question that Shapley values answer, as a game: what the measure is worth if only some features are known.

A coalition is a set of features that a row keeps; the others take the values of background rows. The value of the
coalition is the average of the measure over the background,

    v(S) = mean over b of measure(x on S, b elsewhere),

so that v of all features is the measure itself and v of none its mean over the background. One call answers a coalition
for all rows and all measures together, which is what makes sampling cheap: `shap` asks for each coalition once, and our
predictor is given tables of thousands of rows.

Rows are played as the numbers that the trees see: categories are codes by then, missing values NaN. So nothing is
compared, rounded or guessed on the way, and a category that training has not seen stays unseen.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from epiboost._inputs.schema import CheckedTable, ColumnSchema
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Estimator, Floats, Table

Explained: TypeAlias = Literal["knowledge", "data", "total", "mean"]
"""What can be explained: a part of the uncertainty, or the prediction."""

_LARGEST_TABLE = 1 << 16
"""Rows that are predicted together: enough to outweigh the cost of a call, few enough to stay in the cache."""


def check_explained(of: str) -> None:
    """Raise an error if there is no such measure.

    >>> check_explained("knowledge")
    """
    if of not in get_args(Explained):
        message = f"of must be one of {', '.join(map(repr, get_args(Explained)))}; got {of!r}"
        raise ValueError(message)


def numbers_of(model: Estimator, X: Table) -> AnyArray:
    """Return the rows as the trees see them: of shape (n, features), codes in place of categories."""
    schema: ColumnSchema | None = getattr(model, "schema_", None)
    return np.asarray(X, dtype=np.float64) if schema is None else schema.transform(X)


def reader_of_numbers(model: Estimator) -> Callable[[AnyArray], Posterior]:
    """Return the function that predicts such rows."""
    predict: Callable[[Any], Posterior] = model.predict_posterior
    return predict if not hasattr(model, "schema_") else lambda rows: predict(CheckedTable(rows))


def _nobody(n_played: int) -> None:
    """Take no note."""


@dataclass(frozen=True, slots=True, eq=False)
class Game:
    """What each coalition of features is worth, for every row and measure.

    Attributes
    ----------
    predict : callable from (k, features) to Posterior
    rows : array of shape (n, features)
        The rows to be explained.
    background : array of shape (m, features)
        Where the features that are not known come from.
    measures : tuple of str
        What is measured: "knowledge", "data", "total", "mean".
    outcome : int
        The class whose probability "mean" is, by its position; 0 for a regressor.
    played : callable
        Is told how many coalitions have been played.
    """

    predict: Callable[[AnyArray], Posterior]
    rows: AnyArray
    background: AnyArray
    measures: tuple[Explained, ...]
    outcome: int = 0
    played: Callable[[int], None] = _nobody
    _known: dict[bytes, Floats] = field(default_factory=dict)

    def __call__(self, coalitions: AnyArray) -> Floats:
        """Return the values of coalitions.

        Parameters
        ----------
        coalitions : array of shape (k, features)
            Above 0 where the row's own feature is known.

        Returns
        -------
        array of shape (k, n * measures)
            Measures vary fastest.
        """
        return np.stack([self._value(coalition) for coalition in np.asarray(coalitions) > 0.0])

    def with_rows(self, rows: AnyArray, played: Callable[[int], None]) -> "Game":
        """Return the same game for other rows."""
        return Game(self.predict, rows, self.background, self.measures, self.outcome, played)

    def _value(self, coalition: AnyArray) -> Floats:
        key = np.packbits(coalition).tobytes()
        if key not in self._known:
            n_rows = max(_LARGEST_TABLE // len(self.background), 1)
            parts = [
                self._measured(self.rows[start : start + n_rows], coalition)
                for start in range(0, len(self.rows), n_rows)
            ]
            self._known[key] = np.concatenate(parts).ravel()
            self.played(len(self._known))
        return self._known[key]

    def _measured(self, rows: AnyArray, coalition: AnyArray) -> Floats:
        """Return the value for some rows, shape (rows, measures)."""
        if coalition.all():
            return self._measures_of(rows).T
        if not coalition.any():
            return np.tile(self._measures_of(self.background).mean(axis=1), (len(rows), 1))
        mixed = np.where(coalition, rows[:, np.newaxis, :], self.background)
        measured = self._measures_of(mixed.reshape(-1, rows.shape[1]))
        value: Floats = measured.reshape(len(self.measures), len(rows), -1).mean(axis=2).T
        return value

    def _measures_of(self, table: AnyArray) -> Floats:
        posterior = self.predict(table)
        uncertainty = posterior.uncertainty() if set(self.measures) != {"mean"} else None
        found = []
        for measure in self.measures:
            if measure == "mean":
                mean = posterior.mean
                found.append(mean[:, self.outcome] if posterior.family == "categorical" else mean)
            else:
                found.append(getattr(uncertainty, measure))
        return np.stack(found)
