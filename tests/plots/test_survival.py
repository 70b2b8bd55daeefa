"""Survival curves with bands of knowledge."""

import numpy as np
import pytest

from epiboost import EpiBoostSurvivalRegressor, SurvivalCurves
from epiboost.plots import SurvivalDisplay
from tests.support.durations import table_of_durations

CURVES = SurvivalCurves(np.array([1.0, 2.0, 3.0]), np.array([[[0.9, 0.6, 0.2]] * 6, [[0.8, 0.5, 0.1]] * 6]))


def test_each_row_has_its_curve_within_its_band(ax):
    X, _, y, _ = table_of_durations("weibull", 200)
    model = EpiBoostSurvivalRegressor(distribution="weibull", n_members=3, n_estimators=30, random_state=0).fit(X, y)
    display = SurvivalDisplay.from_estimator(model, X[:2], names=["first", "second"], ax=ax)
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    assert [line.get_label() for line in display.lines_] == ["first, 90% band", "second"]
    for row, line in enumerate(display.lines_):
        times, survival = line.get_data()
        np.testing.assert_allclose(survival, model.predict_survival_function(X[:2], times)[row])
        assert survival[0] == 1.0
    band = display.bands_[0].get_paths()[0].vertices[:, 1]
    assert band.min() < display.lines_[0].get_ydata().min()
    assert min(line.get_ydata()[-1] for line in display.lines_) < 0.06


def test_curves_that_cannot_be_told_apart_are_refused():
    with pytest.raises(ValueError, match="1 to 5 rows"):
        SurvivalDisplay(CURVES)
    with pytest.raises(ValueError, match="one entry per row"):
        SurvivalDisplay(SurvivalCurves(CURVES.times, CURVES.members[:, :2]), names=["one"])
