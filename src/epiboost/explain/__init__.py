"""Explanation of uncertainty: Shapley values of each feature.

- `attribute` explains the predictions of a fitted model for rows of a table, and returns an `Attribution`.
- `Attribution` holds what each feature adds to each row, with names as in `shap.Explanation`.
- `Explained` is the type of ``measure``, which says what is explained: ``"knowledge"``, ``"data"`` or ``"total"``
  uncertainty, or ``"mean"``, the prediction itself.

It needs the extra ``explain``.
"""

from epiboost.explain.attribution import Attribution
from epiboost.explain.explainer import attribute
from epiboost.explain.game import Explained

__all__ = ["Attribution", "Explained", "attribute"]
