"""Constraints as users give them, resolved to the positions of columns."""

import numpy as np
import pytest

from epiboost._inputs.constraints import Constraints, resolve_constraints
from epiboost._inputs.schema import ColumnSchema

NAMED = ColumnSchema("EpiBoostRegressor", 3, ("age", "dose", "weight"))
UNNAMED = ColumnSchema("EpiBoostRegressor", 3)


def monotone(given, schema=NAMED, n_classes=0):
    return resolve_constraints(given, None, schema, n_classes).monotone


def groups(given, schema=NAMED):
    return resolve_constraints(None, given, schema, 0).groups


@pytest.mark.parametrize("given", [{"dose": -1, "age": 1}, [1, -1, 0], (1.0, -1.0, 0.0), np.array([1, -1, 0])])
def test_directions_are_given_by_name_or_for_every_column(given):
    assert monotone(given) == (1, -1, 0)
    assert monotone(given, n_classes=2) == (1, -1, 0)


@pytest.mark.parametrize("given", [None, {}, [0, 0, 0], {"age": 0}])
def test_no_direction_is_no_constraint(given):
    assert monotone(given, n_classes=5) == ()


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"dos": 1}, "names the column 'dos'; X has 'age', 'dose', 'weight'; did you mean 'dose'?"),
        ({0: 1}, "must hold names of columns; got 0"),
        ({"age": 2}, r"1 \(never decreases\), -1 \(never increases\) or 0 \(free\); got 2 for 'age'"),
        ([1, 0], "one entry per column, 3; got 2"),
        ([1, 0, True], "got True for 'weight'"),
        ([1, 0, "1"], "got '1' for 'weight'"),
        ([1, 0, np.nan], "got nan for 'weight'"),
        ("increasing", "must be None, a dictionary .*; got 'increasing'"),
        (1, "must be None, a dictionary .*; got 1"),
        ([[1, 0, 0]], "must be None, a dictionary"),
    ],
)
def test_wrong_directions_are_refused(given, error):
    with pytest.raises(ValueError, match=error):
        monotone(given)


def test_directions_need_numeric_columns_and_at_most_two_classes():
    with pytest.raises(ValueError, match=r"for regression and for two classes; y holds 3.*one model per class"):
        monotone([1, 0, 0], n_classes=3)
    schema, _ = ColumnSchema.fit(
        np.array([[1.0, "a"], [2.0, "b"]], dtype=object), categorical_features="auto", owner="EpiBoostRegressor"
    )
    assert monotone([1, 0], schema) == (1, 0)
    with pytest.raises(ValueError, match="for numeric columns; column 1 is categorical"):
        monotone([0, 1], schema)
    with pytest.raises(ValueError, match="names the column 'age'; X has no names of columns"):
        monotone({"age": 1}, UNNAMED)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, ()),
        ("no_interactions", ((0,), (1,), (2,))),
        ("pairwise", ((0, 1), (0, 2), (1, 2))),
        ([{"dose", "age"}], ((0, 1), (2,))),
        ([{"dose", 0}, [1, 2]], ((0, 1), (1, 2))),
        ([(np.int64(2),)], ((2,), (0, 1))),
        ([{0}, {0}, {1, 2}], ((0,), (1, 2))),
        ([], ()),
        ([{0, 1, 2}, {1}], ()),
    ],
)
def test_groups_hold_every_column(given, expected):
    assert groups(given) == expected


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("pairs", "must be None, 'pairwise', 'no_interactions' or a list of sets of columns.*; got 'pairs'"),
        (["age", "dose"], "or a list of sets"),
        ([0, 1], "or a list of sets"),
        ({"age": 1}, "or a list of sets"),
        ([{"agee"}], "did you mean 'age'?"),
        ([{3}], "names of columns, or positions from 0 to 2; got 3"),
        ([{-1}], "positions from 0 to 2; got -1"),
        ([{True}], "positions from 0 to 2; got True"),
        ([set()], "must not hold an empty set"),
    ],
)
def test_wrong_groups_are_refused(given, error):
    with pytest.raises(ValueError, match=error):
        groups(given)


def test_all_pairs_of_very_many_columns_are_refused():
    with pytest.raises(ValueError, match="'pairwise' is for at most 500 columns; X has 501"):
        groups("pairwise", ColumnSchema("EpiBoostRegressor", 501))


def test_all_pairs_of_one_or_two_columns_are_no_constraint():
    for n_columns in (1, 2):
        assert groups("pairwise", ColumnSchema("EpiBoostRegressor", n_columns)) == ()


def test_crosses_are_of_one_group_and_of_columns_without_direction():
    may_cross = Constraints((0, 1, 0, 0), ((0, 1), (0, 2), (1, 2, 3))).cross_rule()
    assert may_cross((0, 2))
    assert may_cross((2, 3))
    assert not may_cross((0, 3))
    assert not may_cross((0, 1))
    assert Constraints().cross_rule()((0, 1))
