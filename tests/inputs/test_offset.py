"""Offsets: a known part of the score, which the trees do not learn."""

import numpy as np
import pytest

from epiboost import load
from epiboost._boosting.class_offset import add_to_scores
from epiboost._inputs.dataset import Dataset
from epiboost.engines.native.rows import bin_numeric_rows
from tests.support.models import small_classifier, small_regressor

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
            ValueError, match="a model trained with an offset cannot be calibrated; a regressor can on y - offset"
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


@pytest.fixture(scope="module", params=["binary", "multiclass"])
def classes(request):
    """Return labels that follow an offset and the first column, and the offset."""
    if request.param == "binary":
        offset = 2.0 * RANDOM.normal(size=120) + 3.0
        scores = np.column_stack([np.zeros(120), X[:, 0] + offset])
    else:
        offset = 2.0 * RANDOM.normal(size=(120, 3)) + [0.0, 2.0, -1.0]
        scores = offset + X
    noise = RANDOM.gumbel(size=scores.shape)
    return np.array(["a", "b", "c"])[(scores + noise).argmax(axis=1)], offset


@pytest.fixture(scope="module")
def classifier(classes):
    """Return a classifier that was trained with an offset."""
    labels, offset = classes
    options = {**FOLDS, "n_estimators": 20, "learning_rate": 0.1, "max_depth": 3}
    return small_classifier(**options).fit(X, labels, offset=offset, eval_set=(X, labels, None, offset))


class TestClassification:
    def test_the_loss_of_each_member_is_that_of_its_probabilities_with_the_offset(self, classifier, classes):
        labels, offset = classes
        probabilities = add_to_scores(classifier.forest_.predict(X), offset)
        codes = np.searchsorted(classifier.classes_, labels)
        losses = -np.log(probabilities[:, np.arange(120), codes]).mean(axis=1)
        np.testing.assert_allclose(classifier.evaluation_loss_[:, -1], losses, rtol=1e-4)
        of_mixture = -np.log(probabilities.mean(axis=0)[np.arange(120), codes]).mean()
        assert classifier.history_.validation_loss[-1] == pytest.approx(of_mixture, rel=1e-4)

    def test_early_stopping_by_out_of_fold_chains_sees_the_offset(self, classes):
        labels, offset = classes
        options = {"n_members": 5, "n_estimators": 60, "early_stopping": True}
        with_offset = small_classifier(**options).fit(X, labels, offset=offset)
        plain = small_classifier(**options).fit(X, labels)
        assert with_offset.history_.out_of_fold_loss.min() < 0.9 * plain.history_.out_of_fold_loss.min()

    def test_the_scores_move_with_the_offset(self, classes):
        labels, offset = classes
        model = small_classifier(out_of_fold=0, n_estimators=10).fit(X, labels, offset=offset)
        one = model.predict_posterior(X, offset=offset).parameters
        other = model.predict_posterior(X, offset=offset + 1.0).parameters
        np.testing.assert_allclose(add_to_scores(one, np.ones_like(offset)), other, rtol=1e-9)
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X, offset=offset)), one.mean(axis=0), rtol=1e-9)

    def test_training_starts_where_the_mean_probabilities_are_the_shares(self, classes):
        labels, offset = classes
        model = small_classifier(out_of_fold=0, n_estimators=1, learning_rate=1e-9).fit(X, labels, offset=offset)
        shares = np.unique(labels, return_counts=True)[1] / 120
        np.testing.assert_allclose(model.predict_proba(X, offset=offset).mean(axis=0), shares, atol=1e-5)

    def test_a_constant_offset_changes_rounding_only_and_a_right_one_helps(self, classes):
        labels, offset = classes
        options = {"ensemble": "single", "random_strength": 0.0, "max_depth": 2, "learning_rate": 0.1}
        plain = small_classifier(**options).fit(X, labels)
        constant = np.full_like(offset, 2.0)
        shifted = small_classifier(**options).fit(X, labels, offset=constant).predict_proba(X, offset=constant)
        assert np.abs(shifted - plain.predict_proba(X)).mean() < 0.02
        right = small_classifier(out_of_fold=3).fit(X, labels, offset=offset).oof_loss_
        assert right < 0.9 * small_classifier(out_of_fold=3).fit(X, labels).oof_loss_

    def test_out_of_fold_predictions_include_the_offset(self, classifier, classes):
        codes = np.searchsorted(classifier.classes_, classes[0])
        picked = classifier.oof_prediction_[np.arange(120), codes]
        tested = np.isfinite(picked)
        assert tested.sum() > 100
        assert classifier.oof_loss_ == pytest.approx(-np.log(picked[tested]).mean(), rel=1e-9)
        assert classifier.oof_score_ == pytest.approx(
            (classifier.oof_prediction_.argmax(axis=1) == codes)[tested].mean(), rel=1e-9
        )

    def test_sets_take_the_offset_and_calibration_is_refused(self, classifier, classes):
        labels, offset = classes
        with pytest.raises(ValueError, match="a model trained with an offset cannot be calibrated"):
            classifier.calibrate(X, labels)
        for sets in (
            classifier.predict_set(X, 0.9, offset=offset),
            classifier.predict_set(X, 0.9, offset=offset, guarantee=True),
        ):
            assert sets[np.arange(120), np.searchsorted(classifier.classes_, labels)].mean() > 0.85
        chains = classifier.out_of_fold_.chains
        assert (chains.sets(X, 0.9, offset) != chains.sets(X, 0.9, np.zeros_like(offset))).any()
        codes = np.searchsorted(classifier.classes_, labels)
        known = np.concatenate(chains.scores)
        of_true_class = 1.0 - classifier.oof_prediction_[np.arange(120), codes]  # softened by a temperature
        assert known.mean() == pytest.approx(np.nanmean(of_true_class), abs=0.02)
        for name in ("predict", "predict_proba", "predict_uncertainty", "predict_set", "staged_predict_proba"):
            with pytest.raises(ValueError, match="this model was trained with an offset; give offset="):
                getattr(classifier, name)(X)
        *_, last = classifier.staged_predict_proba(X, step=10, offset=offset)
        np.testing.assert_array_equal(last, classifier.predict_proba(X, offset=offset))

    def test_training_is_continued_with_the_offset(self, classes):
        labels, offset = classes
        options = {"learning_rate": 0.1, "max_depth": 3}
        model = small_classifier(**options, n_estimators=8, warm_start=True).fit(X, labels, offset=offset)
        model.set_params(n_estimators=15).fit(X, labels, offset=offset)
        at_once = small_classifier(**options, n_estimators=15).fit(X, labels, offset=offset)
        expected = at_once.predict_proba(X, offset=offset)
        np.testing.assert_array_equal(model.predict_proba(X, offset=offset), expected)

    def test_categories_and_bootstrap_samples_have_offsets_too(self, classes):
        labels, offset = classes
        table = np.column_stack([X[:, :2], np.round(X[:, 2])])
        for options in ({"categorical_features": [2]}, {"ensemble": "bootstrap"}):
            model = small_classifier(out_of_fold=3, **options).fit(table, labels, offset=offset)
            plain = small_classifier(out_of_fold=3, **options).fit(table, labels)
            assert model.oof_loss_ < plain.oof_loss_

    def test_a_loaded_classifier_predicts_the_same_bits(self, classifier, classes, tmp_path):
        classifier.save(tmp_path / "model.epiboost")
        loaded = load(tmp_path / "model.epiboost")
        expected = classifier.predict_proba(X, offset=classes[1])
        np.testing.assert_array_equal(loaded.predict_proba(X, offset=classes[1]), expected)

    def test_invalid_offsets_are_refused(self, classifier, classes):
        wrong = np.zeros((120, 4))
        with pytest.raises(ValueError, match="offset must hold one number per row"):
            classifier.predict_proba(X, offset=wrong)
        with pytest.raises(ValueError, match="log-odds or scores, from -200 to 200; got larger ones"):
            small_classifier().fit(X, classes[0], offset=np.full_like(classes[1], 1e3))

    def test_other_engines_refuse_the_offset_of_a_classifier(self, classes):
        pytest.importorskip("lightgbm")
        with pytest.raises(ValueError, match="engine='lightgbm' does not support the offset of a classifier"):
            small_classifier(engine="lightgbm").fit(X, classes[0], offset=classes[1])


def test_equal_rows_of_different_offsets_are_not_merged():
    y, offset = np.array([1.0, 1.0, 1.0, 0.0]), np.array([0.0, 1.0, 1.0, 0.0])
    rows = bin_numeric_rows(Dataset(np.zeros((4, 1)), y, np.ones(4), 2, "bernoulli", offset=offset), 255, 1)
    found = sorted(zip(rows.y.tolist(), rows.offset.tolist(), rows.weight.tolist(), strict=True))
    assert found == [(0.0, 0.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 2.0)]


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
