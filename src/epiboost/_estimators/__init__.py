"""The scikit-learn estimators, calibrated models and their files."""
