"""The cooperative game whose Shapley values explain a measure.

A coalition is a set of players, features or groups of them, whose values are known; the other features take the values
of background rows. The value of a coalition S for a row x is the mean of the measure over background rows b,

    v(S) = mean over b of measure(x on S, b elsewhere),

so the value of all players is the measure of the row, and the value of the empty coalition its mean over the
background. One call evaluates a coalition for all rows and all measures, so that predictions are made for thousands of
rows at a time.

Rows are numbers as the trees read them: codes in place of categories, and NaN in place of missing values. A category
that is not in the training table stays unknown.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from epiboost._inputs.schema import CheckedTable, ColumnSchema
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Estimator, Floats, Integers, Table

Explained: TypeAlias = Literal["knowledge", "data", "total", "mean", "score"]
"""What can be explained: a part of the uncertainty, the prediction, or the score of a class."""

_MAX_ROWS_PER_PREDICTION = 1 << 16
"""Enough to outweigh the cost of a call, few enough to stay in the cache."""


def check_explained(measure: str) -> None:
    """Raise an error if the measure is unknown.

    >>> check_explained("knowledge")
    """
    if measure not in get_args(Explained):
        message = f"measure must be one of {', '.join(map(repr, get_args(Explained)))}; got {measure!r}"
        raise ValueError(message)


def numeric_rows(estimator: Estimator, X: Table) -> AnyArray:
    """Return the rows as the trees read them, shape (n, features), with codes in place of categories."""
    schema: ColumnSchema | None = getattr(estimator, "schema_", None)
    return np.asarray(X, dtype=np.float64) if schema is None else schema.transform(X)


def numeric_predictor(estimator: Estimator) -> Callable[[AnyArray], Posterior]:
    """Return the function that predicts rows as `numeric_rows` returns them."""
    predict: Callable[[Table], Posterior] = estimator.predict_posterior
    return (lambda rows: predict(CheckedTable(rows))) if hasattr(estimator, "schema_") else predict


def _ignore_progress(n_evaluated: int) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Game:
    """The value of each coalition of players, for every row and measure.

    Attributes
    ----------
    predict : callable from (k, features) to Posterior
    rows : array of shape (n, features)
        The rows to explain.
    background : array of shape (m, features)
        The rows that unknown features take their values from.
    measures : tuple of {"knowledge", "data", "total", "mean", "score"}
    players : integer array of shape (features,)
        The player that each feature belongs to, from 0.
    outcome : int
        Position of the class whose probability is "mean"; 0 for a regressor.
    score : callable from (k, features) to (k,), or None
        Returns the "score" of rows; None if that is not a measure.
    callback : callable
        Is called with the number of coalitions evaluated so far.
    """

    predict: Callable[[AnyArray], Posterior]
    rows: AnyArray
    background: AnyArray
    measures: tuple[Explained, ...]
    players: Integers
    outcome: int = 0
    score: Callable[[AnyArray], Floats] | None = None
    callback: Callable[[int], None] = _ignore_progress
    _cache: dict[bytes, Floats] = field(default_factory=dict)

    @property
    def n_players(self) -> int:
        """Number of players."""
        return int(self.players.max()) + 1

    def __call__(self, coalitions: AnyArray) -> Floats:
        """Return the values of coalitions.

        Parameters
        ----------
        coalitions : array of shape (k, players)
            Above 0 where the player is known.

        Returns
        -------
        array of shape (k, n * measures)
            Measures vary fastest.
        """
        return np.stack([self._value(coalition) for coalition in np.asarray(coalitions) > 0.0])

    def with_rows(self, rows: AnyArray, callback: Callable[[int], None]) -> "Game":
        """Return the same game for other rows."""
        return replace(self, rows=rows, callback=callback, _cache={})

    def _value(self, coalition: AnyArray) -> Floats:
        """Return the value of a coalition for all rows, shape (n * measures,)."""
        key = np.packbits(coalition).tobytes()
        if key not in self._cache:
            n_rows = max(_MAX_ROWS_PER_PREDICTION // len(self.background), 1)
            parts = [
                self._coalition_value(self.rows[start : start + n_rows], coalition)
                for start in range(0, len(self.rows), n_rows)
            ]
            self._cache[key] = np.concatenate(parts).ravel()
            self.callback(len(self._cache))
        return self._cache[key]

    def _coalition_value(self, rows: AnyArray, coalition: AnyArray) -> Floats:
        """Return the value of a coalition for some rows, shape (rows, measures)."""
        if coalition.all():
            return self._predict_measures(rows).T
        if not coalition.any():
            return np.tile(self._predict_measures(self.background).mean(axis=1), (len(rows), 1))
        mixed = np.where(coalition[self.players], rows[:, np.newaxis, :], self.background)
        measured = self._predict_measures(mixed.reshape(-1, rows.shape[1]))
        value: Floats = measured.reshape(len(self.measures), len(rows), -1).mean(axis=2).T
        return value

    def _predict_measures(self, table: AnyArray) -> Floats:
        """Return the measures of rows, shape (measures, rows)."""
        posterior = self.predict(table)
        uncertainty = None if set(self.measures) <= {"mean", "score"} else posterior.uncertainty()
        found = []
        for measure in self.measures:
            if measure == "score" and self.score is not None:
                found.append(self.score(table))
            elif measure == "mean":
                mean = posterior.mean
                found.append(mean[:, self.outcome] if posterior.family == "categorical" else mean)
            else:
                found.append(getattr(uncertainty, measure))
        return np.stack(found)
