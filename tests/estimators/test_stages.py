"""Staged predictions: those of shorter ensembles, and at the end exactly those of the whole one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from epiboost._estimators import stages as blocks
from tests.support.models import every_ensemble, small_classifier, small_estimator, small_regressor

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(150, 3))
Y = X[:, 0] + X[:, 1] * X[:, 2]


@every_ensemble
@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
def test_there_is_a_stage_per_tree_and_the_last_is_the_prediction(task, ensemble):
    y = {"regression": Y, "binary": Y > 0, "multiclass": np.digitize(Y, [-1, 1])}[task]
    model = small_estimator(task, ensemble=ensemble).fit(X, y)
    stages = list(model.staged_predict(X[:20]))
    assert len(stages) == model.n_iter_.max()
    np.testing.assert_array_equal(stages[-1], model.predict(X[:20]))
    if task != "regression":
        probabilities = list(model.staged_predict_proba(X[:20]))
        np.testing.assert_array_equal(probabilities[-1], model.predict_proba(X[:20]))
        np.testing.assert_array_equal(model.classes_[probabilities[4].argmax(axis=1)], stages[4])


def test_a_stage_is_the_ensemble_of_so_many_trees():
    model = small_regressor().fit(X, Y)
    stages = list(model.staged_predict(X, step=7))
    assert len(stages) == 5  # after 7, 14, 21, 28 and all 30 trees
    truncated = model.forest_.predict(X, prefixes=(14,))[:, :, 0].mean(axis=0)
    np.testing.assert_allclose(stages[1], truncated, atol=1e-6)
    errors = [np.square(Y - stage).mean() for stage in stages]
    assert errors[-1] < errors[0]


def test_probabilities_of_a_stage_are_recalibrated_as_those_of_the_ensemble():
    model = small_classifier(n_members=5).fit(X, 0.1 * RANDOM.normal(size=150) < Y)
    temperature = model.out_of_fold_.recalibration.temperature
    before_the_last = list(model.staged_predict_proba(X))[-2]
    end = int(model.n_iter_.max()) - 1
    members = model.forest_.predict(X, prefixes=(end,))
    odds = (members[:, :, 1] / members[:, :, 0]) ** (1.0 / temperature)
    np.testing.assert_allclose(before_the_last[:, 1], (odds / (1.0 + odds)).mean(axis=0), atol=2e-3)


@pytest.mark.parametrize(("engine", "fresh"), [("native", {"_predictors": {}}), ("lightgbm", {})])
def test_chains_that_end_earlier_stay_at_their_end(engine, fresh):
    """Files of earlier versions hold such chains."""
    if engine != "native":
        pytest.importorskip(engine)
    model = small_regressor(engine=engine, out_of_fold=0).fit(X, Y)
    count = np.array([5, 30, 12], dtype=model.forest_.count.dtype)
    model.forest_ = replace(model.forest_, count=count, **fresh)
    at_the_end = model.forest_.predict(X)
    np.testing.assert_allclose(model.forest_.predict(X, prefixes=(30,)), at_the_end, rtol=1e-6)
    stages = list(model.staged_predict(X))
    assert len(stages) == 30
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    seven = model.forest_.predict(X, prefixes=(7,))[1:, :, 0]
    np.testing.assert_allclose(stages[6], np.vstack([at_the_end[:1, :, 0], seven]).mean(axis=0), atol=1e-6)


def test_an_ensemble_that_was_stopped_early_has_the_stages_in_use():
    model = small_regressor(n_estimators=60, early_stopping_rounds=10, out_of_fold=0, learning_rate=0.5)
    model.fit(X[:100], Y[:100], eval_set=(X[100:], Y[100:]))
    assert len(list(model.staged_predict(X))) == model.n_iter_.max()


@pytest.mark.parametrize("ensemble", ["sglb", "virtual"])
def test_members_replace_an_unseen_category_by_the_same_value_at_all_stages(ensemble):
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"town": random.choice(list("abcdef"), 300), "size": random.normal(size=300)})
    y = 5.0 * frame["town"].map(dict(zip("abcdef", range(6), strict=True)))
    model = small_regressor(ensemble=ensemble, out_of_fold=0).fit(frame, y)
    rows = frame[:6].assign(town=list("xabyzc"))
    stages = np.array(list(model.staged_predict(rows)))
    assert np.abs(stages[-2] - stages[-1]).max() < 0.3 * np.ptp(y)
    np.testing.assert_allclose(stages[-2], stages[-1], atol=1.5)


def test_blocks_of_rows_and_of_stages_give_the_same(monkeypatch):
    model = small_regressor(ensemble="virtual").fit(X, Y)
    together = np.array(list(model.staged_predict(X)))
    monkeypatch.setattr(blocks, "_MAX_BYTES", 1 << 14)
    monkeypatch.setattr(blocks, "_MAX_STAGE_BYTES", 1 << 14)
    np.testing.assert_allclose(np.array(list(model.staged_predict(X))), together, atol=1e-6)


def test_what_has_no_stages_is_refused():
    with pytest.raises(ValueError, match="step must be a whole number of at least 1"):
        small_regressor().fit(X, Y).staged_predict(X, step=0)
    forest = small_regressor(engine="forest", ensemble="virtual").fit(X, Y)
    with pytest.raises(ValueError, match="engine='forest' have no order"):
        forest.staged_predict(X)
    assert not hasattr(forest, "feature_importances_")
