"""Bars of the columns of a drift test."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from epiboost.decisions import ColumnDrift, DomainDetector, DriftTest
from epiboost.plots import DriftDisplay
from epiboost.plots.style import GREY, ORANGE

COLUMNS = (
    ColumnDrift("pressure", 0.42, 0.001, 0.001),
    ColumnDrift("price in $", 0.12, 0.05, 0.01),
    ColumnDrift("age", 0.2, 0.051, 0.02),
)
TEST = DriftTest(0.001, 80, COLUMNS, 0.1)


def labels(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def test_bars_are_effects_from_the_strongest_evidence_at_the_top(ax):
    display = DriftDisplay.from_test(TEST, ax=ax)
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    assert [bar.get_width() for bar in display.bars_] == [0.42, 0.12, 0.2]
    heights = ax.transData.transform([(0.0, bar.get_y()) for bar in display.bars_])[:, 1]
    assert heights.tolist() == sorted(heights, reverse=True)
    assert labels(display) == ["pressure", r"price in \$", "age"]


@pytest.mark.parametrize(("alpha", "n_drifted"), [(0.01, 1), (0.05, 2), (0.1, 3)])
def test_columns_that_drifted_differ_in_colour_and_hatch(ax, alpha, n_drifted):
    display = DriftDisplay.from_test(TEST, alpha=alpha, ax=ax)
    expected = [ORANGE] * n_drifted + [GREY] * (3 - n_drifted)
    assert [to_hex(bar.get_facecolor()).upper() for bar in display.bars_] == expected
    assert [bool(bar.get_hatch()) for bar in display.bars_] == [colour == ORANGE for colour in expected]
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [f"drifted (p ≤ {alpha:g})", "no evidence"]
    assert [to_hex(patch.get_facecolor()).upper() for patch in legend.get_patches()] == [ORANGE, GREY]


def test_adjusted_p_values_are_written_beside_the_bars(ax):
    DriftDisplay.from_test(TEST, ax=ax)
    assert [text.get_text() for text in ax.texts] == ["p = 0.001", "p = 0.05", "p = 0.051"]


def test_few_columns_are_drawn_if_asked_for(ax):
    display = DriftDisplay(TEST, max_columns=2).plot(ax)
    assert labels(display) == ["pressure", r"price in \$"]


def test_a_batch_without_any_difference_is_drawn(ax):
    display = DriftDisplay.from_test(DriftTest(1.0, 5, (ColumnDrift("age", 0.0, 1.0, 1.0),)), ax=ax)
    assert display.ax_.get_xlim() == (0.0, 1.0)


def test_the_test_of_a_detector_is_drawn(models, ax):
    test = DomainDetector(models["regressor"], measure="novelty").fit(models["X"]).drift(models["X"] + [0.0, 3.0])
    display = DriftDisplay.from_test(test, ax=ax)
    assert set(labels(display)) == {"x0", "x1", "(novelty)"}
    assert display.bars_[0].get_width() == test.columns[0].effect


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"max_columns": 0}, "max_columns must be an integer of at least 1; got 0"),
        ({"max_columns": np.nan}, "max_columns must be an integer of at least 1; got nan"),
    ],
)
def test_parameters_that_are_not_allowed_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        DriftDisplay(TEST, **changes)
