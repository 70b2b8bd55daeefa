"""
LightGBM: uncertainty of a trained model, and an ensemble
=========================================================

Two ways to get uncertainty from LightGBM: use the stages of a trained model as members, or train an ensemble whose
engine is LightGBM.
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
# **A trained model.** Its stages are the members. It was trained without Langevin noise, so the stages differ only by
# the progress of training. `posterior_from` warns of that: on this table the stages do not detect the heart.

trained = lightgbm.LGBMRegressor(n_estimators=200, n_jobs=2, verbose=-1).fit(heart.X, heart.y)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    posterior = posterior_from(trained, heart.cells.X, n_members=10)
print(caught[-1].message)
knowledge = posterior.uncertainty().knowledge  # the model predicts a mean only, so it has no data uncertainty
print(f"stages of the trained model: AUC {ood_auc_score(inside, knowledge):.3f}")

# %%
# **An ensemble.** The same trees with Langevin noise, three independent chains, mean and variance. LightGBM's own
# options are passed in `engine_params`. The variance guard, which prevents overfitting of the variance on small tables,
# is off: with 150 rows per cell it is not needed, and at this learning rate it would double the estimated noise.

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
# Data uncertainty, which the trained model does not have, can be compared with the true noise.

truth = heart.cells.data_uncertainty.ravel()[~inside]
print(f"median of estimate / truth: {np.median(uncertainty.data[~inside] / truth):.2f}")
