"""Small models with out-of-fold chains."""

import numpy as np

from tests.support.models import small_estimator
from tests.support.tables import regression_table, target_for

SIZE = {"n_members": 5, "n_estimators": 20, "max_depth": 3, "learning_rate": 0.2}
N = 200
X, Y = regression_table(N, noise=0.5)
ATTRIBUTES = ("oof_prediction_", "oof_score_", "oof_loss_")


def model_of(task, **changes):
    """Return a model with five members, for which out-of-fold chains are trained, that is not fitted."""
    return small_estimator(task, **{**SIZE, **changes})


def fitted(task, **changes):
    """Return such a model of the table above."""
    return model_of(task, **changes).fit(X, target_for(task, Y))


def is_predicted(model):
    """Return which of the training rows have an out-of-fold prediction."""
    predicted = model.oof_prediction_
    return np.isfinite(predicted) if predicted.ndim == 1 else np.isfinite(predicted).all(axis=1)
