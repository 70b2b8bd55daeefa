"""
A drift alarm without labels
============================

A deployed model gets one batch of rows per day. From day 12 on, a growing share of them is out of domain. Knowledge
uncertainty rises, and a test of each batch detects it without labels.
"""

import matplotlib.pyplot as plt
import numpy as np

from epiboost import EpiBoostRegressor
from epiboost.datasets import make_heart
from epiboost.decisions import DomainDetector

heart = make_heart(200, random_state=0)
X_ood = heart.cells.X[heart.cells.inside.ravel()]  # the cells without training rows
model = EpiBoostRegressor(n_estimators=300, learning_rate=0.3, random_state=0).fit(heart.X[:6000], heart.y[:6000])
detector = DomainDetector(model, false_alarm_rate=0.05).fit(heart.X[6000:7500])  # not used for training
X_new = heart.X[7500:]

# %%
# A batch has 100 rows. After day 11, four more of them per day are out of domain. The alarm is raised at a p-value
# below 0.001: without drift, once in a thousand batches.

rng = np.random.default_rng(0)
days, alarm = np.arange(1, 25), 0.001
p_values, shares = [], []
for day in days:
    n_ood = max(0, 4 * (day - 11))
    batch = np.concatenate([rng.choice(X_new, 100 - n_ood), rng.choice(X_ood, n_ood)])
    test = detector.drift(batch)
    p_values.append(test.p_value)
    shares.append(test.share_outside)
first = int(days[np.array(p_values) < alarm][0])
print(f"the alarm is raised on day {first}, when {max(0, 4 * (first - 11))} of 100 rows are out of domain")

# %%
# Single rows are flagged too. The share of flagged rows is about the false alarm rate before the drift, and follows the
# drift afterwards.

figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
top.semilogy(days, np.maximum(p_values, 1e-12), "o-")
top.axhline(alarm, color="black", linestyle="--", linewidth=1)
top.axvline(11.5, color="grey", linewidth=1)
top.set_ylabel("p-value of the batch")
bottom.plot(days, shares, "s-", color="C1", label="flagged")
bottom.plot(days, np.maximum(0, 4 * (days - 11)) / 100, "k:", label="out of domain")
bottom.axvline(11.5, color="grey", linewidth=1)
bottom.set(xlabel="day", ylabel="share of rows")
bottom.legend(frameon=False)
