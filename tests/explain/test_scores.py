"""Exact values of predictions and scores: those of shap's TreeExplainer, of all coalitions, and of the trees' sum."""

import numpy as np
import pandas as pd
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.explain import attribute
from epiboost.explain.scores import Scores

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, size=(300, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * RANDOM.normal(size=300)
GRADE = np.array(["low", "mid", "high"])[np.digitize(Y, [-0.5, 0.5])]
SMALL = {"n_members": 3, "n_estimators": 20, "n_jobs": 1, "random_state": 0, "out_of_fold": 0}
SIZES = {"symmetric": {"max_depth": 3}, "leaf-wise": {"max_leaves": 9}}

pytestmark = pytest.mark.filterwarnings("ignore::epiboost.NumbersAsTextWarning")  # categories that are numerals


def tree_as_arrays(forest, member, tree):
    """Return one tree in the form of shap, on bins; a row goes left if its bin is at most the threshold."""
    feature, threshold = forest.feature[member, tree], forest.threshold[member, tree]
    parent, leaf = forest.parent[member, tree], forest.leaf[member, tree, :, 0]
    nodes = {name: [] for name in ("left", "right", "features", "thresholds", "values")}

    def add(position, level, splits):
        """Add the subtree of a leaf before some splits were made, and return its position."""
        here = len(nodes["left"])
        for column in nodes.values():
            column.append(-1)
        if parent.size:
            following = [split for split in range(level, len(parent)) if parent[split] == position]
            split = following[0] if following else None
            branches = () if split is None else ((position, split + 1), (split + 1, split + 1))
        else:
            split = level if level < len(feature) else None
            branches = () if split is None else ((position, level + 1), (position | 1 << level, level + 1))
        if split is None:
            nodes["values"][here] = leaf[position] * splits
            return here
        nodes["features"][here], nodes["thresholds"][here] = feature[split], threshold[split] + 0.5
        nodes["values"][here] = 0.0
        nodes["left"][here], nodes["right"][here] = (add(*branch, splits) for branch in branches)
        return here

    shrinkage = forest.decay ** (int(forest.count[member]) - 1 - tree) / len(forest.count)
    add(0, 0, shrinkage)
    count = len(nodes["left"])
    return {
        "children_left": np.array(nodes["left"]),
        "children_right": np.array(nodes["right"]),
        "children_default": np.array(nodes["left"]),
        "features": np.array(nodes["features"]),
        "thresholds": np.array(nodes["thresholds"], dtype=float),
        "values": np.array(nodes["values"], dtype=float)[:, np.newaxis],
        "node_sample_weight": np.ones(count),
    }


@pytest.mark.parametrize("size", SIZES)
def test_values_of_a_mean_are_those_of_the_tree_explainer_of_shap(size):
    shap = pytest.importorskip("shap")
    model = EpiBoostRegressor(**SMALL, **SIZES[size]).fit(X, Y)
    forest = model.forest_
    converted = {
        "trees": [tree_as_arrays(forest, member, tree) for member in range(3) for tree in range(forest.count[member])]
    }
    bins, background = forest.bins.transform(X[:8]).astype(float), forest.bins.transform(X[100:140]).astype(float)
    explainer = shap.TreeExplainer(converted, background, feature_perturbation="interventional")
    expected = explainer.shap_values(bins, check_additivity=False).reshape(8, 4)
    found = attribute(model, X[:8], "mean", background=X[100:140])
    np.testing.assert_allclose(found.values, forest.objective.scale * expected, atol=1e-6)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ensemble", ["sglb", "virtual"])
def test_exact_values_are_those_of_all_coalitions(ensemble, size, monkeypatch):
    pytest.importorskip("shap")
    model = EpiBoostRegressor(**{**SMALL, "ensemble": ensemble}, **SIZES[size]).fit(X, Y)
    exact = attribute(model, X[:9], "mean", background=X[100:120])
    monkeypatch.setattr(Scores, "trees_of", lambda *_: None)
    estimated = attribute(model, X[:9], "mean", background=X[100:120])
    np.testing.assert_allclose(exact.values, estimated.values, atol=1e-6)
    np.testing.assert_allclose(exact.base_values, estimated.base_values, atol=1e-6)
    np.testing.assert_allclose(exact.output, model.predict(X[:9]), atol=1e-6)


@pytest.mark.parametrize(("y", "label"), [(Y > 0, True), (Y > 0, False), (GRADE, "mid")])
def test_the_score_of_a_class_is_its_log_odds_or_centred_log_probability(y, label, monkeypatch):
    pytest.importorskip("shap")
    model = EpiBoostClassifier(**SMALL).fit(X, y)
    found = attribute(model, X[:9], "score", label=label, background=X[100:120])
    logarithm = np.log(model.predict_posterior(X[:9]).parameters)
    of_label = logarithm[:, :, list(model.classes_).index(label)]
    two = len(model.classes_) == 2
    others = logarithm.sum(axis=2) - of_label if two else logarithm.mean(axis=2)
    np.testing.assert_allclose(found.output, (of_label - others).mean(axis=0), atol=1e-5)
    assert (found.measure, found.unit, found.label) == ("score", "log-odds" if two else "log-probability", label)
    monkeypatch.setattr(Scores, "trees_of", lambda *_: None)
    estimated = attribute(model, X[:9], "score", label=label, background=X[100:120])
    np.testing.assert_allclose(found.values, estimated.values, atol=1e-5)


def test_unseen_categories_are_replaced_as_in_prediction(monkeypatch):
    pytest.importorskip("shap")
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"town": random.choice(list("abcdef"), 400), "size": random.normal(size=400)})
    y = frame["town"].map(dict(zip("abcdef", range(6), strict=True))) + frame["size"]
    model = EpiBoostRegressor(**SMALL).fit(frame, y)
    rows, background = (
        frame[:8].assign(town=list("xyabcdxy")),
        frame[300:330].assign(town=["z", *frame["town"][301:330]]),
    )
    exact = attribute(model, rows, "mean", background=background)
    np.testing.assert_allclose(exact.output, model.predict(rows), atol=1e-6)
    monkeypatch.setattr(Scores, "trees_of", lambda *_: None)
    estimated = attribute(model, rows, "mean", background=background)
    np.testing.assert_allclose(exact.values, estimated.values, atol=1e-6)


def test_exact_values_need_no_shap(monkeypatch):
    model = EpiBoostRegressor(**SMALL).fit(X, Y)
    monkeypatch.setattr("epiboost.explain.explainer.shapley_values", None)
    assert attribute(model, X[:3], "mean", background="training").values.any()


def test_the_training_rows_that_a_model_keeps_are_a_background(tmp_path):
    model = EpiBoostRegressor(**SMALL).fit(X, Y)
    found = attribute(model, X[:3], "mean", background="training")
    model.save(tmp_path / "model.epib")
    loaded = attribute(EpiBoostRegressor.load(tmp_path / "model.epib"), X[:3], "mean", background="training")
    np.testing.assert_array_equal(loaded.values, found.values)
    assert found.base_values[0] == pytest.approx(model.predict(X).mean(), abs=0.02)
    forgetful = EpiBoostRegressor(**SMALL, reference_rows=0).fit(X, Y)
    with pytest.raises(ValueError, match="keeps no training rows"):
        attribute(forgetful, X[:3], "mean", background="training")
    with pytest.raises(ValueError, match="background must be a table or 'training'; got 'train'"):
        attribute(model, X[:3], "mean", background="train")


def test_trees_with_crosses_are_explained_by_coalitions(crossed):
    frame, y = crossed
    model = EpiBoostClassifier(**SMALL).fit(frame, y)
    assert any(len(columns) > 1 for columns in model.forest_.encoding.sources)
    found = attribute(model, frame[:4], "score", background=frame[100:110])
    scores = Scores.of(model, 1)
    np.testing.assert_allclose(found.output, scores(model.schema_.transform(frame[:4])), rtol=1e-6)
    grouped = attribute(model, frame[:4], "score", background=frame[100:110], groups=[["a", "b"]])
    assert grouped.feature_names == ("a + b",)
    np.testing.assert_allclose(grouped.output, found.output, rtol=1e-5)


@pytest.fixture
def crossed():
    random = np.random.default_rng(2)
    a, b = random.integers(0, 25, size=(2, 3000))
    effect = random.normal(size=(25, 25))[a, b]
    return pd.DataFrame({"a": a.astype(str), "b": b.astype(str)}), effect + 0.3 * random.normal(size=3000) > 0


def test_a_score_is_refused_where_there_is_none():
    with pytest.raises(ValueError, match="measure='score' is for classifiers"):
        attribute(EpiBoostRegressor(**SMALL).fit(X, Y), X[:3], "score", background=X[:9])
    forest = EpiBoostClassifier(engine="forest", ensemble="virtual", n_members=3, n_estimators=9).fit(X, Y > 0)
    with pytest.raises(ValueError, match="measure='mean' explains the probability"):
        attribute(forest, X[:3], "score", background=X[:9])
