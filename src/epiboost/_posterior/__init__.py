"""Posteriors, their decomposition into data and knowledge uncertainty, and conformal calibration."""
