"""Number, size and learning rate of the trees."""

import pytest

from epiboost._boosting.capacity import Capacity, TreeSize, candidates, chain_length, usual_size
from epiboost._boosting.recipe import Recipe


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("auto", "auto"), (600, 0.2)),
        (("auto", 0.1), (1200, 0.1)),
        (("auto", 1.0), (120, 1.0)),
        (("auto", 1e-6), (2400, 1e-6)),
        ((1000, "auto"), (1000, 0.12)),
        ((10, "auto"), (10, 0.3)),
        ((10**6, "auto"), (10**6, 0.05)),
        ((7, 0.9), (7, 0.9)),
    ],
)
def test_learning_rate_times_trees_is_the_same_unless_both_are_given(given, expected):
    assert chain_length(*given) == expected


@pytest.mark.parametrize("is_classification", [False, True])
@pytest.mark.parametrize("leaf_wise", [False, True])
@pytest.mark.parametrize("n_rows", [2, 4_999, 5_000, 49_999, 50_000, 10**9])
def test_the_usual_size_is_a_candidate(n_rows, leaf_wise, is_classification):
    sizes = candidates(n_rows, is_classification=is_classification, leaf_wise=leaf_wise)
    assert usual_size(n_rows, is_classification=is_classification) in sizes
    assert leaf_wise or all(size.max_leaves is None for size in sizes)


@pytest.mark.parametrize(
    ("size", "words"),
    [(TreeSize(6), "depth 6"), (TreeSize(None, 64), "64 leaves"), (TreeSize(9, 64), "64 leaves, depth 9")],
)
def test_a_size_is_written_in_words(size, words):
    assert str(size) == words


def test_a_recipe_takes_the_numbers_of_a_capacity():
    capacity = Capacity(50, 0.25, None, 31)
    spec = Recipe().with_capacity(Capacity.from_header(capacity.to_header())).specs(0)[0]
    assert (spec.n_estimators, spec.learning_rate, spec.max_depth, spec.max_leaves) == (50, 0.25, None, 31)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"max_leaves": 1}, "max_leaves must be 'auto', None or a whole number from 2 to 255; got 1"),
        ({"max_leaves": 256}, "max_leaves must be 'auto', None or a whole number from 2 to 255; got 256"),
        ({"max_leaves": "many"}, "max_leaves must be 'auto', None or a whole number from 2 to 255; got 'many'"),
        ({"max_leaves": [3]}, "max_leaves must be 'auto', None or a whole number from 2 to 255; got [3]"),
        (
            {"max_depth": None},
            "max_depth must be 'auto' or a whole number from 1 to 8 (deeper trees, or None, need max_leaves); got None",
        ),
        (
            {"max_depth": 9},
            "max_depth must be 'auto' or a whole number from 1 to 8 (deeper trees, or None, need max_leaves); got 9",
        ),
        ({"max_depth": 0, "max_leaves": 5}, "max_depth must be 'auto', None or a whole number from 1 to 255; got 0"),
        ({"learning_rate": "fast"}, "learning_rate must be 'auto' or a number above 0 and at most 1; got 'fast'"),
        (
            {"n_estimators": "all"},
            "n_estimators must be 'auto' or a whole number from 1 to 100000000; got 'all'",
        ),
        ({"n_members": 100_001}, "n_members must be a whole number from 1 to 100000; got 100001"),
        (
            {"n_estimators": 10_001, "n_members": 100_000},
            "n_estimators must be 'auto' or a whole number from 1 to 10000; got 10001",
        ),
    ],
)
def test_a_bad_value_is_refused(parameters, words):
    with pytest.raises(ValueError, match="must be") as error:
        Recipe(**parameters)
    assert str(error.value) == words
