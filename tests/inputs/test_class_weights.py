"""Weights of classes: what they do to a classifier, and which are refused."""

import numpy as np
import pytest

from epiboost import load
from tests.support.compare import parameters_of
from tests.support.models import small_classifier

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 3))
Y = np.digitize(X[:, 0] + RANDOM.normal(size=120), [0.6, 1.6])  # three classes, the later the rarer
LABELS = np.array(["a", "b", "c"])[Y]
FOLDS = {"n_members": 2, "n_estimators": 10, "out_of_fold": 3}


def test_class_weights_are_the_weights_of_their_rows_bit_for_bit():
    weight = np.array([1.0, 2.5, 7.0])[Y]
    given = small_classifier(**FOLDS, class_weight={"b": 2.5, "c": 7}).fit(X, LABELS)
    expected = small_classifier(**FOLDS).fit(X, LABELS, sample_weight=weight)
    np.testing.assert_array_equal(parameters_of(given, X), parameters_of(expected, X))
    assert given.oof_loss_ == expected.oof_loss_
    assert given.out_of_fold_.recalibration == expected.out_of_fold_.recalibration


@pytest.mark.parametrize("sample_weight", [None, np.arange(1.0, 121.0)])
def test_balanced_classes_have_the_same_weight_in_sum(sample_weight):
    weight = np.ones(120) if sample_weight is None else sample_weight
    sums = np.bincount(Y, weights=weight)
    expected = small_classifier(**FOLDS).fit(X, Y, sample_weight=weight * (weight.sum() / (3 * sums))[Y])
    balanced = small_classifier(**FOLDS, class_weight="balanced").fit(X, Y, sample_weight=sample_weight)
    np.testing.assert_array_equal(parameters_of(balanced, X), parameters_of(expected, X))


def test_balanced_classes_of_a_repeated_table_are_those_of_weight_two():
    model = small_classifier(class_weight="balanced", out_of_fold=0)
    twice = parameters_of(model.fit(np.tile(X, (2, 1)), np.tile(Y, 2)), X)
    np.testing.assert_array_equal(parameters_of(model.fit(X, Y, sample_weight=2.0), X), twice)


def test_balanced_classes_are_found_more_often():
    plain = small_classifier().fit(X, Y).predict_proba(X).mean(axis=0)
    balanced = small_classifier(class_weight="balanced").fit(X, Y).predict_proba(X).mean(axis=0)
    assert balanced[2] > 1.2 * plain[2]


def test_evaluation_rows_are_weighted_by_their_class_too():
    weight = np.array([1.0, 2.5, 7.0])[Y]
    given = small_classifier(class_weight={1: 2.5, 2: 7.0}).fit(X, Y, eval_set=(X, Y))
    expected = small_classifier().fit(X, Y, sample_weight=weight, eval_set=(X, Y, weight))
    np.testing.assert_array_equal(given.evaluation_loss_, expected.evaluation_loss_)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1.5, np.int64(2): 3}])
def test_a_loaded_model_has_the_same_class_weights(class_weight, tmp_path):
    model = small_classifier(class_weight=class_weight).fit(X, Y)
    model.save(tmp_path / "model.epiboost")
    loaded = load(tmp_path / "model.epiboost")
    assert loaded.class_weight == model.class_weight
    np.testing.assert_array_equal(parameters_of(loaded.fit(X, Y), X), parameters_of(model, X))


@pytest.mark.parametrize(
    ("class_weight", "fault"),
    [
        ("even", "class_weight must be None, 'balanced' or a dictionary"),
        ([1.0, 2.0, 3.0], "class_weight must be None, 'balanced' or a dictionary"),
        ({"d": 2.0}, r"class_weight names 'd', which is none of the classes \['a', 'b', 'c'\]"),
        ({"a": 0.0}, "class_weight must hold positive numbers; got 0.0 for class 'a'"),
        ({"a": -1}, "must hold positive numbers; got -1"),
        ({"a": np.nan}, "must hold positive numbers; got nan"),
        ({"a": "2"}, "must hold positive numbers; got '2'"),
        ({"a": True}, "must hold positive numbers; got True"),
        ({"a": 1e300}, "sample_weight must not sum to more than"),
    ],
)
def test_invalid_class_weights_are_refused(class_weight, fault):
    with pytest.raises(ValueError, match=fault):
        small_classifier(class_weight=class_weight).fit(X, LABELS)


def test_class_weights_of_a_dask_collection_are_refused():
    arrays = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="class_weight is for tables in memory; give a Dask collection sample_weight"):
        small_classifier(class_weight="balanced").fit(arrays.from_array(X), Y)
