"""Groups of features: how they are given, which features are correlated, and that a group has the values of its sum."""

import numpy as np
import pandas as pd
import pytest

from epiboost import EpiBoostRegressor
from epiboost.explain import attribute
from epiboost.explain.association import associated_groups, association
from epiboost.explain.players import Players

NAMES = ("a", "b", "c", "d")
ROWS = np.random.default_rng(0).normal(size=(300, 4))
NUMBERS = (0, 0, 0, 0)


def players(groups, rows=ROWS):
    return Players.of(groups, NAMES, rows, NUMBERS)


def test_groups_are_given_by_name_or_position_and_others_stay_alone():
    assert players([["c", "a"]]).names == ("a + c", "b", "d")
    assert players([[3, "b"], ["a"]]).columns == ((0,), (1, 3), (2,))
    assert players({"both": ["a", "d"]}).names == ("both", "b", "c")
    assert players(None).names == NAMES
    assert players([["c", "a"]]).of_feature.tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ("all", "groups must be 'correlated'"),
        ([["a", "e"]], "groups names 'e'; features are 'a', 'b'"),
        ([["a", 4]], "groups names 4"),
        ([["a"], ["b", "a"]], "'a' is named twice"),
        ([["a", 0]], "'a' is named twice"),
        ([[]], "at least one feature"),
        (["a", "b"], "a group must be a list"),
        (3, "groups must be 'correlated'"),
        ({"d": ["a", "b"]}, "the group 'd' has the name of a feature"),
    ],
)
def test_groups_that_are_not_allowed_are_refused(groups, words):
    with pytest.raises(ValueError, match=words):
        players(groups)


def test_correlated_numbers_and_categories_are_grouped():
    random = np.random.default_rng(1)
    town = random.integers(0, 5, size=500)
    table = np.column_stack([town, random.normal(size=500), (town * 7 + 3) % 5, 10.0 * town + random.normal(size=500)])
    assert associated_groups(table, (6, 0, 6, 0)) == [(0, 2, 3)]
    table[random.random(500) < 0.05, 3] = np.nan
    assert associated_groups(table, (6, 0, 6, 0)) == [(0, 2, 3)]


def test_chance_is_no_association_even_of_many_categories():
    random = np.random.default_rng(2)
    table = np.column_stack(
        [random.integers(0, 100, size=(300, 2)), random.normal(size=300), np.zeros(300), np.arange(300)]
    )
    assert association(table, (101, 101, 0, 0, 301))[~np.eye(5, dtype=bool)].max() < 0.35


def test_few_rows_are_not_enough_to_tell_what_is_correlated():
    with pytest.raises(ValueError, match="at least 10 rows"):
        players("correlated", ROWS[:9])


@pytest.mark.parametrize("measure", ["mean", "knowledge"])
def test_a_group_is_one_feature_of_the_explanation(measure):
    pytest.importorskip("shap")
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.normal(size=(200, 2)), columns=["a", "b"]).assign(c=lambda t: t["a"] + 0.01 * t["b"])
    model = EpiBoostRegressor(n_members=3, n_estimators=30, random_state=0).fit(frame, frame["a"] + frame["b"])
    found = attribute(model, frame[:5], measure, background=frame, groups="correlated")
    assert found.feature_names == ("a + c", "b")
    assert found.groups == (("a", "c"), ("b",))
    assert found.values.shape == found.data.shape == (5, 2)
    assert found.data[0, 0] == f"{frame['a'][0]:.4g}, {frame['c'][0]:.4g}"
    alone = attribute(model, frame[:5], measure, background=frame)
    np.testing.assert_allclose(found.output, alone.output, rtol=1e-5)
    assert alone.groups is None
