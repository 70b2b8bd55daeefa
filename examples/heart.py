"""
The heart: what noise is, and what ignorance is
===============================================

A table in which both answers are known. Two features with nine values each make 81 cells. Every cell has its own mean
and its own noise, and in a heart-shaped region there are no rows at all. A model that knows what it does not know
finds the noise where there are rows, and its own ignorance where there are none.
"""

import numpy as np

from epiboost import EpiBoostRegressor
from epiboost.datasets import make_heart
from epiboost.metrics import ood_auc_score
from epiboost.plots import HeartDisplay

heart = make_heart(random_state=0)
model = EpiBoostRegressor(n_members=5, n_estimators=300, learning_rate=0.3, random_state=0).fit(heart.X, heart.y)
display = HeartDisplay.from_estimator(model, heart)

# %%
# The outline is the heart. The left panel is the true noise, which the model has not been told; the middle one is its
# estimate; the right one is what its members disagree about. Inside the heart nothing binds the estimate of the
# noise, and it takes after the noisy cells around it; the disagreement is larger there by orders of magnitude.

uncertainty = model.predict_uncertainty(heart.cells.X)
inside = heart.cells.inside.ravel()
for measure in ("knowledge", "data"):
    values = getattr(uncertainty, measure)
    times = np.median(values[inside]) / np.median(values[~inside])
    print(f"{measure:9} AUC {ood_auc_score(inside, values):.3f}, inside {times:.0f} times what it is outside")

# %%
# (The AUC is the area under the ROC curve between cells with and without rows: 1 is perfect, 0.5 is chance.) Outside
# the heart the estimate of the noise can be held against the truth.

truth = heart.cells.data_uncertainty.ravel()[~inside]
ratio = uncertainty.data[~inside] / truth
print(f"estimate / truth: median {np.median(ratio):.2f}, nine in ten cells below {np.quantile(ratio, 0.9):.2f}")
