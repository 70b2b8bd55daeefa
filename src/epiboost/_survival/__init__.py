"""Censored durations: Kaplan-Meier curves and concordance."""
