"""
A drift alarm: today's rows are not those the model knows
=========================================================

A model in service gets a batch of rows a day. From day 12 on a growing part of them comes from somewhere it has not
seen. No labels are needed to notice: knowledge uncertainty rises, and a test of the whole batch says so.
"""

import matplotlib.pyplot as plt
import numpy as np

from epiboost import EpiBoostRegressor
from epiboost.datasets import make_heart
from epiboost.decisions import DomainDetector

heart = make_heart(200, random_state=0)
foreign = heart.cells.X[heart.cells.inside.ravel()]  # the cells without rows
model = EpiBoostRegressor(n_estimators=300, learning_rate=0.3, random_state=0).fit(heart.X[:6000], heart.y[:6000])
home, rest = heart.X[6000:7500], heart.X[7500:]
detector = DomainDetector(model, false_alarm_rate=0.05).fit(home)  # rows used for nothing else

# %%
# A batch has 100 rows; after day 11 four more of them a day are foreign. The alarm rings below a p-value of 0.001:
# without drift, once in a thousand batches.

rng = np.random.default_rng(0)
days, alarm = np.arange(1, 25), 0.001
p_values, shares = [], []
for day in days:
    n_foreign = max(0, 4 * (day - 11))
    batch = np.concatenate([rng.choice(rest, 100 - n_foreign), rng.choice(foreign, n_foreign)])
    test = detector.drift(batch)
    p_values.append(test.p_value)
    shares.append(test.share_outside)
first = int(days[np.array(p_values) < alarm][0])
print(f"the alarm rings on day {first}, when {max(0, 4 * (first - 11))} of 100 rows are foreign")

# %%
# Single rows are told apart too. The share that is called foreign is about the rate of false alarms before the drift,
# and follows it afterwards.

figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
top.semilogy(days, np.maximum(p_values, 1e-12), "o-")
top.axhline(alarm, color="black", linestyle="--", linewidth=1)
top.axvline(11.5, color="grey", linewidth=1)
top.set_ylabel("p-value of the batch")
bottom.plot(days, shares, "s-", color="C1", label="called foreign")
bottom.plot(days, np.maximum(0, 4 * (days - 11)) / 100, "k:", label="truly foreign")
bottom.axvline(11.5, color="grey", linewidth=1)
bottom.set(xlabel="day", ylabel="share of rows")
bottom.legend(frameon=False)
