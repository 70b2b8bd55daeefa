"""Gradient boosting that knows what it does not know."""

from epiboost.calibrated import CalibratedClassifier, CalibratedRegressor
from epiboost.classifier import EpiBoostClassifier
from epiboost.fitted import posterior_from
from epiboost.persistence import ModelFileError
from epiboost.posterior import Posterior
from epiboost.regressor import EpiBoostRegressor
from epiboost.uncertainty import Uncertainty

__all__ = [
    "CalibratedClassifier",
    "CalibratedRegressor",
    "EpiBoostClassifier",
    "EpiBoostRegressor",
    "ModelFileError",
    "Posterior",
    "Uncertainty",
    "posterior_from",
]
