"""Maps: heat maps over a grid, the heart and the spiral."""

import numpy as np
import pytest
from matplotlib import colors

from epiboost import EpiBoostClassifier, Uncertainty
from epiboost.datasets import make_heart, make_spiral, spiral_features
from epiboost.plots import HeartDisplay, HeatMap, MapDisplay, SpiralDisplay, border_segments, spiral_grid

GRID = np.arange(6.0).reshape(2, 3)


def test_each_heat_map_has_its_axes_with_title_labels_and_colour_bar(axes):
    given = axes(2)
    display = MapDisplay([HeatMap("one", GRID), HeatMap("two", 2 * GRID)], x_label="across", y_label="down")
    assert display.plot(given) is display
    assert (display.axes_, display.figure_) == (given, given[0].figure)
    assert [ax.get_title() for ax in given] == ["one", "two"]
    assert {(ax.get_xlabel(), ax.get_ylabel()) for ax in given} == {("across", "down")}
    assert [image.get_array().tolist() for image in display.images_] == [GRID.tolist(), (2 * GRID).tolist()]
    assert [bar.ax.get_ylabel() for bar in display.colorbars_] == ["variance", "variance"]
    assert display.outlines_ == []


def test_one_heat_map_takes_one_axes(ax):
    assert MapDisplay([HeatMap("one", GRID)]).plot(ax).axes_ == [ax]


def test_limits_set_the_colours_and_the_colour_bar_shows_what_exceeds_them(axes):
    display = MapDisplay([HeatMap("one", GRID, (0.0, 4.0)), HeatMap("two", GRID)]).plot(axes(2))
    assert display.images_[0].get_clim() == (0.0, 4.0)
    assert [bar.extend for bar in display.colorbars_] == ["max", "neither"]


def test_cells_without_a_value_have_a_colour_of_their_own(ax):
    (image,) = MapDisplay([HeatMap("one", np.array([[np.nan, 1.0, 2.0]]))]).plot(ax).images_
    drawn = image.to_rgba(image.get_array())[0, 0]
    assert drawn == pytest.approx(colors.to_rgba("#f2f2f2"), abs=1e-3)


def test_the_outline_follows_the_border_of_the_mask(ax):
    (outline,) = MapDisplay([HeatMap("one", GRID)], outline=GRID > 2).plot(ax).outlines_
    assert outline.get_path().get_extents().bounds == pytest.approx((-0.5, 0.5, 3.0, 1.0))
    assert outline in ax.patches


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


def test_too_few_axes_are_refused(ax):
    with pytest.raises(ValueError, match=r"ax must hold 2 Axes, one per panel \(one, two\), got 1"):
        MapDisplay([HeatMap("one", GRID), HeatMap("two", GRID)]).plot(ax)


def test_the_heart_has_one_scale_for_true_and_estimated_noise(axes):
    heart = make_heart(n_per_cell=2, random_state=0)
    total, part = np.arange(81.0) / 40, np.arange(81.0) / 80
    display = HeartDisplay.from_predictions(Uncertainty(total, part, part, unit="variance"), heart, ax=axes(3))
    assert [image.get_clim()[1] for image in display.images_] == pytest.approx([1.0, 1.0, 1.0])
    np.testing.assert_array_equal(display.images_[2].get_array(), part.reshape(9, 9))
    assert len(display.outlines_) == 3


class TestSpiral:
    def test_the_maps_are_predictions_over_the_plane(self, axes):
        spiral = make_spiral(90, random_state=0)
        model = EpiBoostClassifier(n_members=2, n_estimators=10, n_jobs=1, random_state=0).fit(spiral.X, spiral.y)
        display = SpiralDisplay.from_estimator(model, spiral, resolution=8, reach=1.2, ax=axes(2))
        expected = model.predict_uncertainty(spiral_features(spiral_grid(8, 1.2)))
        for image, part in zip(display.images_, (expected.data, expected.knowledge), strict=True):
            np.testing.assert_array_equal(np.ravel(image.get_array()), part)
        assert len(display.points_) == 6

    def test_grids_that_are_not_square_and_too_few_axes_are_refused(self, ax):
        spiral = make_spiral(90, random_state=0)
        with pytest.raises(ValueError, match="square grid, got 3"):
            SpiralDisplay(Uncertainty(np.ones(3), np.ones(3), np.zeros(3), unit="nats"), spiral)
        with pytest.raises(
            ValueError, match=r"2 Axes, one per panel \(Data uncertainty, Knowledge uncertainty\), got 1"
        ):
            SpiralDisplay(Uncertainty(np.ones(4), np.ones(4), np.zeros(4), unit="nats"), spiral).plot(ax)
