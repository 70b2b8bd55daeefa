"""Groups of features that are correlated.

The association of two numbers is the absolute rank correlation (Spearman). That of a number and a category is the
correlation ratio of the ranks, that of two categories Cramér's V; both are corrected for what chance alone gives, which
is much where there are many categories.

>>> rng = np.random.default_rng(0)
>>> size = rng.normal(size=200)
>>> associated_groups(np.column_stack([size, rng.normal(size=200), np.exp(size)]), (0, 0, 0))
[(0, 2)]
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from epiboost._typing import AnyArray, Floats, Integers

MIN_ASSOCIATION = 0.7
"""Features of a group are associated at least so much, all pairs of them."""

_MAX_ROWS = 5_000
_MIN_ROWS = 10  # fewer rows are associated by chance
_MIN_FEATURES = 2


def associated_groups(rows: AnyArray, n_codes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return groups of two features or more that are associated, by complete-linkage clustering.

    Parameters
    ----------
    rows : array of shape (n, features)
        Codes in place of categories, NaN in place of missing values. At most 5,000 rows are used.
    n_codes : sequence of int
        Number of codes per feature, 0 for numbers.
    """
    from scipy.cluster.hierarchy import fcluster, linkage  # noqa: PLC0415 (slow to import)
    from scipy.spatial.distance import squareform  # noqa: PLC0415

    if len(rows) < _MIN_ROWS:
        message = f"groups='correlated' needs a background of at least {_MIN_ROWS} rows; got {len(rows)}"
        raise ValueError(message)
    if rows.shape[1] < _MIN_FEATURES:
        return []
    used = rows[np.linspace(0, len(rows) - 1, min(len(rows), _MAX_ROWS)).astype(np.int64)]
    distance = 1.0 - association(used, n_codes)
    cluster = fcluster(linkage(squareform(distance, checks=False), "complete"), 1.0 - MIN_ASSOCIATION, "distance")
    groups = [tuple(np.flatnonzero(cluster == number).tolist()) for number in np.unique(cluster)]
    return sorted(group for group in groups if len(group) >= _MIN_FEATURES)


def association(rows: AnyArray, n_codes: Sequence[int]) -> Floats:
    """Return the association of each pair of features, from 0 to 1, shape (features, features)."""
    n_rows, n_features = rows.shape
    is_category = np.asarray(n_codes, dtype=np.int64) > 0
    found = np.eye(n_features)
    numbers, categories = np.flatnonzero(~is_category), np.flatnonzero(is_category)
    ranks = (
        np.stack([_standardised_ranks(rows[:, column]) for column in numbers])
        if len(numbers)
        else np.empty((0, n_rows))
    )
    found[np.ix_(numbers, numbers)] = np.minimum(np.abs(ranks @ ranks.T) / n_rows, 1.0)
    codes = [np.unique(np.nan_to_num(rows[:, column], nan=-2.0), return_inverse=True)[1] for column in categories]
    for position, column in enumerate(categories):
        found[column, numbers] = found[numbers, column] = _correlation_ratio(codes[position], ranks)
        for earlier in range(position):
            other = categories[earlier]
            found[column, other] = found[other, column] = _cramers_v(codes[position], codes[earlier])
    np.fill_diagonal(found, 1.0)
    return found


def _standardised_ranks(values: AnyArray) -> Floats:
    """Return ranks with mean zero and variance one; missing values have the mean, a constant column zeros."""
    known = ~np.isnan(values)
    ranks = np.zeros(len(values))
    if known.any():
        ranks[known] = rankdata(values[known])
        ranks[known] -= ranks[known].mean()
    spread = float(np.sqrt(np.square(ranks).mean()))
    return ranks / spread if spread > 0.0 else ranks


def _correlation_ratio(codes: Integers, ranks: Floats) -> Floats:
    """Return the correlation ratio of ranks, shape (numbers, n), by category; corrected as an adjusted R²."""
    counts = np.bincount(codes)
    n_rows, n_values = len(codes), len(counts)
    if n_values in {1, n_rows}:
        return np.zeros(len(ranks))
    between = np.array([np.square(np.bincount(codes, weights=one)) @ (1.0 / counts) for one in ranks]) / n_rows
    adjusted = 1.0 - (1.0 - between) * (n_rows - 1) / (n_rows - n_values)
    varies = np.square(ranks).sum(axis=1) > 0.0
    ratio: Floats = np.where(varies, np.sqrt(np.clip(adjusted, 0.0, 1.0)), 0.0)
    return ratio


def _cramers_v(one: Integers, other: Integers) -> float:
    """Return the bias-corrected Cramér's V of two categories (Bergsma 2013)."""
    n_rows, rows, columns = len(one), int(one.max()) + 1, int(other.max()) + 1
    pairs, together = np.unique(one * columns + other, return_counts=True)
    expected = np.bincount(one)[pairs // columns] * np.bincount(other)[pairs % columns]
    squared = float((np.square(together, dtype=np.float64) / expected).sum()) - 1.0
    corrected = max(squared - (rows - 1) * (columns - 1) / (n_rows - 1), 0.0)
    limit = min(size - (size - 1) ** 2 / (n_rows - 1) for size in (rows, columns)) - 1.0
    return float(np.sqrt(min(corrected / limit, 1.0))) if limit > 0.0 else 0.0
