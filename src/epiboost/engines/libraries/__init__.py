"""Engines over CatBoost and LightGBM, and the base classes of engines over libraries."""
