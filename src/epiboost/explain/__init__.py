"""Explanation of uncertainty: Shapley values of each feature."""

from epiboost.explain.attribution import Attribution
from epiboost.explain.explainer import attribute
from epiboost.explain.game import Explained

__all__ = ["Attribution", "Explained", "attribute"]
