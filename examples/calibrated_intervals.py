"""
Calibrated intervals with guaranteed coverage
=============================================

A model that was trained on a small noisy table is overconfident. A few hundred calibration rows correct that, with a
guarantee: on average over rows and calibration tables, the intervals cover new targets at least as often as they claim.
"""

import matplotlib.pyplot as plt
import numpy as np

from epiboost import EpiBoostRegressor
from epiboost.metrics import interval_coverage_score, interval_width
from epiboost.plots import CalibrationDisplay

rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 10))
y = X[:, 0] + (0.25 + np.abs(X[:, 1])) * rng.normal(size=len(X))  # the noise depends on the second column
model = EpiBoostRegressor(n_members=5, random_state=0).fit(X[:1000], y[:1000])
calibrated = model.calibrate(X[1000:1500], y[1000:1500])
X_new, y_new = X[1500:], y[1500:]

figure, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
CalibrationDisplay.from_estimator(model, X_new, y_new, ax=ax)
CalibrationDisplay.from_estimator(calibrated, X_new, y_new, ax=ax, name="calibrated", color="C1", marker="^")

# %%
# The curve of the model is below the diagonal, that of the calibrated model follows it. Coverage and width of 90 %
# intervals:

for name, intervals in (("model", model.predict_interval(X_new)), ("calibrated", calibrated.predict_interval(X_new))):
    coverage, width = interval_coverage_score(y_new, intervals), interval_width(intervals)
    print(f"{name:10} nominal coverage 90 %, observed {coverage:.1%}, mean width {width:.2f}")

# %%
# The intervals are wider where there is more noise: their width against the column that the noise depends on.

lower, upper = calibrated.predict_interval(X_new).T
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(X_new[:, 1], upper - lower, ".", markersize=3, label="predicted")
grid = np.linspace(-3, 3, 101)
ax.plot(grid, 2 * 1.645 * (0.25 + np.abs(grid)), "k--", label="true")
ax.set(xlabel="second column", ylabel="width of the 90 % interval")
ax.legend(frameon=False)
