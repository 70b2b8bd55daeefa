"""Why is the model unsure? Shapley values of its uncertainties, feature by feature."""

from epiboost.explain.attribution import Attribution
from epiboost.explain.game import Explained
from epiboost.explain.shapley import attribute

__all__ = ["Attribution", "Explained", "attribute"]
