"""
Calibrated intervals that hold what they say
============================================

A model of a small noisy table is too sure of itself. A few hundred rows that it has not seen set that right, and come
with a guarantee: the intervals hold a new target as often as they say, on average over rows and calibration tables.
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
# The points of the model fall below the diagonal, the calibrated ones follow it. In figures:

for name, intervals in (("model", model.predict_interval(X_new)), ("calibrated", calibrated.predict_interval(X_new))):
    coverage, width = interval_coverage_score(y_new, intervals), interval_width(intervals)
    print(f"{name:10} asked for 90 %, holds {coverage:.1%}, mean width {width:.2f}")

# %%
# The intervals are not all of one width: they are wide where there is noise. Here is the width along the column that
# the noise depends on.

lower, upper = calibrated.predict_interval(X_new).T
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(X_new[:, 1], upper - lower, ".", markersize=3, label="predicted")
grid = np.linspace(-3, 3, 101)
ax.plot(grid, 2 * 1.645 * (0.25 + np.abs(grid)), "k--", label="true")
ax.set(xlabel="second column", ylabel="width of the 90 % interval")
ax.legend(frameon=False)
