"""The tree counts of virtual members."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epiboost._boosting.truncation import catboost_prefixes, forest_parts, virtual_prefixes


@given(st.integers(1, 50), st.integers(0, 500))
def test_virtual_members_ascend_over_the_second_half_to_the_last_tree(n_members, extra):
    n_trees = 2 * n_members + extra
    for rule in (virtual_prefixes, catboost_prefixes):
        prefixes = rule(n_trees, n_members)
        assert len(prefixes) == n_members
        assert prefixes[-1] == n_trees
        assert prefixes[0] > n_trees // 2
        assert list(prefixes) == sorted(set(prefixes))


@given(st.integers(1, 50), st.integers(1, 20))
def test_both_rules_agree_where_the_spacing_is_a_whole_number(n_members, spacing):
    n_trees = 2 * n_members * spacing
    assert virtual_prefixes(n_trees, n_members) == catboost_prefixes(n_trees, n_members)


def test_a_model_of_too_few_trees_is_refused():
    with pytest.raises(ValueError, match="n_members=6 needs a model of at least 12 trees; this one has 10"):
        catboost_prefixes(10, 6)


@given(st.integers(1, 50), st.integers(0, 500))
def test_parts_of_a_forest_are_disjoint_and_of_equal_size(n_members, extra):
    n_trees = n_members + extra
    parts = forest_parts(n_trees, n_members)
    assert [tree for part in parts for tree in range(n_trees)[part]] == list(range(n_trees))
    assert {part.stop - part.start for part in parts} <= {n_trees // n_members, n_trees // n_members + 1}
