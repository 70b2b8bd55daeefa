"""Explanation of uncertainties and predictions: Shapley values of each feature.

- `attribute` explains the predictions of a fitted model for rows of a table, and returns an `Attribution`.
- `Attribution` holds what each feature adds to each row, with names as in `shap.Explanation`.
- `Explained` is the type of ``measure``, which says what is explained: ``"knowledge"``, ``"data"`` or ``"total"``
  uncertainty, ``"mean"``, the prediction itself, or ``"score"``, the raw score of a class.
- `Groups` is the type of ``groups``, features that are explained together.

It needs the extra ``explain``, except for exact values of predictions and scores.
"""

from epiboost.explain.attribution import Attribution
from epiboost.explain.explainer import attribute
from epiboost.explain.game import Explained
from epiboost.explain.players import Groups

__all__ = ["Attribution", "Explained", "Groups", "attribute"]
