"""The scikit-learn estimators, conformal calibration, calibrated models and their files."""
