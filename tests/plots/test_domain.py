"""Histograms and ROC curve of in-domain and out-of-domain rows."""

import numpy as np
import pytest

from epiboost.decisions import DomainDetector
from epiboost.metrics import ood_auc_score
from epiboost.plots import DomainDisplay
from tests.support.models import small_regressor


def test_histograms_and_roc_curve_are_those_of_the_predicted_measure(models, axes):
    X, model = models["X"], models["regressor"]
    given = axes(2)
    display = DomainDisplay.from_estimator(model, X, X_ood=X + 3.0, measure="total", ax=given)
    assert (display.axes_, display.figure_) == (given, given[0].figure)
    scores = [model.predict_uncertainty(rows).total for rows in (X, X + 3.0)]
    assert display.roc_auc == ood_auc_score(np.repeat([False, True], 100), np.concatenate(scores))
    assert display.roc_.get_label() == f"total (AUC {display.roc_auc:.2f})"
    for bars, values in zip(given[0].containers, scores, strict=True):
        edges = [bar.get_x() for bar in bars] + [bars[-1].get_x() + bars[-1].get_width()]
        edges[0], edges[-1] = 0.0, np.inf  # the outermost edges are rounded
        assert [bar.get_height() * 100 for bar in bars] == pytest.approx(np.histogram(values, edges)[0])


@pytest.mark.parametrize(
    ("measure", "label"), [("novelty", "novelty"), ("combined", "novelty and total uncertainty, combined")]
)
def test_scores_of_a_detector_are_drawn_on_a_linear_axis(models, axes, measure, label):
    X, X_ood = models["X"], models["X"] + 3.0
    model = small_regressor(out_of_fold=3).fit(X, models["y"])
    display = DomainDisplay.from_estimator(model, X, X_ood, measure=measure, ax=axes(2))
    detector = DomainDetector(model, measure=measure).fit()
    np.testing.assert_array_equal(display.uncertainty, -detector.score_samples(X))
    np.testing.assert_array_equal(display.uncertainty_ood, -detector.score_samples(X_ood))
    assert display.roc_auc > 0.9
    assert display.roc_.get_label().startswith(f"{measure} (AUC")
    assert (display.axes_[0].get_xlabel(), display.axes_[0].get_xscale()) == (label, "linear")


def test_a_model_that_keeps_no_training_rows_has_no_novelty_to_draw(models):
    model = small_regressor(reference_rows=0).fit(models["X"], models["y"])
    with pytest.raises(ValueError, match="the model must keep training rows"):
        DomainDisplay.from_estimator(model, models["X"], models["X"], measure="novelty")


def test_predictions_are_split_into_both_kinds_of_rows(axes):
    is_out, uncertainty = np.array([True, False, True, False]), np.array([4.0, 1.0, 2.0, 3.0])
    display = DomainDisplay.from_predictions(is_out, uncertainty, ax=axes(2))
    assert display.roc_auc == ood_auc_score(is_out, uncertainty) == 0.75
    assert (display.uncertainty.tolist(), display.uncertainty_ood.tolist()) == ([1.0, 3.0], [4.0, 2.0])


def test_uncertainties_that_are_all_equal_are_drawn(axes):
    for value in (0.0, 2.0):
        assert DomainDisplay.from_predictions([0, 1, 0], [value] * 3, ax=axes(2)).roc_auc == 0.5


def test_an_unknown_measure_is_refused(models):
    with pytest.raises(ValueError, match="measure must be one of"):
        DomainDisplay.from_estimator(models["regressor"], models["X"], models["X"], measure="doubt")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([], [1.0]), "uncertainty is empty"),
        (([1.0], []), "uncertainty_ood is empty"),
        (([1.0], [np.nan]), "uncertainty_ood must be finite"),
    ],
)
def test_arrays_that_are_empty_or_not_finite_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        DomainDisplay(*arguments)


@pytest.mark.parametrize(
    ("is_out", "uncertainty", "words"),
    [
        ([False, False], [1.0, 2.0], "uncertainty_ood is empty"),
        ([False, True], [1.0, np.nan], "uncertainty must be finite"),
        ([0, 2], [1.0, 2.0], "must hold true and false"),
    ],
)
def test_predictions_that_cannot_be_split_are_refused(is_out, uncertainty, words):
    with pytest.raises(ValueError, match=words):
        DomainDisplay.from_predictions(is_out, uncertainty)


def test_too_few_axes_are_refused(ax):
    with pytest.raises(ValueError, match=r"2 Axes, one per panel \(histograms, ROC curve\), got 1"):
        DomainDisplay([1.0], [2.0]).plot(ax)
