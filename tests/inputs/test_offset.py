"""Offsets: a known part of the score, which the trees do not learn."""

import numpy as np
import pytest

from epiboost import load
from tests.support.models import small_regressor

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 3))
OFFSET = 10.0 * RANDOM.normal(size=120)
Y = X[:, 0] + OFFSET + RANDOM.normal(scale=0.3, size=120)
WEIGHT = np.tile([0.0, 1.0, 2.0], 40)
FOLDS = {"n_members": 2, "n_estimators": 10, "out_of_fold": 3, "keep_folds": True}


@pytest.fixture(scope="module")
def regressor():
    """Return a regressor that was trained with an offset, and one that was trained on what it leaves over."""
    with_offset = small_regressor(**FOLDS).fit(X, Y, sample_weight=WEIGHT, offset=OFFSET)
    return with_offset, small_regressor(**FOLDS).fit(X, Y - OFFSET, sample_weight=WEIGHT)


class TestRegression:
    def test_every_prediction_is_that_of_the_rest_plus_the_offset(self, regressor):
        model, rest = regressor
        np.testing.assert_allclose(model.predict(X, offset=OFFSET), rest.predict(X) + OFFSET, rtol=1e-12)
        for options in ({}, {"guarantee": True}):
            found = model.predict_interval(X, [0.5, 0.9], offset=OFFSET, **options)
            expected = rest.predict_interval(X, [0.5, 0.9], **options) + OFFSET[:, np.newaxis, np.newaxis]
            np.testing.assert_allclose(found, expected, rtol=1e-12)
        found = model.predict_quantile(X, [0.1, 0.7], offset=OFFSET)
        np.testing.assert_allclose(found, rest.predict_quantile(X, [0.1, 0.7]) + OFFSET[:, np.newaxis], rtol=1e-12)
        std = model.predict(X, return_std=True, offset=OFFSET)[1]
        np.testing.assert_allclose(std, rest.predict(X, return_std=True)[1], rtol=1e-12)

    def test_out_of_fold_predictions_include_the_offset(self, regressor):
        model, rest = regressor
        np.testing.assert_array_equal(model.oof_prediction_, rest.oof_prediction_ + OFFSET)
        assert model.oof_loss_ == rest.oof_loss_
        seen = WEIGHT > 0
        mean = np.average(Y[seen], weights=WEIGHT[seen])
        error = np.average((Y - model.oof_prediction_)[seen] ** 2, weights=WEIGHT[seen])
        spread = np.average((Y[seen] - mean) ** 2, weights=WEIGHT[seen])
        assert model.oof_score_ == pytest.approx(1.0 - error / spread)

    def test_the_uncertainty_needs_no_offset(self, regressor):
        model, rest = regressor
        found, expected = model.predict_uncertainty(X, novelty=True), rest.predict_uncertainty(X, novelty=True)
        np.testing.assert_array_equal(found.knowledge, expected.knowledge)
        np.testing.assert_array_equal(found.novelty, expected.novelty)
        np.testing.assert_allclose(model.predict_uncertainty(X, offset=OFFSET).total, expected.total, rtol=1e-10)

    def test_calibration_is_refused_with_the_remedy(self, regressor):
        model, rest = regressor
        with pytest.raises(
            ValueError, match="cannot be calibrated; for a regressor, train and calibrate on y - offset"
        ):
            model.calibrate(X, Y)
        with pytest.raises(ValueError, match="this model was trained without an offset; leave offset out"):
            rest.calibrate(X, Y - OFFSET).predict(X, offset=OFFSET)

    def test_evaluation_rows_have_an_offset_of_their_own(self):
        found = small_regressor().fit(X, Y, eval_set=(X, Y, None, OFFSET), offset=OFFSET).evaluation_loss_
        expected = small_regressor().fit(X, Y - OFFSET, eval_set=(X, Y - OFFSET)).evaluation_loss_
        np.testing.assert_array_equal(found, expected)

    def test_one_number_is_the_offset_of_every_row(self):
        model = small_regressor().fit(X, Y, offset=2.0)
        assert model.predict(X[:1], offset=5.0) == pytest.approx(model.predict(X[:1], offset=2.0) + 3.0)

    def test_training_is_continued_with_the_offset(self):
        model = small_regressor(learning_rate=0.1, max_depth=3, warm_start=True, n_estimators=10)
        model.fit(X, Y, offset=OFFSET)
        with pytest.raises(ValueError, match="this model was trained with an offset; give offset="):
            model.set_params(n_estimators=20).fit(X, Y)
        at_once = small_regressor(learning_rate=0.1, max_depth=3, n_estimators=20).fit(X, Y, offset=OFFSET)
        continued = model.fit(X, Y, offset=OFFSET).predict(X, offset=OFFSET)
        np.testing.assert_array_equal(continued, at_once.predict(X, offset=OFFSET))

    @pytest.mark.parametrize("engine", ["lightgbm", "xgboost", "catboost", "forest"])
    def test_every_engine_takes_an_offset(self, engine):
        if engine != "forest":
            pytest.importorskip(engine)
        options = {"engine": engine, "n_members": 2, "n_estimators": 4, "ensemble": "sgb"}
        model = small_regressor(**options).fit(X, Y, offset=OFFSET)
        rest = small_regressor(**options).fit(X, Y - OFFSET)
        np.testing.assert_allclose(model.predict(X, offset=OFFSET), rest.predict(X) + OFFSET, rtol=1e-12)


def test_a_loaded_model_needs_the_offset_too(regressor, tmp_path):
    model = regressor[0]
    model.save(tmp_path / "model.epiboost")
    loaded = load(tmp_path / "model.epiboost")
    np.testing.assert_array_equal(loaded.predict(X, offset=OFFSET), model.predict(X, offset=OFFSET))
    for predict in (loaded.predict, loaded.predict_posterior, loaded.predict_interval):
        with pytest.raises(ValueError, match="this model was trained with an offset; give offset="):
            predict(X)
    with pytest.raises(ValueError, match="this model was trained with an offset; give offset="):
        loaded.predict_interval(X, guarantee=True)


def test_an_offset_for_a_model_without_one_is_refused():
    model = small_regressor(**FOLDS).fit(X, Y)
    for options in ({}, {"guarantee": True}):
        with pytest.raises(ValueError, match="this model was trained without an offset; leave offset out"):
            model.predict_interval(X, offset=OFFSET, **options)


@pytest.mark.parametrize(
    ("offset", "fault"),
    [
        (OFFSET[:5], r"offset must hold one number per row, shape \(120,\); got shape \(5,\)"),
        (OFFSET[:, np.newaxis], r"shape \(120,\); got shape \(120, 1\)"),
        (np.full(120, np.nan), "Input offset contains NaN"),
        (np.full(120, np.inf), "Input offset contains infinity"),
        (["a"] * 120, "offset must hold numbers"),
    ],
)
def test_invalid_offsets_are_refused(regressor, offset, fault):
    with pytest.raises(ValueError, match=fault):
        small_regressor().fit(X, Y, offset=offset)
    with pytest.raises(ValueError, match=fault):
        regressor[0].predict(X, offset=offset)


def test_a_target_and_an_offset_that_are_too_far_apart_are_refused():
    with pytest.raises(ValueError, match="y minus offset is too large for double precision"):
        small_regressor().fit(X, np.full(120, 1e308), offset=-1e308)


def test_evaluation_rows_need_an_offset_if_training_rows_have_one():
    for options in ({"eval_set": (X, Y), "offset": OFFSET}, {"eval_set": (X, Y, None, OFFSET)}):
        with pytest.raises(ValueError, match="both or none of fit and eval_set have an offset"):
            small_regressor().fit(X, Y, **options)


def test_dask_collections_with_an_offset_are_refused(regressor):
    arrays = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="offset is for tables in memory, not for Dask collections"):
        small_regressor().fit(arrays.from_array(X), Y, offset=OFFSET)
    with pytest.raises(ValueError, match="offset is for tables in memory, not for Dask collections"):
        regressor[0].predict(arrays.from_array(X), offset=OFFSET)
    with pytest.raises(ValueError, match="this model was trained with an offset"):
        regressor[0].predict(arrays.from_array(X))
