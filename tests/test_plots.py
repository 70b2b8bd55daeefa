"""Displays hold their data, draw it where they are told, and keep what they drew."""

import numpy as np
import pytest
from matplotlib import colors
from matplotlib.figure import Figure

from epiboost.plots import HeatMap, UncertaintyDisplay, border_segments

GRID = np.arange(6.0).reshape(2, 3)


def axes(count):
    return list(np.ravel(Figure().subplots(1, count)))


def test_each_heat_map_is_drawn_on_its_axes_with_title_labels_and_scale():
    places = axes(2)
    display = UncertaintyDisplay([HeatMap("one", GRID), HeatMap("two", 2 * GRID)], x_label="across", y_label="down")
    assert display.plot(places) is display
    assert display.axes_ == places
    assert [place.get_title() for place in places] == ["one", "two"]
    assert {(place.get_xlabel(), place.get_ylabel()) for place in places} == {("across", "down")}
    assert [image.get_array().tolist() for image in display.images_] == [GRID.tolist(), (2 * GRID).tolist()]
    assert [bar.ax.get_ylabel() for bar in display.colorbars_] == ["variance", "variance"]
    assert display.outlines_ == []


def test_one_heat_map_takes_one_axes():
    (place,) = axes(1)
    assert UncertaintyDisplay([HeatMap("one", GRID)]).plot(place).axes_ == [place]


def test_limits_set_the_colours_and_the_scale_shows_what_exceeds_them():
    display = UncertaintyDisplay([HeatMap("one", GRID, (0.0, 4.0)), HeatMap("two", GRID)]).plot(axes(2))
    assert display.images_[0].get_clim() == (0.0, 4.0)
    assert [bar.extend for bar in display.colorbars_] == ["max", "neither"]


def test_cells_without_a_value_get_the_colour_of_no_value():
    display = UncertaintyDisplay([HeatMap("one", np.array([[np.nan, 1.0, 2.0]]))]).plot(axes(1))
    (image,) = display.images_
    drawn = image.to_rgba(image.get_array())[0, 0]
    assert drawn == pytest.approx(colors.to_rgba("#f2f2f2"), abs=1e-3)


def test_the_outline_follows_the_border_of_the_mask():
    mask = GRID > 2
    display = UncertaintyDisplay([HeatMap("one", GRID)], outline=mask).plot(axes(1))
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
        UncertaintyDisplay([HeatMap("one", GRID)], outline=np.zeros((3, 2), dtype=bool))


def test_too_few_axes_are_refused():
    with pytest.raises(ValueError, match="one Axes a heat map: 2, got 1"):
        UncertaintyDisplay([HeatMap("one", GRID), HeatMap("two", GRID)]).plot(axes(1))
