"""Displays on one Axes: rejection curves, uncertainties and reliability diagrams."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from epiboost import EpiBoostRegressor, Uncertainty
from epiboost.metrics import interval_coverage_score, prediction_rejection_score, reliability_curve, scorer
from epiboost.plots import CalibrationDisplay, DomainDisplay, RejectionDisplay, UncertaintyDisplay
from epiboost.plots.base import Display, PanelDisplay

UNCERTAINTY = Uncertainty([2.0, 1.1], [1.0, 1.0], [1.0, 0.1], unit="variance")


class TestEveryDisplay:
    def test_plot_returns_the_display_with_its_axes_and_figure(self, ax):
        display = UncertaintyDisplay(UNCERTAINTY)
        assert display.plot(ax) is display
        assert (display.ax_, display.figure_) == (ax, ax.figure)

    def test_plot_without_axes_makes_a_figure_of_one_panel_each(self):
        for display, n_panels in ((UncertaintyDisplay(UNCERTAINTY), 1), (DomainDisplay([1.0], [2.0]), 2)):
            assert len(display.plot().figure_.axes) == n_panels
            plt.close(display.figure_)

    def test_a_display_that_cannot_draw_is_not_constructed(self):
        for base in (Display, PanelDisplay):
            with pytest.raises(TypeError, match="abstract"):
                type("Incomplete", (base,), {})()


class TestRejection:
    def test_oracle_random_and_measures_are_drawn_with_their_scores(self, models, ax):
        X, y = models["X"], models["y"]
        display = RejectionDisplay.from_estimator(models["regressor"], X, y, ax=ax)
        assert (display.ax_, display.figure_) == (ax, ax.figure)
        assert list(display.lines_) == ["oracle", "random", "total", "knowledge"]
        prediction, uncertainty = models["regressor"].predict(X), models["regressor"].predict_uncertainty(X)
        score = prediction_rejection_score(y, prediction, uncertainty.total)
        assert display.lines_["total"].get_label() == f"total (PRR {score:.2f})"
        starts = [line.get_ydata()[0] for line in display.lines_.values()]
        assert starts == pytest.approx([np.mean((y - prediction) ** 2)] * 4)
        assert {line.get_ydata()[-1] for line in display.lines_.values()} == {0.0}
        assert len({(line.get_color(), str(line.get_linestyle())) for line in display.lines_.values()}) == 4

    def test_the_error_of_a_classifier_is_the_share_of_wrong_labels(self, models, ax):
        display = RejectionDisplay.from_estimator(models["classifier"], models["X"], models["y"] > 0, ax=ax)
        wrong = models["classifier"].predict(models["X"]) != (models["y"] > 0)
        assert display.lines_["random"].get_ydata().tolist() == [pytest.approx(wrong.mean()), 0.0]

    def test_without_errors_the_curve_has_no_score(self, ax):
        display = RejectionDisplay.from_predictions([1, 2], [1, 2], {"mine": [0.1, 0.2]}, ax=ax)
        assert display.lines_["mine"].get_label() == "mine"

    def test_missing_curves_reserved_names_and_plain_arrays_are_refused(self):
        with pytest.raises(ValueError, match="at least one rejection curve"):
            RejectionDisplay({})
        with pytest.raises(ValueError, match=r"reserved, got \['oracle'\]"):
            RejectionDisplay.from_predictions([0, 1, 1], [0, 1, 0], {"oracle": [0.1, 0.2, 0.3]})
        with pytest.raises(TypeError, match=r"mapping from names to arrays .*; got list"):
            RejectionDisplay.from_predictions([0, 1, 1], [0, 1, 0], [0.1, 0.2, 0.3])


class TestUncertainty:
    def test_one_point_per_row_is_drawn_for_both_kinds_of_rows(self, models, ax):
        X, model = models["X"], models["regressor"]
        display = UncertaintyDisplay.from_estimator(model, X, X_ood=X[:7] + 3.0, ax=ax)
        in_domain, out_of_domain = display.points_
        uncertainty = model.predict_uncertainty(X)
        np.testing.assert_allclose(in_domain.get_offsets(), np.column_stack([uncertainty.data, uncertainty.knowledge]))
        assert len(out_of_domain.get_offsets()) == 7
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["in domain", "out of domain"]
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")

    def test_the_legend_is_above_the_points(self, ax):
        display = UncertaintyDisplay.from_predictions(UNCERTAINTY, UNCERTAINTY, ax=ax)
        display.figure_.draw_without_rendering()
        assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1

    def test_an_uncertainty_of_zero_in_all_rows_has_a_linear_scale(self, ax):
        single = Uncertainty([1.0, 2.0], [1.0, 2.0], [0.0, 0.0], unit="variance")
        UncertaintyDisplay.from_predictions(single, ax=ax)
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")
        assert ax.get_legend() is None

    def test_many_rows_are_thinned(self, ax):
        many = Uncertainty(np.full(20_000, 2.0), np.ones(20_000), np.ones(20_000), unit="nats")
        assert len(UncertaintyDisplay.from_predictions(many, ax=ax).points_[0].get_offsets()) == 5000

    def test_what_cannot_be_drawn_is_refused(self):
        with pytest.raises(TypeError, match=r"an Uncertainty is needed, .*; got list"):
            UncertaintyDisplay.from_predictions([1, 2, 3])
        with pytest.raises(ValueError, match="no rows to draw"):
            UncertaintyDisplay(Uncertainty([], [], [], unit="variance"))
        with pytest.raises(ValueError, match="must be finite to be drawn"):
            UncertaintyDisplay(UNCERTAINTY, Uncertainty([1.0], [1.0], [np.nan], unit="variance"))


class TestCalibration:
    @pytest.mark.parametrize("task", ["regressor", "classifier"])
    def test_the_curve_is_the_reliability_curve(self, models, task, ax):
        model, X = models[task], models["X"]
        y = models["y"] if task == "regressor" else models["y"] > 0
        display = CalibrationDisplay.from_estimator(model, X, y, n_bins=5, ax=ax, name="mine", color="red", linewidth=3)
        curve = reliability_curve(y, model.predict_posterior(X), classes=getattr(model, "classes_", None), n_bins=5)
        np.testing.assert_array_equal(display.line_.get_xdata(), curve.predicted)
        np.testing.assert_array_equal(display.line_.get_ydata(), curve.observed)
        assert (display.line_.get_color(), display.line_.get_linewidth()) == ("red", 3)
        assert display.line_.get_label() == f"mine (calibration error {curve.error:.3f})"
        assert ax.get_xlabel() == ("nominal coverage" if task == "regressor" else "confidence")

    def test_a_calibrated_regressor_is_drawn_with_its_guaranteed_intervals(self, models, ax):
        X, y = models["X"], models["y"]
        calibrated = models["regressor"].calibrate(X[:10], y[:10])
        display = CalibrationDisplay.from_estimator(calibrated, X, y, ax=ax)
        levels = display.line_.get_xdata()
        assert levels[-1] < 0.9  # ten rows cannot guarantee more
        observed = interval_coverage_score(y, calibrated.predict_interval(X, levels))
        np.testing.assert_array_equal(display.line_.get_ydata(), observed)

    def test_the_calibration_error_is_that_of_the_scorer(self, axes):
        X = np.random.default_rng(1).normal(size=(400, 2))
        y = X[:, 0] + np.random.default_rng(2).normal(size=400)
        regressor = EpiBoostRegressor(n_members=2, n_estimators=20, n_jobs=1, random_state=0).fit(X[:100], y[:100])
        calibrated = regressor.calibrate(X[100:200], y[100:200])
        for model in (regressor, calibrated):
            display = CalibrationDisplay.from_estimator(model, X[200:], y[200:], ax=axes(1)[0])
            assert scorer("expected_calibration_error")(model, X[200:], y[200:]) == -display.curve.error
            assert display.ax_.get_xlabel() == "nominal coverage"
