"""Displays of attributions: many rows, and one row."""

import numpy as np
import pytest

from epiboost.explain import Attribution, attribute
from epiboost.plots import AttributionDisplay, RowAttributionDisplay


def attribution(values, names, data, **options):
    values = np.asarray(values)
    return Attribution(values, np.ones(len(values)), np.asarray(data), names, **options)


def tick_labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_the_summary_draws_the_most_important_features_with_one_point_per_row(ax):
    data = np.array([[1.0, "a", 5], [2.0, "b", None]], dtype=object)
    names = ("small", "large $x$", "none")
    found = attribution([[0.1, -0.9, 0.0], [0.2, 0.3, 0.0]], names, data, measure="total", unit="variance")
    display = AttributionDisplay(found, max_features=2).plot(ax)
    assert tick_labels(ax) == [r"large \$x\$", "small"]
    np.testing.assert_allclose(np.sort(display.points_[0].get_offsets()[:, 0]), [-0.9, 0.3])
    assert ax.get_xlabel() == "added to total uncertainty (variance)"
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["low value of the feature", "high value", "category"]
    assert len(display.points_[0].get_facecolors()) == 1  # categories have no order
    assert len(display.points_[1].get_facecolors()) == 2


def test_the_bars_of_a_row_lead_from_the_base_value_to_its_measure(ax):
    values = [[9.0, 9.0, 9.0, 9.0], [0.1, -0.9, 0.5, 0.2]]
    data = [[0.0] * 4, [1.25, 2.0, 3.0, np.nan]]
    options = {"measure": "mean", "unit": "probability", "label": "yes"}
    display = RowAttributionDisplay(attribution(values, ("a", "b", "c", "d"), data, **options), 1, max_features=2)
    display.plot(ax)
    assert tick_labels(ax) == ["b = 2", "c = 3", "2 others"]
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in display.bars_]
    np.testing.assert_allclose(bars, [(1.0, 0.1), (0.1, 0.6), (0.6, 0.9)])
    assert ax.get_xlabel() == "probability of yes"
    low, high = sorted(ax.get_xlim())
    assert low < 0.1
    assert high > 1.0


def test_values_that_cancel_each_other_are_noted_below_the_axis(axes):
    options = {"names": ("a", "b"), "data": [[1.0, 2.0]], "unit": "log-odds", "label": "yes"}
    for display, ax in zip((AttributionDisplay, RowAttributionDisplay), axes(2), strict=True):
        display(attribution([[9.0, -8.9]], measure="score", **options)).plot(ax)
        assert ax.get_xlabel().endswith("log-odds of yes\nvalues cancel each other: see cancellation")


def test_displays_from_an_estimator_hold_its_attribution(models, axes):
    pytest.importorskip("shap", reason="explaining needs shap")
    X, model = models["X"], models["regressor"]
    first, second = axes(2)
    summary = AttributionDisplay.from_estimator(model, X[:9], background=X[:20], ax=first)
    np.testing.assert_allclose(summary.attribution.values, attribute(model, X[:9], background=X[:20]).values)
    row = RowAttributionDisplay.from_estimator(model, X[:9], 3, measure="data", background=X[:20], ax=second)
    assert (row.attribution.measure, row.row) == ("data", 3)


def test_what_cannot_be_drawn_is_refused():
    found = attribution(np.ones((9, 1)), ("a",), np.zeros((9, 1)), measure="data", unit="nats")
    with pytest.raises(TypeError, match="an Attribution is needed"):
        AttributionDisplay(np.ones((9, 1)))
    with pytest.raises(ValueError, match="no rows to draw"):
        AttributionDisplay(attribution(np.ones((0, 1)), ("a",), np.zeros((0, 1)), measure="data", unit="nats"))
    for row in (9, "a"):
        with pytest.raises(ValueError, match="row must be the position of one of the 9 explained rows"):
            RowAttributionDisplay(found, row)
    with pytest.raises(ValueError, match="max_features must be an integer of at least 1; got 0"):
        AttributionDisplay(found, max_features=0)
