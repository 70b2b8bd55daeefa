"""The posterior of a model, its uncertainty split into data and knowledge, and conformal calibration."""
