"""Predictive densities and fans."""

import numpy as np
import pandas as pd
import pytest

from epiboost import EpiBoostRegressor, Posterior
from epiboost.plots import DensityDisplay, FanDisplay
from tests.support.family_models import FAMILIES, family_model
from tests.support.posteriors import CATEGORICAL


class TestDensities:
    @pytest.mark.parametrize("family", FAMILIES)
    def test_every_row_has_its_density_its_members_and_its_target(self, family, ax):
        model, X, y = family_model(family)
        display = DensityDisplay.from_estimator(model, X[:4], y[:4], names="abcd", ax=ax)
        assert (len(display.densities_), [len(lines) for lines in display.members_]) == (4, [3] * 4)
        np.testing.assert_array_equal(display.targets_.get_xdata(), y[:4])
        np.testing.assert_array_equal(display.targets_.get_ydata(), [3, 2, 1, 0])
        assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b", "c", "d"]
        line = display.members_[0][0]
        x, height = line.get_xdata(), line.get_ydata() - 3.0
        density = Posterior(model.predict_posterior(X[:1]).parameters[:1], family).pdf(x[np.newaxis])[0]
        np.testing.assert_allclose(height / height.max(), density / density.max(), atol=1e-9)
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["mixture", "members", "target"]

    def test_rows_are_named_by_the_index_of_the_frame(self, ax):
        posterior = Posterior(np.ones((2, 2, 2)), "normal", index=pd.Index(["north", "south"]))
        assert DensityDisplay.from_predictions(posterior, ax=ax).names == ["north", "south"]

    def test_what_cannot_be_drawn_is_refused(self):
        with pytest.raises(ValueError, match="at most 12 rows"):
            DensityDisplay(Posterior(np.ones((1, 13, 2)), "normal"))
        with pytest.raises(ValueError, match="must be normal, as from a regressor, got categorical"):
            DensityDisplay(CATEGORICAL)
        with pytest.raises(ValueError, match="one label per row, 1, got 2"):
            DensityDisplay(Posterior(np.ones((1, 1, 2)), "normal"), names=["a", "b"])


class TestFans:
    @pytest.mark.parametrize("family", FAMILIES)
    def test_bands_are_intervals_along_a_column(self, family, ax):
        model, X, y = family_model(family)
        display = FanDisplay.from_estimator(model, X, y, column=0, coverages=[0.5, 0.9], ax=ax)
        order = np.argsort(X[:, 0])
        np.testing.assert_array_equal(display.median_.get_xdata(), X[order, 0])
        np.testing.assert_array_equal(display.median_.get_ydata(), model.predict_quantile(X, 0.5)[order])
        assert [band.get_label() for band in display.bands_] == ["90 %", "50 %"]
        corners = display.bands_[0].get_paths()[0].vertices
        interval = model.predict_interval(X, 0.9)
        assert corners[:, 1].min() == pytest.approx(interval.min())
        assert corners[:, 1].max() == pytest.approx(interval.max())
        assert len(display.points_.get_offsets()) == len(y)
        assert ax.get_xlabel() == "0"

    def test_without_a_column_rows_are_sorted_by_their_median(self, ax):
        posterior = Posterior(np.array([[[3.0, 1.0], [1.0, 1.0], [2.0, 1.0]]]), "normal")
        display = FanDisplay.from_predictions(posterior, ax=ax)
        np.testing.assert_allclose(display.median_.get_ydata(), [1.0, 2.0, 3.0])
        assert display.points_ is None

    def test_columns_are_found_by_name(self, ax):
        X = np.random.default_rng(0).normal(size=(60, 2))
        frame = pd.DataFrame(X, columns=["a", "b"])
        model = EpiBoostRegressor(n_members=2, n_estimators=5, random_state=0).fit(frame, X[:, 0])
        from_frame = FanDisplay.from_estimator(model, frame, column="b", ax=ax)
        np.testing.assert_array_equal(from_frame.x, X[:, 1])
        for column, error in (("c", "the name of a column of X"), (7, "from 0 to 1, got 7")):
            with pytest.raises(ValueError, match=error):
                FanDisplay.from_estimator(model, frame, column=column)

    def test_arrays_that_do_not_fit_are_refused(self):
        with pytest.raises(ValueError, match=r"intervals must have the shape \(2, 1, 2\)"):
            FanDisplay(None, [0.0, 1.0], np.zeros((2, 2)), [0.5])
        with pytest.raises(ValueError, match="x must have one value per row"):
            FanDisplay([1.0], [0.0, 1.0], np.zeros((2, 1, 2)), [0.5])
