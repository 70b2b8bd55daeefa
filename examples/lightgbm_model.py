"""
A LightGBM model you have, and an ensemble of LightGBM
======================================================

Two ways to uncertainty with the booster you already use: ask the stages of a model that is trained, or train an
ensemble whose engine is LightGBM.
"""

import warnings

import lightgbm
import numpy as np

from epiboost import EpiBoostRegressor, posterior_from
from epiboost.datasets import make_heart
from epiboost.metrics import ood_auc_score
from epiboost.plots import HeartDisplay

heart = make_heart(150, random_state=0)
inside = heart.cells.inside.ravel()

# %%
# **The model you have.** Its stages serve as members. It was trained without Langevin noise, so they differ by the
# progress of the fit alone. `posterior_from` warns of that, and means it: on this table the stages do not find the
# heart.

trained = lightgbm.LGBMRegressor(n_estimators=200, n_jobs=2, verbose=-1).fit(heart.X, heart.y)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    posterior = posterior_from(trained, heart.cells.X, n_members=10)
print(caught[-1].message)
knowledge = posterior.uncertainty().knowledge  # it predicts a mean alone, so it has no other part
print(f"stages of the trained model: AUC {ood_auc_score(inside, knowledge):.3f}")

# %%
# **An ensemble.** The same trees with Langevin noise, three independent chains, mean and variance. Options of
# LightGBM's own go through `engine_params`. The variance guard, which keeps small tables from learning their noise
# by heart, is off: with 150 rows a cell there is nothing to guard against, and at this learning rate it would call
# the noise twice what it is.

model = EpiBoostRegressor(
    engine="lightgbm",
    engine_params={"min_data_in_leaf": 5},
    n_members=3,
    n_estimators=100,
    learning_rate=0.3,
    variance_guard=0.0,
    random_state=0,
)
model.fit(heart.X, heart.y)
uncertainty = model.predict_uncertainty(heart.cells.X)
print(f"ensemble of LightGBM: AUC {ood_auc_score(inside, uncertainty.knowledge):.3f}")
display = HeartDisplay.from_predictions(uncertainty, heart)

# %%
# Data uncertainty, which the trained model has none of, can be held against the truth.

truth = heart.cells.data_uncertainty.ravel()[~inside]
print(f"median of estimate / truth: {np.median(uncertainty.data[~inside] / truth):.2f}")
