"""Regression of several targets."""

from epiboost._estimators.multi_target.regressor import MultiTargetRegressor

__all__ = ["MultiTargetRegressor"]
