"""A random forest as arrays predicts what scikit-learn's trees predict."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._boosting.rows import learning_rows
from epiboost._estimators.training_rows import GivenRows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
X[RNG.random(X.shape) < 0.1] = np.nan
Y = np.nan_to_num(X[:, 0]) + RNG.normal(scale=0.1, size=120)


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_a_forest_predicts_what_scikit_learn_predicts(classes):
    y = Y if not classes else np.digitize(Y, np.quantile(Y, np.arange(1, classes) / classes))
    estimator = EpiBoostClassifier if classes else EpiBoostRegressor
    model = estimator(engine="forest", ensemble="single", n_estimators=15, random_state=0).fit(X, y)
    rows = learning_rows(model._read_rows(GivenRows(X, y), model._checked_engine()).data)
    seed = (
        model._recipe()
        .with_capacity(model.capacity_)
        .specs(int(np.random.RandomState(0).randint(np.iinfo(np.int32).max)))[0]
        .seed
    )
    peer = (RandomForestClassifier if classes else RandomForestRegressor)(15, max_depth=10, random_state=seed % 2**32)
    peer.fit(rows.X, rows.y, sample_weight=rows.weight)
    if classes:
        np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=1e-12, atol=1e-15)
    else:
        location, scale = rows.objective.units
        np.testing.assert_allclose(model.predict(X), location + scale * peer.predict(X), rtol=1e-9)


def test_the_depth_is_ten_unless_engine_params_change_it():
    def depth(**params):
        return EpiBoostRegressor(engine="forest", ensemble="single", n_estimators=5, **params).fit(X, Y).forest_.depth

    assert 4 < depth() <= 10
    assert depth(engine_params={"max_depth": 3}) == 3
    with pytest.raises(ValueError, match="engine_params must not hold 'random_state': it is set by random_state"):
        depth(engine_params={"random_state": 3})


def test_uncertainty_without_data_can_be_pickled_and_framed():
    model = EpiBoostRegressor(engine="forest", ensemble="virtual", n_members=5, n_estimators=20, random_state=0)
    known = model.fit(X, Y).predict_uncertainty(X)
    again = pickle.loads(pickle.dumps(known))  # noqa: S301 (our own)
    np.testing.assert_array_equal(again.knowledge, known.knowledge)
    assert repr(again) == repr(known)
    assert len(known) == len(X)
    pytest.importorskip("pandas")
    assert known.to_frame().columns.tolist() == ["knowledge"]
    with pytest.raises(ValueError, match="backend must be one of"):
        known.to_frame("excel")
