"""Quantile binning of numbers, and the canonical order of rows."""
