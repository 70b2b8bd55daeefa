"""Engines over CatBoost and LightGBM, and what engines over libraries share."""
