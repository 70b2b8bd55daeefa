"""Abstention: the error of accepted rows is bounded, and an abstainer is used like its estimator."""

import re
import warnings

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.decisions import Abstainer, TargetNotMetWarning
from tests.support.stub_estimators import StubClassifier, StubRegressor, abstention_rows


class TestErrorBound:
    def test_accepted_rows_meet_the_error_target_as_often_as_promised(self):
        X_new, wrong_new = abstention_rows(100_000, 1)
        broken, shares = 0, []
        for seed in range(200):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TargetNotMetWarning)
                abstainer = Abstainer(StubClassifier(), max_error=0.1, confidence=0.9)
                abstainer.fit(*abstention_rows(500, seed + 2))
            accepted = abstainer.accept(X_new)
            broken += accepted.any() and wrong_new[accepted].mean() > 0.1
            shares.append(accepted.mean())
        assert broken <= 20
        assert 0.1 < np.mean(shares) < 0.4  # at 0.4 the error rate of accepted rows is 0.1

    @pytest.mark.filterwarnings("ignore::epiboost.decisions.TargetNotMetWarning")
    def test_false_claims_are_no_more_frequent_than_the_risk(self):
        claims = 0
        for seed in range(500):
            rng = np.random.default_rng(seed)
            X, _ = abstention_rows(300, seed + 10_000)
            wrong = (rng.uniform(size=300) < 0.1).astype(float)  # an error rate of 0.1 at every uncertainty
            claims += Abstainer(StubClassifier(), max_error=0.1, confidence=0.9).fit(X, wrong).met_
        assert 0.01 <= claims / 500 <= 0.1

    def test_a_single_threshold_has_an_exact_bound(self):
        X_new, wrong_new = abstention_rows(100_000, 1)
        broken = 0
        for seed in range(400):
            abstainer = Abstainer(StubClassifier(), coverage=0.5, confidence=0.8).fit(*abstention_rows(200, seed + 2))
            broken += wrong_new[abstainer.accept(X_new)].mean() > abstainer.error_bound_
        # the bound of a discrete count is slightly conservative: 20 % or somewhat fewer are broken
        assert 0.11 <= broken / 400 <= 0.2 + 3 * np.sqrt(0.16 / 400)

    def test_the_bound_is_that_of_clopper_and_pearson(self):
        X, wrong = abstention_rows(200, 0)
        abstainer = Abstainer(StubClassifier(), coverage=0.5, confidence=0.95).fit(X, wrong)
        n_accepted = round(abstainer.coverage_ * 200)
        n_errors = round(abstainer.error_ * n_accepted)
        assert n_accepted == 101
        assert binom.cdf(n_errors, n_accepted, abstainer.error_bound_) == pytest.approx(0.05)

    def test_coverage_holds_for_new_rows_on_average(self):
        X_new, _ = abstention_rows(100_000, 1)
        abstainers = [Abstainer(StubClassifier(), coverage=0.7).fit(*abstention_rows(50, seed)) for seed in range(200)]
        assert 0.69 <= np.mean([abstainer.accept(X_new).mean() for abstainer in abstainers]) <= 0.74


class TestThreshold:
    def test_all_rows_are_accepted_where_the_target_allows_it(self):
        X, _ = abstention_rows(400, 0)
        for target in ({"max_error": 0.05}, {"coverage": 1.0}):
            abstainer = Abstainer(StubClassifier(), **target).fit(X, np.zeros(400))
            assert abstainer.threshold_ == np.inf
            assert abstainer.accept(X + 5.0).all()
            assert (abstainer.coverage_, abstainer.error_, abstainer.met_) == (1.0, 0.0, True)
            assert 0.0 < abstainer.error_bound_ <= 0.05

    def test_equal_uncertainties_are_all_accepted_or_all_rejected(self):
        X, wrong = abstention_rows(400, 0, worst=0.0)
        X[:, 1] = 1.0
        assert Abstainer(StubClassifier(), max_error=0.1).fit(X, wrong).accept(X).all()
        with pytest.warns(TargetNotMetWarning, match="the same uncertainty"):
            abstainer = Abstainer(StubClassifier(), coverage=0.5).fit(X, wrong)
        assert not abstainer.accept(X).any()

    def test_rows_at_the_threshold_are_rejected(self):
        X, _ = abstention_rows(120, 0)
        X[:, 1] = np.repeat([0.0, 0.5, 1.0], 40)
        abstainer = Abstainer(StubClassifier(), coverage=0.5).fit(X, np.zeros(120))
        assert abstainer.threshold_ == 0.5
        assert abstainer.accept(X).tolist() == [True] * 40 + [False] * 80
        assert abstainer.coverage_ == pytest.approx(1 / 3)

    def test_the_given_measure_decides(self):
        X, wrong = abstention_rows(400, 0)
        X[:, 2] = 1.0 - X[:, 1]
        accepted = Abstainer(StubClassifier(), coverage=0.5, measure="knowledge").fit(X, wrong).accept(X)
        assert X[accepted, 1].min() > X[~accepted, 1].max()

    def test_a_regressor_is_wrong_beyond_the_tolerance(self):
        X, _ = abstention_rows(300, 0)
        y = np.where(X[:, 1] > 0.5, 3.0, 1.0)
        abstainer = Abstainer(StubRegressor(), max_error=0.1, tolerance=2.0).fit(X, y)
        assert abstainer.coverage_ == pytest.approx(0.5, abs=0.06)
        assert Abstainer(StubRegressor(), max_error=0.1, tolerance=3.0).fit(X, y).coverage_ == 1.0


class TestTargetThatCannotBeMet:
    def test_it_is_warned_of_and_every_row_is_rejected(self):
        X, wrong = abstention_rows(100, 0)
        with pytest.warns(
            TargetNotMetWarning, match=r"rate of at most 0\.001 .* 3688 accepted rows are needed, got 100"
        ):
            abstainer = Abstainer(StubClassifier(), max_error=0.001).fit(X, wrong)
        assert not abstainer.met_
        assert (abstainer.threshold_, abstainer.error_bound_, abstainer.coverage_) == (-np.inf, 1.0, 0.0)
        assert np.isnan(abstainer.error_)
        assert not abstainer.accept(X).any()
        assert len(abstainer.predict(X)) == 100

    def test_the_number_of_rows_in_the_warning_is_enough(self):
        X, _ = abstention_rows(3688, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert Abstainer(StubClassifier(), max_error=0.001).fit(X, np.zeros(3688)).met_

    def test_the_bounds_in_the_warning_are_those_of_many_and_of_one_threshold(self):
        seen = 0
        for seed in range(20):
            X, wrong = abstention_rows(300, seed, worst=0.3)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                if Abstainer(StubClassifier(), max_error=0.06).fit(X, wrong).met_:
                    continue
                bounds = [Abstainer(StubClassifier(), coverage=k / 20).fit(X, wrong).error_bound_ for k in range(1, 21)]
            found = re.search(
                r"their lowest error bound is (\S+); .* coverage=.* as low as (\S+) on", str(caught[0].message)
            )
            shared, alone = map(float, found.groups())
            assert shared > 0.06
            assert alone == pytest.approx(min(bounds), rel=0.01)
            seen += 1
        assert seen > 0


class TestUseAsAnEstimator:
    VALIDATION, TEST = slice(300, 1000), slice(1000, None)

    @pytest.fixture(params=["classifier", "regressor"])
    def case(self, request, models, table):
        """A fitted model, options of its abstainer, and the table with the target of the model."""
        X, y = table
        if request.param == "classifier":
            return models["classifier"], {"coverage": 0.5}, X, np.digitize(y, [-0.3, 0.3])
        return models["regressor"], {"coverage": 0.5, "tolerance": 0.3}, X, y

    def test_predictions_are_those_of_the_estimator(self, case):
        model, options, X, y = case
        abstainer = Abstainer(model, **options).fit(X[self.VALIDATION], y[self.VALIDATION])
        prediction, accepted = abstainer.predict(X[self.TEST]), abstainer.accept(X[self.TEST])
        np.testing.assert_array_equal(prediction, model.predict(X[self.TEST]))
        assert (accepted.dtype, accepted.shape) == (bool, prediction.shape)
        assert 0.3 < accepted.mean() < 0.7

    def test_a_clone_keeps_the_fitted_estimator(self, case):
        model, options, _, _ = case
        abstainer = Abstainer(model, **options)
        copy = clone(abstainer)
        assert copy.estimator is model
        assert copy.get_params() == abstainer.get_params()

    def test_it_is_a_classifier_or_a_regressor_as_its_estimator_is(self, case):
        model, options, X, y = case
        abstainer = Abstainer(make_pipeline(FrozenEstimator(StandardScaler().fit(X)), model), **options)
        assert is_classifier(abstainer) == is_classifier(model)
        assert is_regressor(abstainer) == is_regressor(model)
        abstainer = Abstainer(model, **options).fit(X, y)
        assert hasattr(abstainer, "classes_") == is_classifier(model)
        assert abstainer.n_features_in_ == 2

    def test_it_ends_a_pipeline(self, case):
        model, options, X, y = case
        scaler = StandardScaler().fit(X[:300])
        scaled = clone(model).fit(scaler.transform(X[:300]), y[:300])
        pipeline = make_pipeline(FrozenEstimator(scaler), Abstainer(scaled, **options))
        pipeline.fit(X[self.VALIDATION], y[self.VALIDATION])
        rows = scaler.transform(X[self.TEST])
        np.testing.assert_array_equal(pipeline.predict(X[self.TEST]), scaled.predict(rows))
        assert pipeline.score(X[self.TEST], y[self.TEST]) == pytest.approx(scaled.score(rows, y[self.TEST]))
        inside = Abstainer(make_pipeline(scaler, scaled), **options).fit(X[self.VALIDATION], y[self.VALIDATION])
        np.testing.assert_array_equal(inside.accept(X[self.TEST]), pipeline[-1].accept(rows))

    def test_cross_val_predict_returns_the_predictions_of_the_estimator(self, case):
        model, options, X, y = case
        X, y = X[self.VALIDATION], y[self.VALIDATION]
        prediction = cross_val_predict(Abstainer(model, **options), X, y, cv=3)
        np.testing.assert_array_equal(prediction, model.predict(X))
        unscaled = FrozenEstimator(StandardScaler(with_mean=False, with_std=False).fit(X))
        pipeline = make_pipeline(unscaled, Abstainer(model, **options))
        np.testing.assert_array_equal(cross_val_predict(pipeline, X, y, cv=3), prediction)

    def test_cross_val_score_uses_its_score_and_named_scorers(self, case):
        model, options, X, y = case
        X, y = X[self.VALIDATION], y[self.VALIDATION]
        metric, name = (accuracy_score, "accuracy") if is_classifier(model) else (r2_score, "r2")
        scores = cross_val_score(Abstainer(model, **options), X, y, cv=3)
        assert scores == pytest.approx(cross_val_score(Abstainer(model, **options), X, y, cv=3, scoring=name))
        assert scores.mean() == pytest.approx(metric(y, model.predict(X)), abs=0.02)

    def test_a_search_chooses_parameters_by_what_is_accepted(self, case):
        model, options, X, y = case
        X, y = X[self.VALIDATION], y[self.VALIDATION]
        search = GridSearchCV(
            Abstainer(model, **options),
            {"coverage": [0.2, 0.6]},
            scoring=lambda abstainer, X, _y: abstainer.accept(X).mean(),
            cv=3,
        ).fit(X, y)
        assert search.best_params_ == {"coverage": 0.6}
        assert search.cv_results_["mean_test_score"] == pytest.approx([0.2, 0.6], abs=0.06)
        assert search.best_estimator_.estimator is model
        np.testing.assert_array_equal(search.predict(X), model.predict(X))

    def test_text_labels_are_predicted_and_scored(self, table):
        X, y = table
        labels = np.where(y > 0, "yes", "no")
        model = EpiBoostClassifier(n_members=2, n_estimators=20, n_jobs=1, random_state=0).fit(X[:300], labels[:300])
        abstainer = Abstainer(model, coverage=0.5)
        assert set(cross_val_predict(abstainer, X[300:], labels[300:], cv=2)) == {"yes", "no"}
        assert cross_val_score(abstainer, X[300:], labels[300:], cv=2, scoring="balanced_accuracy").min() > 0.7

    def test_accepted_predictions_of_a_calibrated_model_are_more_often_right(self, models, table):
        X, y = table
        labels = np.digitize(y, [-0.3, 0.3])
        classifier, calibration, validation = models["classifier"], slice(300, 600), slice(600, 1000)
        for model in (classifier, classifier.calibrate(X[calibration], labels[calibration])):
            abstainer = Abstainer(model, coverage=0.4).fit(X[validation], labels[validation])
            wrong, accepted = abstainer.predict(X[self.TEST]) != labels[self.TEST], abstainer.accept(X[self.TEST])
            assert wrong[accepted].mean() < wrong[~accepted].mean()
        abstainer = Abstainer(models["regressor"], max_error=0.4, tolerance=0.3).fit(X[validation], y[validation])
        assert abstainer.met_


class TestBadInput:
    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({}, "give either max_error or coverage; got None and None"),
            ({"max_error": 0.1, "coverage": 0.5}, "either max_error or coverage; got 0.1 and 0.5"),
            ({"max_error": 1.5}, "max_error must be a number strictly between 0 and 1, got 1.5"),
            ({"coverage": 0.0}, "coverage must be a number above 0"),
            ({"coverage": 0.5, "confidence": 1.0}, "confidence must be a number strictly"),
            ({"coverage": 0.5, "measure": "doubt"}, "measure must be one of"),
            ({"coverage": 0.5, "tolerance": 1.0}, "tolerance is for regressors"),
            ({"max_error": "a"}, "max_error must be a number strictly between 0 and 1, got 'a'"),
            ({"coverage": "a"}, "coverage must be a number above 0 and at most 1, got 'a'"),
            ({"coverage": 0.5, "confidence": None}, "confidence must be a number strictly between 0 and 1, got None"),
        ],
    )
    def test_parameters_that_are_not_allowed_are_refused(self, parameters, words):
        with pytest.raises(ValueError, match=words):
            Abstainer(StubClassifier(), **parameters).fit(*abstention_rows(10, 0))

    def test_targets_that_are_not_usable_are_refused(self, models, table):
        X, wrong = abstention_rows(10, 0)
        with pytest.raises(ValueError, match="a regressor needs tolerance"):
            Abstainer(StubRegressor(), coverage=0.5).fit(X, wrong)
        with pytest.raises(ValueError, match="y must be finite"):
            Abstainer(StubRegressor(), coverage=0.5, tolerance=1.0).fit(X, np.full(10, np.nan))
        with pytest.raises(ValueError, match=r"one target per row, shape \(10,\), got \(9,\)"):
            Abstainer(StubClassifier(), coverage=0.5).fit(X, wrong[:9])
        with pytest.raises(ValueError, match="y must be real numbers"):
            Abstainer(models["regressor"], coverage=0.5, tolerance=0.1).fit(table[0], table[1] + 1j)

    def test_labels_unknown_to_the_estimator_are_refused(self, models, table):
        X, _ = table
        Abstainer(models["classifier"], coverage=0.5).fit(X[:50], np.full(50, 1).astype(object))
        for labels in (np.full(50, 7), np.full(50, "one"), np.full(50, np.nan), np.full(50, "one").astype(object)):
            with pytest.raises(ValueError, match="y holds"):
                Abstainer(models["classifier"], coverage=0.5).fit(X[:50], labels)

    @pytest.mark.parametrize(
        ("rows", "words"), [(np.array([[0.0, np.nan, 0.0]]), "must not be NaN, got 1"), (np.empty((0, 3)), "no rows")]
    )
    def test_nan_uncertainty_and_empty_tables_are_refused(self, rows, words):
        abstainer = Abstainer(StubClassifier(), coverage=0.5)
        with pytest.raises(ValueError, match=words):
            abstainer.fit(rows, np.zeros(len(rows)))
        abstainer.fit(abstention_rows(100, 0)[0], np.zeros(100))
        with pytest.raises(ValueError, match=words):
            abstainer.accept(rows)

    @pytest.mark.parametrize("method", ["predict", "accept"])
    def test_an_abstainer_that_is_not_fitted_says_so(self, method):
        with pytest.raises(NotFittedError):
            getattr(Abstainer(StubClassifier(), coverage=0.5), method)(abstention_rows(10, 0)[0])


def noisy_labels():
    """Draw rows and labels that the first column tells, with noise."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(4000, 2))
    return X, (X[:, 0] + 0.3 * rng.normal(size=4000) > 0).astype(int)


class TestWithoutRowsOfItsOwn:
    """An abstainer that is fitted to the training rows that the model keeps."""

    def test_the_error_of_accepted_rows_is_bounded(self):
        X, y = noisy_labels()
        model = EpiBoostClassifier(n_estimators=40, max_depth=3, random_state=0).fit(X[:1500], y[:1500])
        abstainer = Abstainer(model, max_error=0.08).fit()
        accepted = abstainer.accept(X[1500:])
        wrong = abstainer.predict(X[1500:]) != y[1500:]
        assert accepted.mean() > 0.3
        assert wrong[accepted].mean() < 0.09 < wrong.mean()

    def test_a_regressor_is_judged_by_its_tolerance(self):
        X, _ = noisy_labels()
        y = X[:, 0] + (0.05 + (X[:, 1] > 0)) * np.random.default_rng(1).normal(size=4000)
        model = EpiBoostRegressor(n_estimators=60, max_depth=3, random_state=0).fit(X[:1500], y[:1500])
        accepted = Abstainer(model, max_error=0.1, tolerance=0.3).fit().accept(X[1500:])
        assert accepted[X[1500:, 1] < 0].mean() > 0.7
        assert accepted[X[1500:, 1] > 0].mean() < 0.1

    def test_a_model_without_kept_rows_asks_for_validation_rows(self):
        X, y = noisy_labels()
        model = EpiBoostClassifier(n_members=2, n_estimators=5, random_state=0).fit(X[:200], y[:200])
        with pytest.raises(ValueError, match=r"give validation rows, fit\(X, y\): the model has no out-of-fold chains"):
            Abstainer(model, max_error=0.05).fit()
        with pytest.raises(ValueError, match="the uncertainty of training rows is not calibrated"):
            Abstainer(model.calibrate(X[200:], y[200:]), max_error=0.05).fit()
        with pytest.raises(ValueError, match="give X and y, or none of them"):
            Abstainer(model, max_error=0.05).fit(X)
