"""Selection of feature crosses."""

import numpy as np
import pytest

from epiboost._encoding import crosses, target_statistics
from epiboost._encoding.crosses import Candidate, select_crosses


def candidates(random, sizes, n=20_000, *, numbers=()):
    return [
        Candidate(position, random.integers(size, size=n), size, is_number=position in numbers)
        for position, size in enumerate(sizes)
    ]


def test_no_cross_is_selected_for_noise():
    random = np.random.default_rng(0)
    columns = candidates(random, [60] * 6)
    assert select_crosses(columns, random.normal(size=20_000), np.ones(20_000)) == []


def test_the_pair_with_an_effect_is_selected():
    random = np.random.default_rng(0)
    columns = candidates(random, [60] * 4)
    residuals = random.normal(size=(60, 60))[columns[1].codes, columns[3].codes] + random.normal(size=20_000)
    assert select_crosses(columns, residuals, np.ones(20_000)) == [(1, 3)]


def test_a_triple_is_selected_if_one_of_its_pairs_has_an_effect():
    random = np.random.default_rng(0)
    columns = candidates(random, [20, 20, 8, 20])
    effect = random.normal(size=(20, 20, 1)) * random.normal(size=(20, 20, 8))
    residuals = effect[columns[0].codes, columns[1].codes, columns[2].codes] + 0.1 * random.normal(size=20_000)
    residuals += random.normal(size=(20, 20))[columns[0].codes, columns[1].codes]
    assert select_crosses(columns, residuals, np.ones(20_000)) == [(0, 1), (0, 1, 2)]


def test_two_pairs_that_share_a_column_are_both_selected():
    for seed in range(5):
        random = np.random.default_rng(seed)
        columns = candidates(random, [60] * 3)
        residuals = random.normal(size=(60, 60))[columns[0].codes, columns[1].codes]
        residuals += random.normal(size=(60, 60))[columns[0].codes, columns[2].codes]
        assert set(select_crosses(columns, residuals, np.ones(20_000))) >= {(0, 1), (0, 2)}


def test_one_of_two_equivalent_columns_is_selected():
    random = np.random.default_rng(0)
    one, two = candidates(random, [60] * 2)
    again = Candidate(2, (two.codes * 7) % 60, 60)
    residuals = random.normal(size=(60, 60))[one.codes, two.codes]
    assert select_crosses([one, two, again], residuals, np.ones(20_000)) == [(0, 1)]


@pytest.mark.parametrize("scale", [1.0, 50.5, 1000.5])
def test_the_scale_of_weights_does_not_change_the_selection(scale):
    random = np.random.default_rng(2)
    columns = candidates(random, [60] * 6, n=2000)
    weight, noise = np.full(2000, scale), random.normal(size=2000)
    assert select_crosses(columns, noise, weight) == []
    residuals = random.normal(size=(60, 60))[columns[1].codes, columns[3].codes]
    assert select_crosses(columns, residuals, weight) == select_crosses(columns, residuals, np.ones(2000))


def test_crosses_are_scored_in_several_random_orders(monkeypatch):
    random = np.random.default_rng(0)
    columns = candidates(random, [40] * 5, n=4000)
    residuals = 0.4 * random.normal(size=(40, 40))[columns[1].codes, columns[3].codes] + random.normal(size=4000)
    seen = []
    original = target_statistics.ordered_means
    monkeypatch.setattr(
        crosses,
        "ordered_means",
        lambda keys, *others, **options: seen.append(others[2].tobytes()) or original(keys, *others, **options),
    )
    select_crosses(columns, residuals, np.ones(4000))
    assert len(set(seen)) == 4


def test_a_cross_of_two_numeric_columns_is_never_selected():
    random = np.random.default_rng(0)
    columns = candidates(random, [60] * 3, numbers=(0, 1))
    residuals = random.normal(size=(60, 60))[columns[0].codes, columns[1].codes]
    assert select_crosses(columns, residuals, np.ones(20_000)) == []
    residuals = random.normal(size=(60, 60))[columns[0].codes, columns[2].codes]
    assert select_crosses(columns, residuals, np.ones(20_000)) == [(0, 2)]
