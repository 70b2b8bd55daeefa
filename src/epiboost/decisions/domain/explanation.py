"""Why a row is foreign: the columns that make it so, and the training rows that are most like it.

The score is divided among the columns: the surprise of the distance in proportion to each column's distance to the
nearest training row, the surprise of the strangest value in proportion to the surprise of each value. What uncertainty
adds is no column's share. The sum of all is the score.

Two rows are alike for a model if they fall into the same leaves (proximity, or leaf affinity): the share of trees in
which they do. Trees that are not ours do not tell their leaves; then the nearest rows by distance are shown.

References
----------
L. Breiman: Random forests. Machine Learning, 2001.
"""

from dataclasses import dataclass

import numpy as np

from epiboost._display import html_table
from epiboost._inputs.schema import ColumnSchema
from epiboost._posterior.frames import Frame, FrameBackend, make_frame
from epiboost._typing import AnyArray, Floats, Integers, LibraryObject
from epiboost.decisions.domain.score import DomainScore, ScoredRows
from epiboost.engines.base import LeafForest

_SHOWN_COLUMNS = 6
_N_TREES = 200  # whose leaves are compared, at most


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DomainExplanation:
    """Why rows are foreign.

    Attributes
    ----------
    names : tuple of str
        Names of the columns, their positions if they have none.
    columns : array of shape (n, features)
        What each column adds to the score.
    uncertainty : array of shape (n,)
        What uncertainty adds.
    similar : integer array of shape (n, k)
        The kept training rows that are most alike, the nearest first: positions in ``kept_rows``.
    affinity : array of shape (n, k)
        Share of trees in which they fall into the same leaf; NaN if the trees do not tell.
    kept_rows : array of shape (m, features)
        Training rows that the model keeps; categories are values, not codes.
    index : pandas.Index or None
        That of the frame that was explained; `to_frame` keeps it.
    """

    names: tuple[str, ...]
    columns: Floats
    uncertainty: Floats
    similar: Integers
    affinity: Floats
    kept_rows: AnyArray
    index: LibraryObject = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.columns)

    def __repr__(self) -> str:
        """Return the number of rows, and what makes the first ones foreign."""
        lines = [f"DomainExplanation({len(self)} rows)"]
        for row in range(min(len(self), 5)):
            reasons = ", ".join(f"{name} {share:.1f}" for name, share in self.top(row))
            lines.append(f"  row {row}: {reasons or 'no column'}; uncertainty {self.uncertainty[row]:.1f}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return a table of the first rows and the columns that add most to them, for notebooks."""
        order = np.argsort(-self.columns.sum(axis=0), kind="stable")[:_SHOWN_COLUMNS]
        shown = {self.names[column]: self.columns[:, column] for column in order}
        caption = f"{type(self).__name__}({len(self)} rows): what each column adds to the score"
        return html_table(caption, {**shown, "(uncertainty)": self.uncertainty}, self.index, len(self))

    def top(self, row: int, n_columns: int = 3) -> list[tuple[str, float]]:
        """Return the columns that add most to the score of a row, largest first, with what they add."""
        order = np.argsort(-self.columns[row], kind="stable")[:n_columns]
        return [
            (self.names[column], float(self.columns[row, column])) for column in order if self.columns[row, column] > 0
        ]

    def to_frame(self, backend: FrameBackend = "pandas") -> Frame:
        """Return what each column and uncertainty add to the score, one row each.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
        """
        parts = dict(zip(self.names, self.columns.T, strict=True))
        return make_frame({**parts, "(uncertainty)": self.uncertainty}, backend, self.index)

    def similar_rows(self, row: int, backend: FrameBackend = "pandas") -> Frame:
        """Return the training rows that are most like a row, the nearest first, with their affinity.

        Parameters
        ----------
        row : int
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
        """
        rows = self.kept_rows[self.similar[row]]
        columns = {name: np.array(values.tolist()) for name, values in zip(self.names, rows.T, strict=True)}
        return make_frame({"(affinity)": self.affinity[row], **columns}, backend)


def explain_rows(score: DomainScore, rows: ScoredRows, n_similar: int) -> tuple[Floats, Integers, Floats, AnyArray]:
    """Return the columns' shares of novelty, the similar rows, their affinity, and the kept rows as values."""
    novelty, parts = score.kept_novelty, rows.novelty_parts
    by_distance = _shares(novelty.distances_to(rows.table, parts.nearest)) * parts.distance[:, np.newaxis]
    by_value = _shares(novelty.columns(rows.table)) * parts.strangest[:, np.newaxis]
    kept = novelty.kept_rows(np.arange(len(novelty)))
    forest = getattr(score.model.estimator, "forest_", None)
    if isinstance(forest, LeafForest):
        similar, affinity = _most_alike(forest, rows.table, kept, n_similar)
    else:
        similar = novelty.nearest_rows(rows.table, n_similar)
        affinity = np.full(similar.shape, np.nan)
    return by_distance + by_value, similar, affinity, _decoded(kept, score.schema)


def _shares(parts: Floats) -> Floats:
    """Divide each row by its sum; rows of zeros stay."""
    total = parts.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(parts, total, out=np.zeros_like(parts), where=total > 0.0)
    return shares


def _most_alike(forest: LeafForest, table: AnyArray, kept: Floats, n_similar: int) -> tuple[Integers, Floats]:
    """Return the kept rows that share most leaves with each row, and the share of trees in which they do."""
    ours, others = (forest.leaf_indices(rows, _N_TREES) for rows in (table, kept))
    n_similar = min(n_similar, len(kept))
    similar = np.empty((len(table), n_similar), dtype=np.int64)
    affinity = np.empty((len(table), n_similar))
    for row, leaves in enumerate(ours):
        shared = (others == leaves).mean(axis=1)
        similar[row] = np.argsort(-shared, kind="stable")[:n_similar]
        affinity[row] = shared[similar[row]]
    return similar, affinity


def _decoded(table: Floats, schema: ColumnSchema) -> AnyArray:
    """Return a table with the values of its categories; missing ones are None."""
    decoded = table.astype(object)
    for column, known in enumerate(schema.categories):
        if known is not None:
            values = np.array([*known.values, None], dtype=object)
            decoded[:, column] = values[np.where(np.isnan(table[:, column]), -1.0, table[:, column]).astype(np.int64)]
    return decoded
