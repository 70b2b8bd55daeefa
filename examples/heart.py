"""
The heart: data uncertainty and knowledge uncertainty
=====================================================

A table in which both kinds of uncertainty are known. Two features with nine values each make 81 cells. Every cell has a
mean and a noise level of its own, and a heart-shaped region has no training rows. Data uncertainty should match the
noise where there are rows, and knowledge uncertainty should be large where there are none.
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
# The outline is the heart. The left panel is the true noise, which the model does not see; the middle panel is its
# estimate; the right panel is the disagreement of the members. Inside the heart there is nothing to estimate the noise
# from, so the estimate is that of the noisy cells around it; the disagreement is larger by orders of magnitude.

uncertainty = model.predict_uncertainty(heart.cells.X)
inside = heart.cells.inside.ravel()
for measure in ("knowledge", "data"):
    values = getattr(uncertainty, measure)
    ratio = np.median(values[inside]) / np.median(values[~inside])
    print(f"{measure:9} AUC {ood_auc_score(inside, values):.3f}, inside {ratio:.0f} times as large as outside")

# %%
# The AUC is the area under the ROC curve of detecting cells without rows: 1 is perfect, 0.5 is chance. Outside the
# heart the estimate of the noise can be compared with the true noise.

truth = heart.cells.data_uncertainty.ravel()[~inside]
ratio = uncertainty.data[~inside] / truth
print(f"estimate / truth: median {np.median(ratio):.2f}, 90 % of the cells below {np.quantile(ratio, 0.9):.2f}")
