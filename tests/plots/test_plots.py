"""Displays hold their data, draw it where they are told, and keep what they drew."""

import numpy as np
import pytest
from matplotlib import colors
from matplotlib.figure import Figure

from epiboost import EpiBoostClassifier, EpiBoostRegressor, Uncertainty
from epiboost.datasets import make_heart, make_spiral, spiral_features
from epiboost.metrics import (
    interval_coverage_score,
    ood_auc_score,
    prediction_rejection_score,
    reliability_curve,
    scorer,
)
from epiboost.plots import (
    CalibrationDisplay,
    DomainDisplay,
    HeartDisplay,
    HeatMap,
    MapDisplay,
    RejectionDisplay,
    SpiralDisplay,
    UncertaintyDisplay,
    border_segments,
    spiral_grid,
)

GRID = np.arange(6.0).reshape(2, 3)


def axes(count):
    return list(np.ravel(Figure().subplots(1, count)))


def test_each_heat_map_is_drawn_on_its_axes_with_title_labels_and_scale():
    places = axes(2)
    display = MapDisplay([HeatMap("one", GRID), HeatMap("two", 2 * GRID)], x_label="across", y_label="down")
    assert display.plot(places) is display
    assert display.axes_ == places
    assert [place.get_title() for place in places] == ["one", "two"]
    assert {(place.get_xlabel(), place.get_ylabel()) for place in places} == {("across", "down")}
    assert [image.get_array().tolist() for image in display.images_] == [GRID.tolist(), (2 * GRID).tolist()]
    assert [bar.ax.get_ylabel() for bar in display.colorbars_] == ["variance", "variance"]
    assert display.outlines_ == []


def test_one_heat_map_takes_one_axes():
    (place,) = axes(1)
    assert MapDisplay([HeatMap("one", GRID)]).plot(place).axes_ == [place]


def test_limits_set_the_colours_and_the_scale_shows_what_exceeds_them():
    display = MapDisplay([HeatMap("one", GRID, (0.0, 4.0)), HeatMap("two", GRID)]).plot(axes(2))
    assert display.images_[0].get_clim() == (0.0, 4.0)
    assert [bar.extend for bar in display.colorbars_] == ["max", "neither"]


def test_cells_without_a_value_get_the_colour_of_no_value():
    display = MapDisplay([HeatMap("one", np.array([[np.nan, 1.0, 2.0]]))]).plot(axes(1))
    (image,) = display.images_
    drawn = image.to_rgba(image.get_array())[0, 0]
    assert drawn == pytest.approx(colors.to_rgba("#f2f2f2"), abs=1e-3)


def test_the_outline_follows_the_border_of_the_mask():
    mask = GRID > 2
    display = MapDisplay([HeatMap("one", GRID)], outline=mask).plot(axes(1))
    (outline,) = display.outlines_
    assert outline.get_path().get_extents().bounds == pytest.approx((-0.5, 0.5, 3.0, 1.0))


@pytest.mark.parametrize(
    ("mask", "length"),
    [([[True]], 4), ([[True, True], [True, True]], 8), ([[True, False], [False, True]], 8), ([[False]], 0)],
)
def test_a_border_is_as_long_as_the_edges_between_true_and_false(mask, length):
    ends = np.reshape(border_segments(np.array(mask)), (-1, 2, 2))
    assert np.abs(ends[:, 1] - ends[:, 0]).sum(axis=1).tolist() == [1.0] * length


def test_grids_of_different_shapes_are_refused():
    with pytest.raises(ValueError, match=r"one shape, got \[\(2, 3\), \(3, 2\)\]"):
        MapDisplay([HeatMap("one", GRID)], outline=np.zeros((3, 2), dtype=bool))


def test_too_few_axes_are_refused():
    with pytest.raises(ValueError, match="one Axes a heat map: 2, got 1"):
        MapDisplay([HeatMap("one", GRID), HeatMap("two", GRID)]).plot(axes(1))


# The displays of a model


@pytest.fixture(scope="module")
def models():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2))
    y = X[:, 0] + random.normal(scale=0.5, size=200)
    small = {"n_members": 3, "n_estimators": 20, "n_jobs": 1, "random_state": 0}
    regressor = EpiBoostRegressor(**small).fit(X[:100], y[:100])
    classifier = EpiBoostClassifier(**small).fit(X[:100], y[:100] > 0)
    return {"X": X[100:], "y": y[100:], "regressor": regressor, "classifier": classifier}


def test_rejection_draws_oracle_random_total_and_knowledge_with_their_scores(models):
    X, y = models["X"], models["y"]
    (place,) = axes(1)
    display = RejectionDisplay.from_estimator(models["regressor"], X, y, ax=place)
    assert (display.ax_, display.figure_) == (place, place.figure)
    assert list(display.lines_) == ["oracle", "random", "total", "knowledge"]
    prediction, uncertainty = models["regressor"].predict(X), models["regressor"].predict_uncertainty(X)
    score = prediction_rejection_score(y, prediction, uncertainty.total)
    assert display.lines_["total"].get_label() == f"total (PRR {score:.2f})"
    starts = [line.get_ydata()[0] for line in display.lines_.values()]
    assert starts == pytest.approx([np.mean((y - prediction) ** 2)] * 4)
    assert {line.get_ydata()[-1] for line in display.lines_.values()} == {0.0}
    assert len({(line.get_color(), str(line.get_linestyle())) for line in display.lines_.values()}) == 4


def test_rejection_of_classes_counts_errors(models):
    display = RejectionDisplay.from_estimator(models["classifier"], models["X"], models["y"] > 0, ax=axes(1)[0])
    wrong = models["classifier"].predict(models["X"]) != (models["y"] > 0)
    assert display.lines_["random"].get_ydata().tolist() == [pytest.approx(wrong.mean()), 0.0]


def test_rejection_without_errors_is_drawn_without_a_score():
    display = RejectionDisplay.from_predictions([1, 2], [1, 2], {"mine": [0.1, 0.2]}, ax=axes(1)[0])
    assert display.lines_["mine"].get_label() == "mine"
    with pytest.raises(ValueError, match="one rejection curve at least"):
        RejectionDisplay({})


def test_uncertainty_is_drawn_with_a_point_a_row_in_two_groups(models):
    X, model = models["X"], models["regressor"]
    display = UncertaintyDisplay.from_estimator(model, X, X[:7] + 3.0, ax=axes(1)[0])
    inside, outside = display.points_
    uncertainty = model.predict_uncertainty(X)
    np.testing.assert_allclose(inside.get_offsets(), np.column_stack([uncertainty.data, uncertainty.knowledge]))
    assert len(outside.get_offsets()) == 7
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["in domain", "out of domain"]
    assert (display.ax_.get_xscale(), display.ax_.get_yscale()) == ("log", "log")


def test_uncertainty_that_is_zero_everywhere_has_no_logarithm():
    single = Uncertainty([1.0, 2.0], [1.0, 2.0], [0.0, 0.0], unit="variance")
    display = UncertaintyDisplay.from_predictions(single, ax=axes(1)[0])
    assert (display.ax_.get_xscale(), display.ax_.get_yscale()) == ("log", "linear")
    assert display.ax_.get_legend() is None
    with pytest.raises(ValueError, match="no rows to draw"):
        UncertaintyDisplay(Uncertainty([], [], [], unit="variance"))
    with pytest.raises(ValueError, match="must be finite to be drawn"):
        UncertaintyDisplay(single, Uncertainty([1.0], [1.0], [np.nan], unit="variance"))


def test_of_very_many_rows_some_are_drawn():
    many = Uncertainty(np.full(20_000, 2.0), np.ones(20_000), np.ones(20_000), unit="nats")
    assert len(UncertaintyDisplay.from_predictions(many, ax=axes(1)[0]).points_[0].get_offsets()) == 5000


@pytest.mark.parametrize("task", ["regressor", "classifier"])
def test_calibration_draws_the_reliability_curve(models, task):
    model, X = models[task], models["X"]
    y = models["y"] if task == "regressor" else models["y"] > 0
    display = CalibrationDisplay.from_estimator(
        model, X, y, n_bins=5, ax=axes(1)[0], name="mine", color="red", linewidth=3
    )
    curve = reliability_curve(y, model.predict_posterior(X), classes=getattr(model, "classes_", None), n_bins=5)
    np.testing.assert_array_equal(display.line_.get_xdata(), curve.predicted)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.observed)
    assert (display.line_.get_color(), display.line_.get_linewidth()) == ("red", 3)
    assert display.line_.get_label() == f"mine (calibration error {curve.error:.3f})"
    assert display.ax_.get_xlabel() == ("coverage asked for" if task == "regressor" else "confidence")


def test_calibration_of_a_calibrated_regressor_judges_its_guaranteed_intervals(models):
    X, y = models["X"], models["y"]
    calibrated = models["regressor"].calibrate(X[:10], y[:10])
    display = CalibrationDisplay.from_estimator(calibrated, X, y, ax=axes(1)[0])
    levels = display.line_.get_xdata()
    assert levels[-1] < 0.9  # more cannot be guaranteed by so few rows
    observed = interval_coverage_score(y, calibrated.predict_interval(X, levels))
    np.testing.assert_array_equal(display.line_.get_ydata(), observed)


def test_domains_are_drawn_as_histograms_and_a_curve(models):
    X, model = models["X"], models["regressor"]
    places = axes(2)
    display = DomainDisplay.from_estimator(model, X, X + 3.0, measure="total", ax=places)
    assert display.axes_ == places
    scores = [model.predict_uncertainty(rows).total for rows in (X, X + 3.0)]
    assert display.roc_auc == ood_auc_score(np.repeat([False, True], 100), np.concatenate(scores))
    assert display.roc_.get_label() == f"total (AUC {display.roc_auc:.2f})"
    for bars, values in zip(places[0].containers, scores, strict=True):
        edges = [bar.get_x() for bar in bars] + [bars[-1].get_x() + bars[-1].get_width()]
        edges[0], edges[-1] = 0.0, np.inf  # the outermost ends are rounded
        assert [bar.get_height() * 100 for bar in bars] == pytest.approx(np.histogram(values, edges)[0])


def test_domains_from_predictions_are_those_of_the_metric():
    is_out, uncertainty = np.array([True, False, True, False]), np.array([4.0, 1.0, 2.0, 3.0])
    display = DomainDisplay.from_predictions(is_out, uncertainty, ax=axes(2))
    assert display.roc_auc == ood_auc_score(is_out, uncertainty) == 0.75
    assert display.inside.tolist() == [1.0, 3.0]


def test_domains_are_drawn_by_a_part_of_the_uncertainty(models):
    with pytest.raises(ValueError, match="measure must be one of"):
        DomainDisplay.from_estimator(models["regressor"], models["X"], models["X"], measure="doubt")


def test_domains_of_one_value_are_drawn_and_bad_ones_refused():
    assert DomainDisplay.from_predictions([0, 1, 0], [0.0, 0.0, 0.0], ax=axes(2)).roc_auc == 0.5
    with pytest.raises(ValueError, match="inside is empty"):
        DomainDisplay([], [1.0])
    with pytest.raises(ValueError, match="outside is empty"):
        DomainDisplay.from_predictions([False, False], [1.0, 2.0])
    with pytest.raises(ValueError, match="uncertainty must be finite"):
        DomainDisplay.from_predictions([False, True], [1.0, np.nan])
    with pytest.raises(ValueError, match="must hold true and false"):
        DomainDisplay.from_predictions([0, 2], [1.0, 2.0])
    with pytest.raises(ValueError, match="outside must be finite"):
        DomainDisplay([1.0], [np.nan])
    with pytest.raises(ValueError, match="two Axes, for the histograms and for the curve, got 1"):
        DomainDisplay([1.0], [2.0]).plot(axes(1))


def test_the_map_of_the_heart_holds_truth_and_estimate_on_one_scale():
    heart = make_heart(n_per_cell=2, random_state=0)
    total, part = np.arange(81.0) / 40, np.arange(81.0) / 80
    display = HeartDisplay.from_predictions(Uncertainty(total, part, part, unit="variance"), heart, ax=axes(3))
    assert [image.get_clim()[1] for image in display.images_] == pytest.approx([1.0, 1.0, 1.0])
    np.testing.assert_array_equal(display.images_[2].get_array(), part.reshape(9, 9))
    assert len(display.outlines_) == 3


def test_the_map_of_the_spiral_asks_the_model_about_the_plane():
    spiral = make_spiral(90, random_state=0)
    model = EpiBoostClassifier(n_members=2, n_estimators=10, n_jobs=1, random_state=0).fit(spiral.X, spiral.y)
    display = SpiralDisplay.from_estimator(model, spiral, resolution=8, reach=1.2, ax=axes(2))
    expected = model.predict_uncertainty(spiral_features(spiral_grid(8, 1.2)))
    for image, part in zip(display.images_, (expected.data, expected.knowledge), strict=True):
        np.testing.assert_array_equal(np.ravel(image.get_array()), part)
    assert len(display.points_) == 6
    with pytest.raises(ValueError, match="square grid, got 3"):
        SpiralDisplay(Uncertainty(np.ones(3), np.ones(3), np.zeros(3), unit="nats"), spiral)
    with pytest.raises(ValueError, match="two Axes"):
        display.plot(axes(1))


def test_the_scorer_and_the_picture_give_one_calibration_error():
    X = np.random.default_rng(1).normal(size=(400, 2))
    y = X[:, 0] + np.random.default_rng(2).normal(size=400)
    regressor = EpiBoostRegressor(n_members=2, n_estimators=20, n_jobs=1, random_state=0).fit(X[:100], y[:100])
    calibrated = regressor.calibrate(X[100:200], y[100:200])
    for model in (regressor, calibrated):
        display = CalibrationDisplay.from_estimator(model, X[200:], y[200:], ax=axes(1)[0])
        assert scorer("expected_calibration_error")(model, X[200:], y[200:]) == -display.curve.error
        assert display.ax_.get_xlabel() == "coverage asked for"


def test_what_cannot_be_drawn_is_refused_with_a_word():
    with pytest.raises(TypeError, match=r"mapping from names to arrays .*; got list"):
        RejectionDisplay.from_predictions([0, 1, 1], [0, 1, 0], [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="oracle are drawn anyway"):
        RejectionDisplay.from_predictions([0, 1, 1], [0, 1, 0], {"oracle": [0.1, 0.2, 0.3]})
    with pytest.raises(TypeError, match=r"an Uncertainty is needed, .*; got list"):
        UncertaintyDisplay.from_predictions([1, 2, 3])
