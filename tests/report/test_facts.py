"""The numbers of a report are those of the library."""

import numpy as np
import pandas as pd
import pytest

from epiboost import EpiBoostRegressor, metrics
from epiboost.datasets import make_heart
from epiboost.decisions import DomainDetector

pytest.importorskip("jinja2", reason="reports need jinja2")
pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
pytest.importorskip("shap", reason="reports need shap")

from epiboost.report import report
from tests.support.report_tables import FRAME, HELD_OUT, OTHER


def test_the_numbers_of_a_classifier_are_those_of_the_metrics(models):
    model, y = models["classifier"]
    X, y = FRAME[HELD_OUT], y[HELD_OUT]
    facts = report(model, X, y, explain=False).facts
    posterior = model.predict_posterior(X)
    wrong = model.predict(X) != y
    assert facts.quality.error == wrong.mean()
    assert facts.quality.baseline == pytest.approx(min((y == "low").mean(), (y == "high").mean()))
    assert dict(facts.quality.losses)["negative log-likelihood (nats)"] == metrics.negative_log_likelihood_loss(
        y, posterior
    )
    assert facts.calibration.nominal == pytest.approx(posterior.mean.max(axis=1).mean())
    assert facts.calibration.observed == pytest.approx(1 - wrong.mean())
    assert facts.rejection_scores["total"] == metrics.prediction_rejection_score(
        y, model.predict(X), posterior.uncertainty().total
    )
    total = posterior.uncertainty().total
    for level in facts.abstention[1:]:
        below = total < level.threshold
        assert below.mean() == level.coverage
        assert level.coverage == pytest.approx(
            level.target_coverage, abs=0.03
        )  # equally uncertain rows are all rejected
        assert level.error == pytest.approx(wrong[below].mean())
        assert level.error_bound > level.error


def test_the_numbers_of_a_regressor_are_those_of_the_metrics(models):
    model, y = models["regressor"]
    X, y = FRAME[HELD_OUT], y[HELD_OUT]
    facts = report(model, X, y, explain=False).facts
    residual = y - model.predict(X)
    assert facts.quality.error == pytest.approx(np.sqrt(np.mean(residual**2)))
    assert facts.quality.baseline == pytest.approx(y.std())
    assert facts.calibration.observed == metrics.interval_coverage_score(y, model.predict_interval(X, 0.9))
    assert facts.calibration.width == pytest.approx(metrics.interval_width(model.predict_interval(X, 0.9)))
    total = model.predict_uncertainty(X).total
    for level in facts.abstention:
        below = total < level.threshold
        assert level.error == pytest.approx(np.sqrt(np.mean(residual[below] ** 2)))
        assert (
            level.coverage == below.mean() == pytest.approx(level.target_coverage, abs=0.03)
        )  # equally uncertain rows are all rejected


def test_a_calibrated_model_is_judged_by_its_guarantees(models):
    X = FRAME[HELD_OUT]
    model, y = models["calibrated regressor"]
    calibration = report(model, X, y[HELD_OUT], explain=False).facts.calibration
    assert calibration.guaranteed
    assert calibration.observed == metrics.interval_coverage_score(y[HELD_OUT], model.predict_interval(X, 0.9))
    model, y = models["calibrated classifier"]
    calibration = report(model, X, y[HELD_OUT], explain=False).facts.calibration
    sets = model.predict_set(X, 0.9)
    assert calibration.set_size == sets.sum(axis=1).mean()
    assert calibration.set_coverage == sets[np.arange(150), (y[HELD_OUT] == "low").astype(int)].mean()


def test_out_of_domain_rows_are_those_of_the_detector(models):
    model, y = models["regressor"]
    facts = report(model, FRAME[HELD_OUT], y[HELD_OUT], X_ood=OTHER, explain=False).facts
    detector = DomainDetector(model).fit(FRAME[HELD_OUT])
    drift = detector.drift(OTHER)
    assert facts.domain.measure == "combined"
    assert facts.domain.share == drift.share_outside
    assert facts.domain.drift.p_value == drift.p_value
    effects = {column.name: column.effect for column in drift.columns}
    assert {column.name: column.effect for column in facts.domain.drift.columns} == {
        name: effects[name] for name in FRAME
    }
    assert [score.name for score in facts.domain.drift.scores] == ["novelty", "total uncertainty"]
    assert np.array_equal(facts.domain.outside, -detector.score_samples(OTHER))
    why = detector.explain(OTHER)
    for foreign in facts.domain.foreign:
        assert list(foreign.columns) == why.top(foreign.row)
    knowledge = [model.predict_uncertainty(table).knowledge for table in (FRAME[HELD_OUT], OTHER)]
    assert facts.domain.knowledge_auc == metrics.ood_auc_score(
        np.repeat([False, True], [len(part) for part in knowledge]), np.concatenate(knowledge)
    )
    assert (facts.out_of_domain.new_values.n_unseen, facts.domain.new_values.n_unseen) == (0, 150)


def test_novelty_of_shown_rows_is_that_of_the_model(models):
    for kind in ("regressor", "calibrated classifier"):
        model, y = models[kind]
        facts = report(model, FRAME[HELD_OUT], y[HELD_OUT], X_ood=OTHER, explain=False).facts
        for table in (facts.uncertain_rows, facts.point_rows):
            for rows, is_other in ((FRAME[HELD_OUT], False), (OTHER, True)):
                novelty = model.predict_uncertainty(rows, novelty=True).novelty
                assert np.array_equal(
                    table.novelty[table.other == is_other], novelty[table.row[table.other == is_other]]
                )


@pytest.fixture(scope="module")
def heart():
    """Return a model of the heart, 700 rows that it has not seen, and the 34 cells of the hole."""
    drawn = make_heart(n_per_cell=100, random_state=0)
    model = EpiBoostRegressor(n_members=10, n_estimators=200, learning_rate=0.3, random_state=0)
    model.fit(drawn.X[:4000], drawn.y[:4000])
    return model, drawn.X[4000:], drawn.cells.X[drawn.cells.inside.ravel()]


def test_outliers_are_counted_without_another_table(heart):
    model, usual, hole = heart
    assert report(model, usual, explain=False).facts.out_of_domain.n_outliers == 0
    assert report(model, np.concatenate([usual, hole]), explain=False).facts.out_of_domain.n_outliers == len(hole)


def test_noisy_rows_are_marked_noisy_and_unfamiliar_rows_unfamiliar(heart):
    """Around the hole the target is noisiest; in the hole there was no training row."""
    model, usual, hole = heart
    facts = report(model, np.concatenate([usual, hole]), explain=False).facts
    kinds = dict(zip(facts.uncertain_rows.row.tolist(), facts.uncertain_rows.kind, strict=True))
    noisy = [kind for row, kind in kinds.items() if row < len(usual)]
    unfamiliar = [kind for row, kind in kinds.items() if row >= len(usual)]
    assert len(noisy) >= 40
    assert "unfamiliar" not in noisy
    assert noisy[:20] == ["noisy"] * 20  # the table is sorted by total uncertainty
    assert unfamiliar == ["unfamiliar"] * len(hole)


def test_the_feature_that_drives_the_noise_is_found():
    random = np.random.default_rng(7)
    X = pd.DataFrame(random.normal(size=(1500, 4)), columns=["calm", "loud", "third", "fourth"])
    y = X["calm"] + np.exp(1.2 * X["loud"]) * random.normal(size=1500)
    model = EpiBoostRegressor(n_members=3, n_estimators=60, random_state=0).fit(X[:1000], y[:1000])
    page = report(model, X[1000:], y[1000:])
    drivers = {driver.measure: driver for driver in page.facts.drivers}
    assert drivers["data"].names[0] == "loud"
    assert sum(drivers["data"].shares) == pytest.approx(1.0)
    noisy = [
        reason
        for reason, kind in zip(page.facts.uncertain_rows.reason, page.facts.uncertain_rows.kind, strict=True)
        if kind == "noisy"
    ]
    assert noisy.count("loud") >= 0.8 * len(noisy)


def test_beside_the_detectors_a_table_is_predicted_once(models, monkeypatch):
    """Detectors predict with copies of the model."""
    model, y = models["classifier"]
    counts, predict = [], type(model).predict_posterior

    def counted(self, X, **options):
        counts.extend([len(X)] if self is model else [])
        return predict(self, X, **options)

    monkeypatch.setattr(type(model), "predict_posterior", counted)
    report(model, FRAME[HELD_OUT], y[HELD_OUT], X_ood=OTHER[:40], explain=False)
    assert counts == [150, 40]
