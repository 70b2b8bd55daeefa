"""The rows that a report shows, their kinds and their columns."""

import numpy as np
import pandas as pd
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor

pytest.importorskip("jinja2", reason="reports need jinja2")
pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
pytest.importorskip("shap", reason="reports need shap")

from epiboost.report import report
from epiboost.report.charts.rejection import accepted_errors
from tests.support.report_cards import SMALL, A, Y


def test_a_row_whose_uncertainty_is_noise_is_not_unfamiliar():
    random = np.random.default_rng(5)
    X = random.normal(size=(900, 2))
    y = np.where(X[:, 0] + 2 * random.normal(size=900) > 0, "a", "b")
    model = EpiBoostClassifier(**{**SMALL, "n_estimators": 20}).fit(X[:600], y[:600])
    table = report(model, X[600:], y[600:], explain=False).facts.uncertain_rows
    share = table.knowledge / table.score
    assert share.max() < 0.1
    assert "unfamiliar" not in table.kind
    assert "noisy" in table.kind


def test_rows_that_are_not_unusual_are_ordinary(regressor):
    X = A[500:]
    page = report(regressor, X[np.argsort(regressor.predict_uncertainty(X).total)[:100]], explain=False)
    assert "ordinary" in page.facts.uncertain_rows.kind
    assert '<option value="ordinary">' in page.html


def test_long_names_with_the_same_beginning_stay_different():
    begin = "measured_concentration_of_the_substance_in_sample_number_"
    random = np.random.default_rng(6)
    X = pd.DataFrame({f"{begin}{place:02d}": random.normal(size=400) for place in range(12)})
    column = X[f"{begin}09"]
    y = 3 * column + 0.3 * random.normal(size=400) * (1 + abs(column))
    page = report(EpiBoostRegressor(**SMALL).fit(X[:300], y[:300]), X[300:], y[300:])
    assert page.facts.uncertain_rows.names[0].endswith("09")
    assert len(set(page.facts.uncertain_rows.names)) == 6
    assert page.facts.drivers[0].names[0].endswith("09")
    row = int(page.facts.uncertain_rows.row[0])
    assert float(page.facts.uncertain_rows.cells[0][0]) == pytest.approx(column.iloc[300 + row], rel=1e-3)


def test_the_rejection_curve_and_the_table_hold_the_same_errors(regressor):
    facts = report(regressor, A[500:], Y[500:], explain=False).facts
    curve = facts.rejection["total"]
    shares, errors = accepted_errors(curve.rejected, curve.error, root=True)
    for level in facts.abstention:
        assert np.interp(1 - level.coverage, shares, errors) == pytest.approx(level.error, rel=0.02)


def test_a_single_member_is_described_as_such():
    single = EpiBoostRegressor(**{**SMALL, "ensemble": "single"}).fit(A[:500], Y[:500])
    page = report(single, A[500:], Y[500:])
    assert "knowledge" not in page.facts.rejection
    assert "single, 1 member, engine" in dict(page.facts.model)["Ensemble"]
    assert "Unfamiliar, high up" not in page.html
    assert "half by knowledge" not in page.html
