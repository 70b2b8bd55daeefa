"""Calibrated models, as `calibrate` returns them: prediction intervals and sets with guaranteed coverage.

The calibration rows are split at random (`rows`). About a quarter of them fit the scales of the uncertainties
(`scales`) or the temperature (`temperature`). The others have conformity scores (`scores`), by group if there are
groups (`groups`), and give the guarantee of split-conformal prediction: a new row from the same source is covered with
at least the requested probability, whatever the model and the distribution. The probability is over rows and over
calibration tables.
"""

from epiboost._estimators.calibrated.classifier import CalibratedClassifier
from epiboost._estimators.calibrated.regressor import CalibratedRegressor

__all__ = ["CalibratedClassifier", "CalibratedRegressor"]
