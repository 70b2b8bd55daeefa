"""Out-of-domain detection: false alarms are bounded, and the detector follows scikit-learn's outlier detectors."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import epiboost
from epiboost import EpiBoostRegressor
from epiboost.decisions import DomainDetector
from tests.support.stub_estimators import StubRegressor, domain_rows


def test_the_false_alarm_rate_holds_on_average_over_tables():
    X_new = domain_rows(20_000, 1)
    detectors = [
        DomainDetector(StubRegressor(), measure="knowledge").fit(domain_rows(59, seed + 2)) for seed in range(300)
    ]
    rates = [np.mean(detector.predict(X_new) == -1) for detector in detectors]
    assert np.mean(rates) == pytest.approx(0.05, abs=0.006)


def test_scores_follow_the_conventions_of_outlier_detectors():
    X, X_ood = domain_rows(200, 0), domain_rows(50, 1, shift=5.0)
    detector = DomainDetector(StubRegressor(), false_alarm_rate=0.1, measure="knowledge").fit(X)
    assert detector.score_samples(X) == pytest.approx(-X[:, 2])
    assert detector.decision_function(X) == pytest.approx(detector.score_samples(X) - detector.offset_)
    assert set(detector.predict(X_ood)) == {-1}
    assert np.mean(detector.predict(X) == -1) <= 0.1
    assert (detector.fit_predict(X) == detector.predict(X)).all()


def test_rows_at_the_threshold_are_in_the_domain():
    X = np.ones((40, 3))
    assert (DomainDetector(StubRegressor(), measure="knowledge").fit(X).predict(X) == 1).all()


@pytest.mark.parametrize("measure", ["combined", "novelty", "knowledge"])
def test_gaps_of_the_training_table_are_detected(measure):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(3000, 2))
    X = X[~((X[:, 0] >= 2) & (X[:, 0] < 4) & (X[:, 1] >= 2) & (X[:, 1] < 4))]
    y = rng.normal(size=36)[X[:, 0] * 6 + X[:, 1]] + 0.1 * rng.normal(size=len(X))
    model = EpiBoostRegressor(n_members=5, n_estimators=150, learning_rate=0.3, n_jobs=1, random_state=0)
    detector = DomainDetector(model.fit(X[:2000], y[:2000]), measure=measure).fit(X[2000:])
    assert detector.n_features_in_ == 2
    assert (detector.predict([[2, 2], [2, 3], [3, 2], [3, 3]]) == -1).mean() >= 0.75
    assert (detector.predict(X[2000:]) == 1).mean() >= 0.94


def test_a_clone_keeps_the_fitted_estimator(models):
    detector = DomainDetector(models["classifier"])
    copy = clone(detector)
    assert copy.estimator is detector.estimator
    assert copy.get_params() == detector.get_params()


@pytest.mark.parametrize(
    ("parameters", "rows", "words"),
    [
        ({}, domain_rows(18, 0), r"a false alarm rate of 0\.05 needs at least 19 rows, got 18"),
        ({"false_alarm_rate": 0.0}, domain_rows(18, 0), "strictly between 0 and 1, got 0.0"),
        ({"measure": "doubt"}, domain_rows(18, 0), "measure must be one of"),
        ({}, np.zeros((30, 3)), "the estimator has no knowledge uncertainty"),
    ],
)
def test_parameters_and_rows_that_are_not_allowed_are_refused(parameters, rows, words):
    with pytest.raises(ValueError, match=words):
        DomainDetector(StubRegressor(), **{"measure": "knowledge", **parameters}).fit(rows)


@pytest.mark.parametrize(
    ("rows", "words"), [(np.array([[0.0, np.nan, 0.0]]), "must not be NaN, got 1"), (np.empty((0, 3)), "no rows")]
)
def test_nan_uncertainty_and_empty_tables_are_refused(rows, words):
    detector = DomainDetector(StubRegressor(), measure="total")
    with pytest.raises(ValueError, match=words):
        detector.fit(rows)
    detector.fit(domain_rows(100, 0))
    for method in ("predict", "score_samples", "decision_function", "drift"):
        with pytest.raises(ValueError, match=words):
            getattr(detector, method)(rows)


@pytest.mark.parametrize("method", ["predict", "score_samples", "decision_function", "drift", "explain"])
def test_a_detector_that_is_not_fitted_says_so(method):
    with pytest.raises(NotFittedError):
        getattr(DomainDetector(StubRegressor(), measure="knowledge"), method)(domain_rows(5, 0))


@pytest.fixture(scope="module")
def cities():
    """Return a model of numbers and categories, and the table that it was trained on."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(50.0, 9.0, 800), "age": rng.integers(0, 60, 800)})
    frame["city"] = rng.choice(["Lima", "Oslo", "Rome"], 800)
    y = frame["size"] + 10.0 * (frame["city"] == "Oslo") + rng.normal(size=800)
    model = EpiBoostRegressor(n_estimators=100, learning_rate=0.2, max_depth=4, random_state=0)
    return model.fit(frame[:600], y[:600]), frame


def rows_of(frame, **values):
    """Return the first rows of a frame with some columns replaced."""
    return frame.head(3).assign(**values)


class TestWithoutRowsOfItsOwn:
    """A detector that is fitted to the training rows that the model keeps."""

    @pytest.mark.parametrize("measure", ["combined", "novelty", "total"])
    def test_false_alarms_are_near_their_rate(self, measure):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(3000, 3))
        y = X[:, 0] + np.exp(X[:, 1] / 2) * rng.normal(size=3000)
        model = EpiBoostRegressor(n_estimators=60, learning_rate=0.2, max_depth=4, random_state=0).fit(
            X[:1000], y[:1000]
        )
        detector = DomainDetector(model, measure=measure).fit()
        assert np.mean(detector.predict(X[1000:]) == -1) == pytest.approx(0.05, abs=0.025)

    @pytest.mark.parametrize("measure", ["combined", "novelty"])
    def test_tables_of_few_distinct_rows_are_in_their_own_domain(self, measure):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 6, size=(9000, 2)).astype(float)
        model = EpiBoostRegressor(n_estimators=20, max_depth=3, random_state=0, reference_rows=400)
        detector = DomainDetector(model.fit(X[:8000], X[:8000, 0] + rng.normal(size=8000)), measure=measure).fit()
        assert (detector.predict(X[8000:]) == -1).mean() < 0.1
        assert detector.drift(X[8000:]).p_value > 0.05

    @pytest.mark.parametrize("measure", ["combined", "novelty"])
    def test_copies_of_the_table_change_little(self, measure):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(1500, 3))
        y = X[:, 0] + rng.normal(size=1500)
        model = EpiBoostRegressor(n_estimators=30, max_depth=3, random_state=0)
        detector = DomainDetector(
            model.fit(np.repeat(X[:500], 2, axis=0), np.repeat(y[:500], 2)), measure=measure
        ).fit()
        assert (detector.predict(X[500:]) == -1).mean() < 0.12

    def test_groups_of_similar_rows_do_not_vouch_for_each_other(self):
        rng = np.random.default_rng(0)
        X = np.repeat(rng.normal(size=(200, 3)), 10, axis=0) + 0.01 * rng.normal(size=(2000, 3))
        model = EpiBoostRegressor(n_estimators=30, max_depth=3, random_state=0)
        model.fit(X[:1000], X[:1000, 0], groups=np.repeat(np.arange(100), 10))
        assert (DomainDetector(model, measure="novelty").fit().predict(X[1000:]) == -1).mean() < 0.15

    @pytest.mark.parametrize("measure", ["combined", "novelty"])
    @pytest.mark.parametrize(
        "values",
        [{"size": 500.0}, {"age": -40}, {"city": "Paris"}, {"size": np.nan}],
        ids=["beyond", "below", "category", "missing"],
    )
    def test_values_that_training_did_not_have_are_flagged(self, cities, measure, values):
        model, frame = cities
        detector = DomainDetector(model, measure=measure).fit()
        assert (detector.predict(rows_of(frame, **values)) == -1).all()
        assert (detector.predict(frame) == 1).mean() > 0.9

    def test_values_that_do_not_go_together_are_flagged(self):
        rng = np.random.default_rng(0)
        x = rng.normal(size=1000)
        X = np.column_stack([x, x + 0.05 * rng.normal(size=1000)])
        model = EpiBoostRegressor(n_estimators=50, max_depth=3, random_state=0).fit(X, x)
        assert DomainDetector(model, measure="novelty").fit().predict([[1.5, -1.5], [1.0, 1.0]]).tolist() == [-1, 1]

    def test_the_score_is_the_same_after_saving_and_loading(self, cities, tmp_path):
        model, frame = cities
        model.save(tmp_path / "model.epib")
        loaded = epiboost.load(tmp_path / "model.epib")
        scores = [DomainDetector(each).fit().score_samples(frame) for each in (model, loaded)]
        assert (scores[0] == scores[1]).all()

    def test_a_pipeline_and_a_calibrated_model_are_taken(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 2))
        pipeline = make_pipeline(StandardScaler(), EpiBoostRegressor(n_estimators=30, max_depth=3, random_state=0))
        assert DomainDetector(pipeline.fit(X, X[:, 0])).fit().predict([[90.0, 0.0]]).tolist() == [-1]
        calibrated = pipeline[-1].calibrate(X, X[:, 0])
        assert DomainDetector(calibrated).fit().predict([[90.0, 0.0]]).tolist() == [-1]

    def test_calibration_does_not_change_the_score(self):
        X = np.random.default_rng(0).normal(size=(400, 2))
        model = EpiBoostRegressor(n_estimators=30, max_depth=3, random_state=0).fit(X[:300], X[:300, 0])
        calibrated = model.calibrate(X[300:], 2.0 * X[300:, 0])
        scores = [DomainDetector(each).fit().score_samples(X) for each in (model, calibrated)]
        assert (scores[0] == scores[1]).all()

    @pytest.mark.parametrize(
        ("parameters", "measure", "words"),
        [
            ({"reference_rows": 0}, "combined", "the model must keep training rows"),
            ({"reference_rows": 0}, "novelty", "the model must keep training rows"),
            ({"out_of_fold": 0}, "combined", "the model needs out-of-fold chains"),
            ({"n_members": 3}, "combined", "at least 5 chains have them by default, smaller ones with out_of_fold=4"),
            ({}, "knowledge", "rows that the members have not seen"),
        ],
    )
    def test_a_model_without_what_is_needed_asks_for_rows(self, parameters, measure, words):
        X = np.random.default_rng(0).normal(size=(200, 2))
        model = EpiBoostRegressor(n_estimators=20, max_depth=3, random_state=0, **parameters).fit(X, X[:, 0])
        detector = DomainDetector(model, measure=measure)
        with pytest.raises(ValueError, match=words):
            detector.fit()
        assert detector.fit(X[:100] + 0.01).predict([[50.0, 50.0]]).shape == (1,)


class TestExplanation:
    """What makes rows foreign."""

    def test_shares_add_up_to_the_score(self, cities):
        model, frame = cities
        detector = DomainDetector(model).fit()
        explanation = detector.explain(rows_of(frame, size=500.0))
        total = explanation.columns.sum(axis=1) + explanation.uncertainty
        assert total == pytest.approx(-detector.score_samples(rows_of(frame, size=500.0)))

    @pytest.mark.parametrize("values", [{"size": 500.0}, {"age": -40}, {"city": "Paris"}])
    def test_the_column_that_was_changed_is_named_first(self, cities, values):
        model, frame = cities
        explanation = DomainDetector(model).fit().explain(rows_of(frame, **values))
        assert {explanation.top(row)[0][0] for row in range(3)} == set(values)
        assert list(explanation.to_frame()) == ["size", "age", "city", "(uncertainty)"]
        assert next(iter(values)) in repr(explanation)

    def test_a_training_row_is_most_like_itself(self, cities):
        model, frame = cities
        similar = DomainDetector(model).fit().explain(frame.head(4), n_similar=3).similar_rows(2)
        assert similar.shape == (3, 4)
        assert similar["(affinity)"].iloc[0] == 1.0
        assert similar["city"].iloc[0] == frame["city"].iloc[2]
        assert similar["size"].iloc[0] == pytest.approx(frame["size"].iloc[2], rel=1e-6)

    def test_uncertainty_alone_is_not_explained_by_columns(self, cities):
        model, frame = cities
        with pytest.raises(ValueError, match="'knowledge' is not made of columns"):
            DomainDetector(model, measure="knowledge").fit(frame).explain(frame)


class TestBatches:
    """Drift of batches and streams."""

    def test_the_drifting_column_is_named(self, cities):
        model, frame = cities
        detector = DomainDetector(model).fit()
        moved = detector.drift(frame.head(100).assign(size=frame["size"].head(100) + 9.0))
        assert moved.p_value < 0.01
        assert moved.columns[0].name == "size"
        assert 0.0 <= moved.share_outside <= 1.0
        assert detector.drift(frame[600:]).p_value > 0.05
        assert detector.drift(frame[:600]).p_value > 0.05

    def test_new_categories_are_no_drift_where_they_are_usual(self):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"x": rng.normal(size=600), "id": [f"user {number}" for number in range(600)]})
        model = EpiBoostRegressor(n_estimators=20, max_depth=3, random_state=0).fit(frame[:400], frame["x"][:400])
        assert DomainDetector(model, measure="novelty").fit().drift(frame[400:]).p_value > 0.05

    def test_a_move_to_a_familiar_corner_is_drift(self, cities):
        model, frame = cities
        familiar = frame[(frame["size"] - 50.0).abs() < 4.0].head(100)
        assert DomainDetector(model, measure="knowledge").fit(frame).drift(familiar).p_value < 0.01

    def test_rows_given_to_fit_are_compared_by_their_uncertainty_too(self, cities):
        model, frame = cities
        names = {column.name for column in DomainDetector(model).fit(frame).drift(frame.head(50)).columns}
        assert names == {"size", "age", "city", "(novelty)", "(total uncertainty)"}

    def test_a_monitor_raises_an_alarm_after_the_drift(self, cities):
        model, frame = cities
        monitor = DomainDetector(model).fit(frame[600:700]).monitor()
        assert not monitor.update(frame[700:]).raised
        assert monitor.update(frame[600:].assign(age=80)).raised

    def test_a_monitor_needs_rows_of_its_own(self, cities):
        with pytest.raises(ValueError, match="give them to fit"):
            DomainDetector(cities[0]).fit().monitor()
