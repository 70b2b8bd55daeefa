"""Base class of the estimators that decide by the uncertainty of a fitted estimator."""

from typing import Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator

from epiboost._posterior.uncertainty import Measure, Uncertainty
from epiboost._typing import Estimator, Floats, Table


class PredictsUncertainty(Protocol):
    """An object that predicts the uncertainty of rows."""

    def predict_uncertainty(self, X: Table) -> Uncertainty:
        """Return the uncertainty of each row."""


class BaseDecision(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of estimators that are calibrated on top of a fitted estimator.

    ``estimator`` is fitted already; `fit` learns a threshold from other rows and never fits ``estimator`` again.
    """

    estimator: Estimator

    def __sklearn_clone__(self) -> Self:
        """Return a copy that is not fitted and has the same fitted ``estimator``."""
        return type(self)(**self.get_params(deep=False))

    def _copy_column_attributes(self) -> None:
        """Take over ``n_features_in_`` and ``feature_names_in_`` where the estimator has them."""
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)  # of an earlier fit
            if hasattr(self.estimator, name):
                setattr(self, name, getattr(self.estimator, name))


def predict_measure(estimator: PredictsUncertainty, X: Table, measure: Measure) -> Floats:
    """Return one part of the uncertainty of each row, shape (n,); no rows and NaN values are errors."""
    return check_uncertainty(getattr(estimator.predict_uncertainty(X), measure), measure)


def check_uncertainty(values: Floats, measure: str) -> Floats:
    """Return uncertainties of shape (n,); no rows and NaN values are errors."""
    if not len(values):
        message = "X has no rows; at least one is needed"
        raise ValueError(message)
    if np.isnan(values).any():
        message = f"{measure} uncertainty must not be NaN, got {np.count_nonzero(np.isnan(values))} NaN values"
        raise ValueError(message)
    return values
