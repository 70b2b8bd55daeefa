"""The stages from codes to numbers: statistics that do not see their own row, pairs that pay, keys that are found."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epiboost._binning.bins import Bins
from epiboost._encoding import crosses as combinations
from epiboost._encoding import target_statistics
from epiboost._encoding.binned import BinnedEncoding
from epiboost._encoding.crosses import Candidate, choose_combinations
from epiboost._encoding.encoding import Encoding
from epiboost._encoding.fit import fit_encoding
from epiboost._encoding.intervals import Cuts
from epiboost._encoding.target_statistics import STRENGTH, ordered, whole
from epiboost._native import native


def rows(n=400, sizes=(0, 41, 4, 3), seed=0):
    """Draw a column of numbers and three of codes, of which the first alone matters."""
    random = np.random.default_rng(seed)
    columns = [random.normal(size=n), *(random.integers(size - 1, size=n).astype(float) for size in sizes[1:])]
    X = np.stack(columns, axis=1)
    X[random.uniform(size=n) < 0.05, 1] = np.nan
    y = np.nan_to_num(X[:, 1], nan=-5.0) / 10.0 + random.normal(scale=0.1, size=n)
    return X, y - y.mean(), random.uniform(0.5, 2.0, size=n)


def fitted(X, y, weight, sizes=(0, 41, 4, 3), **parameters):
    numbers = X[:, np.array(sizes) == 0]
    bins = Bins.fit(numbers, weight, 255)
    parameters = {"n_classes": 0, "seed": 1, "n_orders": 2, "left": left, **parameters}
    encoding, tables = fit_encoding(X, y, weight, sizes, bins=bins, binned=bins.transform(numbers), **parameters)
    return encoding, list(tables)


def assert_bins_are_those_of_numbers(encoding, table, new):
    bins = Bins.fit(table, np.ones(len(table)), 63)
    for threads in (1, 3):
        codes, unseen = BinnedEncoding.of(encoding, bins).transform(new, threads=threads)
        numbers, also_unseen = encoding.transform(new)
        np.testing.assert_array_equal(codes, bins.transform(numbers))
        np.testing.assert_array_equal(unseen, also_unseen)


def left(table, target, weight, *, is_class):  # noqa: ARG001 (as trees are asked)
    """Leave all of the target but its mean."""
    return target - np.average(target, weights=weight)


def test_an_ordered_statistic_is_the_weighted_mean_of_the_rows_before():
    random = np.random.default_rng(0)
    group, target, weight = random.integers(4, size=60), random.normal(size=60), random.uniform(0.1, 3.0, size=60)
    order = random.permutation(60)
    expected = np.empty(60)
    for place, row in enumerate(order):
        before = [other for other in order[:place] if group[other] == group[row]]
        total = sum(weight[other] * target[other] for other in before)
        expected[row] = (total + STRENGTH * 0.7) / (weight[before].sum() + STRENGTH)
    np.testing.assert_allclose(ordered(group, target, weight, order, prior=0.7), expected, rtol=1e-12)


@pytest.mark.parametrize("row", [0, 17, 59])
def test_the_target_of_a_row_is_not_in_its_own_ordered_statistic_but_in_later_ones(row):
    random = np.random.default_rng(0)
    group, target, order = random.integers(4, size=60), random.normal(size=60), random.permutation(60)
    changed = target.copy()
    changed[row] += 100.0
    before = ordered(group, target, np.ones(60), order, prior=0.0)
    after = ordered(group, changed, np.ones(60), order, prior=0.0)
    place = np.argsort(order)
    later = (group == group[row]) & (place > place[row])
    np.testing.assert_allclose(after[~later], before[~later], atol=1e-9)
    assert (after[later] > before[later] + 0.5).all()


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_rare_ones_of_few_values_are_not_encoded_by_their_own_target(scale):
    random = np.random.default_rng(0)
    X = np.minimum(random.geometric(0.3, size=(8000, 1)) - 1, 23).astype(float)
    y = X[:, 0] + random.normal(size=8000)
    number = np.bincount(X[:, 0].astype(int))[X[:, 0].astype(int)]
    weight = np.full(8000, scale)
    _, (table,) = fitted(X, y, weight, (25,), seed=1, n_orders=1)
    prior = np.average(y)
    assert (number == 1).any()
    np.testing.assert_allclose(table[number < 100, 0], prior)
    common = number >= 100
    assert np.corrcoef(table[common, 0], X[common, 0])[0, 1] > 0.99
    assert len(np.unique(table, axis=0)) == len(np.unique(X))


@pytest.mark.parametrize("n_values", [3, 5, 24])
def test_few_values_that_say_nothing_of_the_target_are_not_put_into_its_order(n_values):
    random = np.random.default_rng(n_values)
    X, y = random.integers(n_values, size=(8000, 1)).astype(float), random.normal(size=8000)
    tables = [fitted(X, y, np.ones(8000), (n_values + 1,), seed=1, n_orders=1)[1][0]]
    tables.append(fitted(X, -y, np.ones(8000), (n_values + 1,), seed=1, n_orders=1)[1][0])
    np.testing.assert_array_equal(*tables)
    assert len(np.unique(tables[0][:, 0])) == n_values


def test_a_statistic_of_no_rows_is_the_prior():
    assert whole(np.array([0, 0]), np.array([1.0, 3.0]), np.ones(2), 2, prior=0.5)[1] == 0.5


def test_training_rows_and_new_rows_of_a_common_value_are_encoded_nearly_alike():
    X, y, weight = rows(n=20_000)
    encoding, tables = fitted(X, y, weight, left=lambda *_, **__: None)
    encoded, unseen = encoding.transform(X)
    assert not unseen.any()
    assert encoded.shape == tables[0].shape == (20_000, encoding.n_encoded)
    for table in tables:
        assert np.median(np.abs(table - encoded), axis=0).max() < 0.1


def test_orders_differ_and_are_the_same_for_the_same_seed():
    X, y, weight = rows()
    _, (first, second) = fitted(X, y, weight)
    _, (again, _) = fitted(X, y, weight)
    _, (other, _) = fitted(X, y, weight, seed=2)
    np.testing.assert_array_equal(again, first)
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_unseen_codes_are_found_in_every_column_and_lent_a_known_value_by_member():
    X, y, weight = rows()
    encoding, _ = fitted(X, y, weight)
    new = X[:3].copy()
    new[0, 1] = new[1, 3] = -1.0
    encoded, unseen = encoding.transform(new)
    assert unseen.tolist() == [True, True, False]
    lent = np.stack([table.copy() for table in encoding.lend(new, encoded, 10)])
    assert lent.shape == (10, 3, encoding.n_encoded)
    assert len(np.unique(lent[:, 0, 2])) > 5
    assert np.isfinite(lent).all()
    np.testing.assert_array_equal(lent[:, 2], np.tile(encoded[2], (10, 1)))
    statistic = next(group for group in encoding.groups if group.columns == (1,)).values[:-1, 0]
    assert np.isin(lent[:, 0, 2], statistic).all()


def test_members_differ_about_an_unseen_value_also_where_one_value_has_nearly_all_rows():
    random = np.random.default_rng(0)
    for share in (0.96, 0.999):
        X = (random.uniform(size=(4000, 1)) > share).astype(float)
        for seed in range(20):
            encoding, _ = fitted(X, X[:, 0], np.ones(4000), (3,), seed=seed)
            lent = [table[0, 0] for table in encoding.lend(np.array([[-1.0]]), np.array([[0.0]]), 10)]
            assert 1 <= sum(lent) <= 2


def test_the_pairs_of_an_unseen_value_are_unseen():
    random = np.random.default_rng(0)
    X = random.integers(60, size=(20_000, 2)).astype(float)
    y = random.normal(size=(60, 60))[tuple(X.astype(int).T)]
    X[X[:, 1] == 59, 1] = np.nan  # the last code: what lies before the first one of the next value
    encoding, (table,) = fitted(X, y, np.ones(20_000), (61, 61), seed=0, n_orders=1)
    pair = encoding.groups[-1]
    assert pair.columns == (0, 1)
    new = np.array([[-1.0, 3.0], [5.0, -1.0], [-1.0, -1.0], [5.0, 3.0]])
    assert_bins_are_those_of_numbers(encoding, table, new)
    encoded, _ = encoding.transform(new)
    np.testing.assert_array_equal(encoded[:, -2] == pair.values[-1, 0], [True, True, True, False])
    np.testing.assert_array_equal(encoded[:, -1] == 0.0, [True, True, True, False])  # how often: never


def test_every_order_of_the_rows_has_its_own_statistics():
    X, y, weight = rows()
    encoding, tables = fitted(X, y, weight, n_orders=4)
    statistic = encoding.n_encoded - sum(group.width for group in encoding.groups)
    for place, table in enumerate(tables):
        for other in tables[:place]:
            assert (table[:, statistic] != other[:, statistic]).mean() > 0.5
            np.testing.assert_array_equal(table[:, :2], other[:, :2])
    again = fitted(X, y, weight, n_orders=2)[1]
    np.testing.assert_array_equal(again, tables[:2])


def test_columns_of_two_values_or_none_are_left_as_they_are():
    X, y, weight = rows()
    encoding, (table, _) = fitted(X, y, weight)
    assert encoding.plain.tolist() == [0, 3]
    np.testing.assert_array_equal(table[:, :2], X[:, [0, 3]])


def test_an_unseen_value_of_a_column_that_is_mostly_missing_is_taken_as_missing():
    X = np.where(np.arange(300) % 3, np.nan, 0.0)[:, np.newaxis]
    encoding, _ = fitted(X, np.arange(300.0), np.ones(300), (2,), seed=0, n_orders=1)
    new = np.array([[-1.0], [np.nan], [0.0]])
    encoded, unseen = encoding.transform(new)
    assert unseen.tolist() == [True, False, False]
    np.testing.assert_array_equal(encoded, [[np.nan], [np.nan], [0.0]])
    lent = [table[0, 0] for table in encoding.lend(new[:1], encoded[:1], 10)]
    assert set(np.isnan(lent)) == {False, True}


def test_an_encoding_comes_back_from_its_file_and_from_a_pickle():
    X, y, weight = rows(n=3000, sizes=(0, 61, 61, 3))
    encoding, _ = fitted(X, y, weight, sizes=(0, 61, 61, 3))
    for again in (Encoding.from_file(*encoding.to_file()), pickle.loads(pickle.dumps(encoding))):  # noqa: S301
        np.testing.assert_array_equal(again.transform(X)[0], encoding.transform(X)[0])


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("category_sizes", lambda array: -array, "category_sizes must be a row of whole numbers"),
        ("category_sizes", lambda array: array[:-1], "groups must be of columns that have codes"),
        ("plain_columns", lambda array: array + 1, "every column must be encoded once"),
        ("plain_columns", lambda array: np.append(array, array[0]), "every column must be encoded once"),
        ("plain_columns", lambda array: array.astype(np.int32), "plain_columns must be a row of whole numbers"),
        ("group_columns", lambda array: array + 1, "groups must be of columns that have codes"),
        ("group_columns", lambda array: array[:, ::-1].copy(), "groups must be of columns that have codes"),
        ("group_columns", lambda array: array[:, [0, 1, 0]], "must come before what is left empty"),
        ("group_columns", lambda array: array[:, [0, 0, 2]], "encoded once|keys of a group must lie between"),
        ("group_columns", lambda array: array[:, :1], "must hold 3 numbers a group"),
        ("cut_columns", lambda array: array + 1, "columns that are cut must hold numbers"),
        ("cut_columns", lambda array: array[:0], "every column that is cut must have borders"),
        ("cut_columns", lambda array: array.astype(float), "cut_columns must be a row of whole numbers"),
        ("cut_borders", lambda array: array[::-1].copy(), "borders must ascend"),
        ("cut_borders", lambda array: array * np.nan, "borders must ascend and be finite"),
        ("cut_offsets", lambda array: array + 1, "offsets must ascend from 0"),
        ("group_shapes", lambda array: array - 1, "groups must have keys"),
        ("group_shapes", lambda array: array * 1000, "groups must have keys"),
        ("group_keys", lambda array: array[::-1].copy(), "keys of a group must ascend"),
        ("group_keys", lambda array: array[:-1], "groups must have keys"),
        ("group_rows", lambda array: -array, "every key must have rows"),
        ("group_rows", lambda array: array[:-1], "every key must have rows"),
        ("group_values", lambda array: array * np.nan, "group_values must be finite"),
        ("group_values", lambda array: array[:-1], "group_values must be finite, and fill"),
    ],
)
def test_parts_of_a_file_that_do_not_fit_are_refused(name, change, fault):
    X, _, weight = rows(n=4000)
    week = (np.argsort(np.argsort(X[:, 0])) // 200).astype(int)
    y = np.random.default_rng(0).normal(size=(20, 41))[week, np.nan_to_num(X[:, 1], nan=40.0).astype(int)]
    header, arrays = fitted(X, y, weight)[0].to_file()
    assert arrays["cut_columns"].tolist() == [0]
    with pytest.raises(ValueError, match=fault):
        Encoding.from_file(header, {**arrays, name: change(arrays[name])})


@pytest.mark.parametrize("seed", [-1, 1.5, "a", None])
def test_a_seed_that_is_none_is_refused(seed):
    _, arrays = fitted(*rows())[0].to_file()
    with pytest.raises(ValueError, match="seed"):
        Encoding.from_file({"seed": seed}, arrays)


def candidates(random, sizes, n=20_000, *, numbers=()):
    return [
        Candidate(place, random.integers(size, size=n), size, is_number=place in numbers)
        for place, size in enumerate(sizes)
    ]


def test_combinations_of_noise_do_not_pay():
    random = np.random.default_rng(0)
    columns = candidates(random, [60] * 6)
    assert choose_combinations(columns, random.normal(size=20_000), np.ones(20_000)) == []


def test_the_pair_that_matters_is_found():
    random = np.random.default_rng(0)
    columns = candidates(random, [60] * 4)
    rest = random.normal(size=(60, 60))[columns[1].codes, columns[3].codes] + random.normal(size=20_000)
    assert choose_combinations(columns, rest, np.ones(20_000)) == [(1, 3)]


def test_the_triple_that_matters_is_found_where_its_pairs_hint_at_it():
    random = np.random.default_rng(0)
    columns = candidates(random, [20, 20, 8, 20])
    effect = random.normal(size=(20, 20, 1)) * random.normal(size=(20, 20, 8))
    rest = effect[columns[0].codes, columns[1].codes, columns[2].codes] + 0.1 * random.normal(size=20_000)
    rest += random.normal(size=(20, 20))[columns[0].codes, columns[1].codes]
    assert choose_combinations(columns, rest, np.ones(20_000)) == [(0, 1), (0, 1, 2)]


def test_two_pairs_that_share_a_column_are_both_found():
    for seed in range(5):
        random = np.random.default_rng(seed)
        columns = candidates(random, [60] * 3)
        rest = random.normal(size=(60, 60))[columns[0].codes, columns[1].codes]
        rest += random.normal(size=(60, 60))[columns[0].codes, columns[2].codes]
        assert set(choose_combinations(columns, rest, np.ones(20_000))) >= {(0, 1), (0, 2)}


def test_of_two_columns_that_tell_each_other_one_is_taken():
    random = np.random.default_rng(0)
    one, two = candidates(random, [60] * 2)
    again = Candidate(2, (two.codes * 7) % 60, 60)
    rest = random.normal(size=(60, 60))[one.codes, two.codes]
    assert choose_combinations([one, two, again], rest, np.ones(20_000)) == [(0, 1)]


@pytest.mark.parametrize("scale", [1.0, 50.5, 1000.5])
def test_the_scale_of_weights_changes_no_choice(scale):
    random = np.random.default_rng(2)
    columns = candidates(random, [60] * 6, n=2000)
    weight, noise = np.full(2000, scale), random.normal(size=2000)
    assert choose_combinations(columns, noise, weight) == []
    rest = random.normal(size=(60, 60))[columns[1].codes, columns[3].codes]
    assert choose_combinations(columns, rest, weight) == choose_combinations(columns, rest, np.ones(2000))


def test_combinations_are_judged_in_several_orders(monkeypatch):
    random = np.random.default_rng(0)
    columns = candidates(random, [40] * 5, n=4000)
    rest = 0.4 * random.normal(size=(40, 40))[columns[1].codes, columns[3].codes] + random.normal(size=4000)
    seen = []
    by_native = target_statistics.ordered
    monkeypatch.setattr(
        combinations,
        "ordered",
        lambda keys, *others, **options: seen.append(others[2].tobytes()) or by_native(keys, *others, **options),
    )
    choose_combinations(columns, rest, np.ones(4000))
    assert len(set(seen)) == 4


@pytest.mark.parametrize(("n", "intervals"), [(1000, 8), (8000, 16), (100_000, 63)])
def test_a_column_of_numbers_is_cut_the_finer_the_more_rows_there_are(n, intervals):
    X = np.random.default_rng(0).normal(size=(n, 1))
    bins = Bins.fit(X, np.ones(n), 255)
    cuts = Cuts.fit(bins, bins.transform(X), np.ones(n), np.array([0]))
    assert len(cuts.bins.borders_of(0)) + 1 == pytest.approx(intervals, abs=1)


def test_two_columns_of_numbers_are_left_to_the_trees():
    random = np.random.default_rng(0)
    columns = candidates(random, [60] * 3, numbers=(0, 1))
    rest = random.normal(size=(60, 60))[columns[0].codes, columns[1].codes]
    assert choose_combinations(columns, rest, np.ones(20_000)) == []
    rest = random.normal(size=(60, 60))[columns[0].codes, columns[2].codes]
    assert choose_combinations(columns, rest, np.ones(20_000)) == [(0, 2)]


def test_a_column_of_numbers_is_cut_where_it_matters_together_with_a_category():
    random = np.random.default_rng(0)
    n, sizes = 20_000, (0, 41, 0)
    X = np.stack([random.uniform(size=n), random.integers(40, size=n), random.normal(size=n)], axis=1)
    week = (X[:, 0] * 20).astype(int)
    X[::50, 0], week[::50] = np.nan, 20
    y = random.normal(size=(40, 21))[X[:, 1].astype(int), week]
    encoding, (table, _) = fitted(X, y, np.ones(n), sizes)
    assert [group.columns for group in encoding.groups] == [(1,), (0, 1)]
    assert encoding.cuts.columns.tolist() == [0]
    assert np.corrcoef(table[:, -2], y)[0, 1] > 0.6
    assert np.corrcoef(encoding.transform(X)[0][:, -2], y)[0, 1] > 0.7
    assert_bins_are_those_of_numbers(encoding, table, X[:700])
    again = Encoding.from_file(*encoding.to_file())
    np.testing.assert_array_equal(again.transform(X)[0], encoding.transform(X)[0])


@settings(max_examples=50, deadline=None)
@given(
    keys=st.sets(st.integers(0, 2**62) | st.integers(0, 300), min_size=1, max_size=200),
    wanted=st.lists(st.integers(-1, 2**62) | st.integers(-1, 900), max_size=50),
)
def test_keys_are_found_where_they_stand_and_others_are_not(keys, wanted):
    keys = sorted(keys)
    asked = np.array([*wanted, *keys[::3]], dtype=np.int64)
    expected = [keys.index(key) if key in keys else len(keys) for key in asked.tolist()]
    assert native().Keys(np.array(keys, dtype=np.int64)).find(asked).tolist() == expected


def test_bins_of_an_encoding_are_those_of_its_numbers():
    X, y, weight = rows(n=3000, sizes=(0, 61, 61, 3))
    X[::40, 3] = np.nan
    encoding, (table, _) = fitted(X, y, weight, sizes=(0, 61, 61, 3))
    bins = Bins.fit(table, weight, 31)
    binned = BinnedEncoding.of(encoding, bins)
    new = np.concatenate([X[:200], [[0.0, -1.0, 3.0, 1.0], [1.0, 2.0, -1.0, -1.0]]])
    codes, unseen = binned.transform(new, threads=1)
    numbers, also_unseen = encoding.transform(new)
    np.testing.assert_array_equal(codes, bins.transform(numbers))
    np.testing.assert_array_equal(unseen, also_unseen)
    lent = [one.copy() for one in binned.lend(new[-2:], codes[-2:], 4)]
    expected = [bins.transform(one) for one in encoding.lend(new[-2:], numbers[-2:], 4)]
    np.testing.assert_array_equal(lent, expected)
    assert not np.array_equal(lent[0], lent[1])
