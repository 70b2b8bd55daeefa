"""Encoded tables, as numbers and as bins."""

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._encoding.binned import BinnedEncoding
from tests.support.encodings import coded_table, fit_and_encode


def test_training_rows_and_new_rows_of_a_common_value_have_similar_encodings():
    X, y, weight = coded_table(n=20_000)
    encoding, tables = fit_and_encode(X, y, weight, residual_function=lambda *_, **__: None)
    encoded, unseen = encoding.transform(X)
    assert not unseen.any()
    assert encoded.shape == tables[0].shape == (20_000, encoding.n_encoded)
    for table in tables:
        assert np.median(np.abs(table - encoded), axis=0).max() < 0.1


def test_random_orders_differ_and_depend_on_the_seed_only():
    X, y, weight = coded_table()
    _, (first, second) = fit_and_encode(X, y, weight)
    _, (again, _) = fit_and_encode(X, y, weight)
    _, (other, _) = fit_and_encode(X, y, weight, seed=2)
    np.testing.assert_array_equal(again, first)
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_every_random_order_has_its_own_statistics():
    X, y, weight = coded_table()
    encoding, tables = fit_and_encode(X, y, weight, n_orders=4)
    statistic = encoding.n_encoded - sum(lookup.width for lookup in encoding.lookups)
    for position, table in enumerate(tables):
        for other in tables[:position]:
            assert (table[:, statistic] != other[:, statistic]).mean() > 0.5
            np.testing.assert_array_equal(table[:, :2], other[:, :2])
    again = fit_and_encode(X, y, weight, n_orders=2)[1]
    np.testing.assert_array_equal(again, tables[:2])


def test_numeric_columns_and_columns_of_two_values_pass_through():
    X, y, weight = coded_table()
    encoding, (table, _) = fit_and_encode(X, y, weight)
    assert encoding.passthrough.tolist() == [0, 3]
    np.testing.assert_array_equal(table[:, :2], X[:, [0, 3]])


def test_encoding_as_bins_equals_binning_the_encoded_numbers():
    X, y, weight = coded_table(n=3000, sizes=(0, 61, 61, 3))
    X[::40, 3] = np.nan
    encoding, (table, _) = fit_and_encode(X, y, weight, sizes=(0, 61, 61, 3))
    bins = Bins.fit(table, weight, 31)
    binned = BinnedEncoding.of(encoding, bins)
    new = np.concatenate([X[:200], [[0.0, -1.0, 3.0, 1.0], [1.0, 2.0, -1.0, -1.0]]])
    codes, unseen = binned.transform(new, threads=1)
    numbers, also_unseen = encoding.transform(new)
    np.testing.assert_array_equal(codes, bins.transform(numbers))
    np.testing.assert_array_equal(unseen, also_unseen)
    imputed = [one.copy() for one in binned.impute_unseen(new[-2:], codes[-2:], 4)]
    expected = [bins.transform(one) for one in encoding.impute_unseen(new[-2:], numbers[-2:], 4)]
    np.testing.assert_array_equal(imputed, expected)
    assert not np.array_equal(imputed[0], imputed[1])
