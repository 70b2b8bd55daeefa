"""Losses of a training by number of trees."""

import numpy as np
import pytest

from epiboost import EpiBoostRegressor
from epiboost._estimators.training.history import TrainingHistory
from epiboost.plots import LearningCurveDisplay

LOSSES = np.array([3.0, 2.0, 2.5])
TREES = np.array([10, 20, 30])


def test_the_loss_of_the_ensemble_and_the_trees_in_use_are_drawn(ax):
    members = np.array([[3.5, 3.0], [3.4, 2.9]])
    display = LearningCurveDisplay(TrainingHistory(TREES, LOSSES, None, "eval_set", 20), members=members).plot(ax)
    np.testing.assert_array_equal(display.lines_["validation"].get_data(), [TREES, LOSSES])
    assert display.lines_["used"].get_xdata()[0] == 20
    assert [line.get_ydata().tolist() for line in ax.get_lines()[:2]] == members.tolist()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["members", "ensemble", "trees in use"]


def test_the_out_of_fold_loss_has_an_axis_of_its_own_beside_another_loss(ax):
    both = LearningCurveDisplay(TrainingHistory(TREES, LOSSES, 9 * LOSSES, "out_of_fold", 30)).plot(ax)
    assert both.lines_["out_of_fold"].axes is not ax
    alone = LearningCurveDisplay(TrainingHistory(TREES, None, LOSSES, "out_of_fold", 30)).plot()
    assert alone.lines_["out_of_fold"].axes is alone.ax_


def test_a_model_without_losses_is_refused_with_the_remedy(ax):
    X = np.arange(20.0).reshape(-1, 1)
    model = EpiBoostRegressor(n_members=2, n_estimators=5).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="fit with an eval_set"):
        LearningCurveDisplay.from_estimator(model, ax=ax)
