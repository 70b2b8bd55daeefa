"""Gradient boosting that knows what it does not know."""

from epiboost._estimators.calibrated import CalibratedClassifier, CalibratedRegressor
from epiboost._estimators.classifier import EpiBoostClassifier
from epiboost._estimators.multi_target import MultiTargetRegressor
from epiboost._estimators.provenance import VERSIONS
from epiboost._estimators.regressor import EpiBoostRegressor
from epiboost._estimators.saving import load
from epiboost._estimators.training.history import TrainingHistory
from epiboost._estimators.training.rounds import TrainingRound
from epiboost._files.model_file import ModelFileError
from epiboost._inputs.numbers_as_text import NumbersAsTextWarning
from epiboost._posterior.fitted import posterior_from
from epiboost._posterior.posterior import Posterior
from epiboost._posterior.target_posteriors import TargetPosteriors
from epiboost._posterior.uncertainty import Uncertainty

__version__ = dict(VERSIONS)["epiboost"]

__all__ = [
    "CalibratedClassifier",
    "CalibratedRegressor",
    "EpiBoostClassifier",
    "EpiBoostRegressor",
    "ModelFileError",
    "MultiTargetRegressor",
    "NumbersAsTextWarning",
    "Posterior",
    "TargetPosteriors",
    "TrainingHistory",
    "TrainingRound",
    "Uncertainty",
    "load",
    "posterior_from",
]
