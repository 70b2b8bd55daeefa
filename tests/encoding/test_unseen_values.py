"""Values that training has not seen: found, imputed by member, and unseen in crosses."""

import numpy as np

from tests.support.encodings import assert_bins_match_numbers, coded_table, fit_and_encode


def test_unseen_values_are_reported_and_each_member_imputes_a_known_value():
    X, y, weight = coded_table()
    encoding, _ = fit_and_encode(X, y, weight)
    new = X[:3].copy()
    new[0, 1] = new[1, 3] = -1.0
    encoded, unseen = encoding.transform(new)
    assert unseen.tolist() == [True, True, False]
    imputed = np.stack([table.copy() for table in encoding.impute_unseen(new, encoded, 10)])
    assert imputed.shape == (10, 3, encoding.n_encoded)
    assert len(np.unique(imputed[:, 0, 2])) > 5
    assert np.isfinite(imputed).all()
    np.testing.assert_array_equal(imputed[:, 2], np.tile(encoded[2], (10, 1)))
    statistic = next(lookup for lookup in encoding.lookups if lookup.columns == (1,)).values[:-1, 0]
    assert np.isin(imputed[:, 0, 2], statistic).all()


def test_members_impute_different_values_even_if_one_value_has_nearly_all_rows():
    random = np.random.default_rng(0)
    for share in (0.96, 0.999):
        X = (random.uniform(size=(4000, 1)) > share).astype(float)
        for seed in range(20):
            encoding, _ = fit_and_encode(X, X[:, 0], np.ones(4000), (3,), seed=seed)
            imputed = [table[0, 0] for table in encoding.impute_unseen(np.array([[-1.0]]), np.array([[0.0]]), 10)]
            assert 1 <= sum(imputed) <= 2


def test_crosses_with_an_unseen_value_are_unseen():
    random = np.random.default_rng(0)
    X = random.integers(60, size=(20_000, 2)).astype(float)
    y = random.normal(size=(60, 60))[tuple(X.astype(int).T)]
    X[X[:, 1] == 59, 1] = np.nan  # the last code: what lies before the first one of the next value
    encoding, (table,) = fit_and_encode(X, y, np.ones(20_000), (61, 61), seed=0, n_orders=1)
    pair = encoding.lookups[-1]
    assert pair.columns == (0, 1)
    new = np.array([[-1.0, 3.0], [5.0, -1.0], [-1.0, -1.0], [5.0, 3.0]])
    assert_bins_match_numbers(encoding, table, new)
    encoded, _ = encoding.transform(new)
    np.testing.assert_array_equal(encoded[:, -2] == pair.values[-1, 0], [True, True, True, False])
    np.testing.assert_array_equal(encoded[:, -1] == 0.0, [True, True, True, False])  # how often: never


def test_an_unseen_value_of_a_mostly_missing_column_is_encoded_as_missing():
    X = np.where(np.arange(300) % 3, np.nan, 0.0)[:, np.newaxis]
    encoding, _ = fit_and_encode(X, np.arange(300.0), np.ones(300), (2,), seed=0, n_orders=1)
    new = np.array([[-1.0], [np.nan], [0.0]])
    encoded, unseen = encoding.transform(new)
    assert unseen.tolist() == [True, False, False]
    np.testing.assert_array_equal(encoded, [[np.nan], [np.nan], [0.0]])
    imputed = [table[0, 0] for table in encoding.impute_unseen(new[:1], encoded[:1], 10)]
    assert set(np.isnan(imputed)) == {False, True}
