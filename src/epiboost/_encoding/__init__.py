"""Encoding of categories as numbers: target statistics, feature crosses, and lookup at prediction."""
