"""A table with categories, and its encoding without trained trees."""

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._encoding.binned import BinnedEncoding
from epiboost._encoding.fit import fit_encoding

SIZES = (0, 41, 4, 3)


def coded_table(n=400, sizes=SIZES, seed=0):
    """Return a numeric and three categorical columns, of which only the first categorical one matters."""
    random = np.random.default_rng(seed)
    columns = [random.normal(size=n), *(random.integers(size - 1, size=n).astype(float) for size in sizes[1:])]
    X = np.stack(columns, axis=1)
    X[random.uniform(size=n) < 0.05, 1] = np.nan
    y = np.nan_to_num(X[:, 1], nan=-5.0) / 10.0 + random.normal(scale=0.1, size=n)
    return X, y - y.mean(), random.uniform(0.5, 2.0, size=n)


def residuals_of_mean(table, target, weight, *, is_class):  # noqa: ARG001 (the signature of a ResidualFunction)
    """Return the residuals of a constant prediction."""
    return target - np.average(target, weights=weight)


def fit_and_encode(X, y, weight, sizes=SIZES, **parameters):
    """Return the encoding of a table, and the list of its training tables."""
    numbers = X[:, np.array(sizes) == 0]
    bins = Bins.fit(numbers, weight, 255)
    parameters = {"n_classes": 0, "seed": 1, "n_orders": 2, "residual_function": residuals_of_mean, **parameters}
    encoding, tables = fit_encoding(X, y, weight, sizes, bins=bins, binned=bins.transform(numbers), **parameters)
    return encoding, list(tables)


def assert_bins_match_numbers(encoding, table, new):
    """Check that encoding as bins equals encoding as numbers followed by binning."""
    bins = Bins.fit(table, np.ones(len(table)), 63)
    for threads in (1, 3):
        codes, unseen = BinnedEncoding.of(encoding, bins).transform(new, threads=threads)
        numbers, also_unseen = encoding.transform(new)
        np.testing.assert_array_equal(codes, bins.transform(numbers))
        np.testing.assert_array_equal(unseen, also_unseen)
