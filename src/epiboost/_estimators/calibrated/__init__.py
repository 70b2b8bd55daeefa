"""Calibrated models: what `calibrate` returns. Intervals and sets of classes that hold the truth as often as they say.

The calibration rows are split at random. About a quarter of them say how the model's uncertainties are to be scaled;
the rest guarantee, by split-conformal prediction, that a new row from the same source is covered at least as often as
asked for, whatever the model and the distribution. The guarantee is an average over rows and over calibration tables.
"""

from epiboost._estimators.calibrated.classifier import CalibratedClassifier
from epiboost._estimators.calibrated.regressor import CalibratedRegressor

__all__ = ["CalibratedClassifier", "CalibratedRegressor"]
