"""Fits the encoding of a table's categories on its training rows; see `encoding` for the encodings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._encoding.crosses import MAX_ROWS, Candidate, MayCross, all_may_cross, screen_columns, select_crosses
from epiboost._encoding.encoding import Encoding
from epiboost._encoding.intervals import Intervals
from epiboost._encoding.lookup import ValueLookup, codes_of, keys_of
from epiboost._encoding.low_cardinality import ordinal_encodings
from epiboost._encoding.target_statistics import frequency_encoding, full_means, ordered_means
from epiboost._typing import AnyArray, Bytes, Floats, Integers

_MAX_LOW_CARDINALITY = 24  # values of a column that is not target encoded
_ROWS_PER_ORDINAL_VALUE = 100  # on average; with fewer rows, low cardinality is one-hot encoded
_MAX_CLASSES = 8  # classes with a statistic of their own

Kind: TypeAlias = Literal["passthrough", "ordinal", "one-hot", "target", "cross"]


class ResidualFunction(Protocol):
    """Returns out-of-fold residuals of a quick ensemble of trees."""

    def __call__(self, table: Floats, target: Floats, weight: Floats, *, is_class: bool) -> Floats | None:
        """Return residuals of shape (n,), or None if the trees cannot be trained.

        Parameters
        ----------
        table : array of shape (n, columns)
            Numbers; rows are in random order.
        target, weight : arrays of shape (n,)
        is_class : bool
            Whether the target is 0 or 1.
        """


def fit_encoding(
    X: AnyArray,
    target: Floats,
    weight: Floats,
    sizes: Sequence[int],
    *,
    bins: Bins,
    binned: Bytes,
    n_classes: int,
    seed: int,
    n_orders: int,
    residual_function: ResidualFunction,
    may_cross: MayCross = all_may_cross,
) -> tuple[Encoding, Iterator[Floats]]:
    """Fit an encoding, and encode the table for training.

    Parameters
    ----------
    X : array of shape (n, features)
        Numbers, and codes of categories: -1 for unseen values, NaN for missing values.
    target : array of shape (n,)
        Standardised values or class indices.
    weight : array of shape (n,)
    sizes : sequence of int
        Number of codes per column, including the one for missing values; 0 for a numeric column.
    bins : Bins
        Bins of the numeric columns.
    binned : array of shape (n, p)
        Binned numeric columns. The encoding depends on the numbers through their bins only.
    n_classes : int
        0 for regression.
    seed : int
        Seed of the random orders.
    n_orders : int
        Number of random orders.
    residual_function : callable
        Returns the out-of-fold residuals by which feature crosses are selected.
    may_cross : callable
        Whether the columns of these indices may be crossed; all by default.

    Returns
    -------
    Encoding
    tables : iterator of arrays of shape (n, n_encoded)
        One per random order of the rows.
    """
    targets = _statistic_targets(target, weight, n_classes)
    fit = _EncodingFit(X, targets, weight, np.asarray(sizes, dtype=np.int64), regression=n_classes == 0)
    intervals = Intervals.fit(bins, binned, weight, np.flatnonzero(fit.sizes == 0).astype(np.int64))
    return fit.run(seed, n_orders, intervals, binned, _CrossSelection(residual_function, may_cross))


@dataclass(frozen=True, slots=True)
class _CrossSelection:
    """How feature crosses are selected; see `fit_encoding`."""

    residual_function: ResidualFunction
    may_cross: MayCross


@dataclass(frozen=True, slots=True)
class _TrainingColumns:
    """The encoded columns of the training rows for one lookup.

    Attributes
    ----------
    category : array of shape (n,)
        Position of each row's value in the lookup.
    n_statistics : int
        Number of targets with an ordered mean.
    has_deviation : bool
        Whether there is an ordered mean of absolute deviations.
    fixed : array of shape (values, columns)
        Encodings that do not depend on the order of the rows.
    """

    category: Integers
    n_statistics: int
    has_deviation: bool
    fixed: Floats


class _EncodingFit:
    """The steps of `fit_encoding`: single columns, selection of crosses, crosses, training tables."""

    def __init__(self, X: AnyArray, targets: Floats, weight: Floats, sizes: Integers, *, regression: bool) -> None:
        self.X, self.targets, self.weight, self.sizes, self.regression = X, targets, weight, sizes, regression
        self.codes = codes_of(X, sizes)
        self.priors = np.average(targets, axis=0, weights=weight).tolist()
        self.lookups: list[ValueLookup] = []
        self.columns: list[_TrainingColumns] = []

    def run(
        self, seed: int, n_orders: int, intervals: Intervals, binned: Bytes, selection: "_CrossSelection"
    ) -> tuple[Encoding, Iterator[Floats]]:
        random = np.random.default_rng(seed)
        order = random.permutation(len(self.X))
        passthrough: list[int] = np.flatnonzero(self.sizes == 0).tolist()
        encoded: list[int] = []
        for column in list(self.codes):
            kind = self._encoding_kind(int(self.sizes[column]) - 1)
            (passthrough if kind == "passthrough" else encoded).append(column)
            self._add_lookup((column,), kind, order)
        binary = [column for column in passthrough if self.sizes[column]]
        crosses = self._select_crosses(encoded, intervals, [binned, self.X[:, binary]], order, selection)
        intervals = intervals.select(np.intersect1d(intervals.columns, np.array(sum(crosses, ()), dtype=np.int64)))
        sizes = self.sizes
        self.codes, self.sizes = self.codes | intervals.codes(self.X), intervals.add_sizes(sizes)
        for columns in crosses:
            self._add_lookup(columns, "cross", order)
        encoding = Encoding(sizes, np.array(passthrough, dtype=np.int64), tuple(self.lookups), intervals, seed)
        return encoding, self._tables(passthrough, order, random, n_orders)

    def _tables(
        self, passthrough: list[int], first: Integers, random: np.random.Generator, n_orders: int
    ) -> Iterator[Floats]:
        """Yield the table of each random order; one at a time is in memory."""
        for index in range(n_orders):
            order = random.permutation(len(self.X)) if index else first
            yield np.concatenate([self.X[:, passthrough], *self._encoded_columns(order)], axis=1, dtype=np.float64)

    def _encoded_columns(self, order: Integers) -> Iterator[Floats]:
        """Yield the encoded columns of the lookups for an order of the rows, arrays of shape (n, columns)."""
        for part in self.columns:
            for target, prior in zip(self.targets.T[: part.n_statistics], self.priors, strict=False):
                mean = ordered_means(part.category, target, self.weight, order, prior=prior)
                yield mean[:, np.newaxis]
            if part.has_deviation:
                deviation, prior = self._deviation(mean)
                yield ordered_means(part.category, deviation, self.weight, order, prior=prior)[:, np.newaxis]
            yield part.fixed[part.category]

    def _encoding_kind(self, n_values: int) -> Kind:
        """Return how a column of so many values is encoded."""
        if n_values <= 2:  # noqa: PLR2004 (one split separates two values)
            return "passthrough"
        if n_values > _MAX_LOW_CARDINALITY:
            return "target"
        return "ordinal" if len(self.weight) >= _ROWS_PER_ORDINAL_VALUE * n_values else "one-hot"

    def _select_crosses(
        self,
        encoded: list[int],
        intervals: Intervals,
        passthrough: list[AnyArray],
        order: Integers,
        selection: "_CrossSelection",
    ) -> list[tuple[int, ...]]:
        """Return the crosses that explain residuals of trees on the single columns; one part may be numeric."""
        rows = order[:MAX_ROWS]
        target, weight = self.targets[rows, 0], self.weight[rows]
        candidates = [Candidate(column, self.codes[column][rows], int(self.sizes[column])) for column in encoded]
        sizes = intervals.add_sizes(self.sizes)
        for column, codes in intervals.codes(self.X[rows]).items():
            candidates.append(Candidate(column, codes, int(sizes[column]), is_number=True))
        candidates = screen_columns(candidates, target, weight)
        if not candidates:
            return []
        table = np.concatenate([*passthrough, *self._encoded_columns(order)], axis=1)[rows]
        residuals = selection.residual_function(table, target, weight, is_class=not self.regression)
        return [] if residuals is None else select_crosses(candidates, residuals, weight, selection.may_cross)

    def _add_lookup(self, columns: tuple[int, ...], kind: Kind, order: Integers) -> None:
        """Add the lookup and the training columns of a column or a cross."""
        distinct, category = np.unique(keys_of(columns, self.codes, self.sizes), return_inverse=True)
        n_values = len(distinct)
        weights = np.bincount(category, weights=self.weight, minlength=n_values).astype(np.float64)
        has_deviation = kind == "target" and self.regression
        n_statistics = self.targets.shape[1] if kind in {"target", "cross"} else 0
        statistics: list[Floats] = []
        for target, prior in zip(self.targets.T[:n_statistics], self.priors, strict=False):
            statistics.append(np.append(full_means(category, target, self.weight, n_values, prior=prior), prior))
        if has_deviation:
            statistics.append(self._full_deviation(category, n_values, order))
        fixed = self._fixed_encodings(category, n_values, kind)
        self.lookups.append(ValueLookup(columns, distinct, weights, _stacked([*statistics, *fixed], n_values + 1)))
        self.columns.append(_TrainingColumns(category, n_statistics, has_deviation, _stacked(fixed, n_values + 1)))

    def _fixed_encodings(self, category: Integers, n_values: int, kind: Kind) -> list[Floats]:
        """Return the encodings that do not depend on the order of the rows, arrays of shape (n_values + 1,)."""
        counts = np.bincount(category, minlength=n_values).astype(np.float64)  # weights may depend on the target
        if kind == "ordinal":
            return ordinal_encodings(category, counts, self.targets, self.weight)
        if kind == "one-hot":
            return list(np.eye(n_values + 1, n_values).T)
        if kind == "passthrough":
            return []
        return [frequency_encoding(counts, unseen="median" if kind == "target" else "zero")]

    def _full_deviation(self, category: Integers, n_values: int, order: Integers) -> Floats:
        """Return the mean absolute deviation of each value's targets from their ordered means."""
        mean = ordered_means(category, self.targets[:, 0], self.weight, order, prior=self.priors[0])
        deviation, prior = self._deviation(mean)
        return np.append(full_means(category, deviation, self.weight, n_values, prior=prior), prior)

    def _deviation(self, mean: Floats) -> tuple[Floats, float]:
        """Return the absolute deviation of each target from its ordered mean, and the average."""
        deviation = np.abs(self.targets[:, 0] - mean)
        return deviation, float(np.average(deviation, weights=self.weight))


def _stacked(columns: list[Floats], n_values: int) -> Floats:
    return np.stack(columns, axis=1) if columns else np.empty((n_values, 0))


def _statistic_targets(target: Floats, weight: Floats, n_classes: int) -> Floats:
    """Return the targets that statistics are taken of, shape (n, k).

    With many classes, the most common have an indicator each. The other classes are numbered from one, and each binary
    digit of these numbers is a target. Together they still distinguish all classes.
    """
    if n_classes <= 2:  # noqa: PLR2004 (one share determines the other)
        return target[:, np.newaxis]
    labels = target.astype(np.int64)
    ranked = np.argsort(-np.bincount(labels, weights=weight, minlength=n_classes), kind="stable")
    number = np.zeros(n_classes, dtype=np.int64)
    number[ranked[_MAX_CLASSES:]] = np.arange(1, max(n_classes - _MAX_CLASSES, 0) + 1)
    digits = np.arange(int(number.max()).bit_length())
    common = labels[:, np.newaxis] == ranked[:_MAX_CLASSES]
    return np.concatenate([common, number[labels][:, np.newaxis] >> digits & 1], axis=1).astype(np.float64)
