"""
A drift alarm without labels
============================

A deployed model predicts the power of a pump from its sensors, 100 rows per day. From day 13 on, the pressure sensor
reads a little more every day. Two alarms notice it without labels and name the column: a test of each day, and a
monitor of the whole stream.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from epiboost import EpiBoostRegressor
from epiboost.decisions import DomainDetector
from epiboost.plots import DriftDisplay

rng = np.random.default_rng(0)


def measure(n_rows: int) -> tuple[pd.DataFrame, pd.Series]:
    """Return readings of the sensors, and the power of the pump."""
    speed, valve = rng.uniform(20, 50, n_rows), rng.choice(["open", "half", "shut"], n_rows, p=[0.6, 0.3, 0.1])
    flow = 0.02 * speed * np.select([valve == "open", valve == "half"], [1.0, 0.6], 0.1) + rng.normal(0, 0.05, n_rows)
    X = pd.DataFrame(
        {
            "speed": speed,
            "valve": valve,
            "pressure": 4.0 - 2.0 * flow + rng.normal(0, 0.3, n_rows),
            "temperature": rng.normal(60, 5, n_rows),
            "vibration": rng.gamma(4.0, 0.5, n_rows),
        }
    )
    return X, 3.0 * flow * X["pressure"] + rng.normal(0, 0.3, n_rows)


model = EpiBoostRegressor(n_estimators=200, learning_rate=0.1, random_state=0).fit(*measure(3000))

# %%
# The model keeps training rows, so the test of a batch needs no other rows. It compares each column, and the novelty of
# rows. The smallest possible p-value is 0.001; at this level there is one false alarm in a thousand days.

detector = DomainDetector(model).fit()
days, level = np.arange(1, 25), 0.001
batches = [measure(100)[0] for _ in days]
for day in range(13, 25):
    batches[day - 1]["pressure"] += 0.04 * (day - 12)

tests = [detector.drift(batch) for batch in batches]
first = next(day for day, test in zip(days, tests, strict=True) if test.p_value <= level)
alarm = tests[first - 1]
print(f"the test raises an alarm on day {first}: {alarm.columns[0].name} moved")

# %%
# A test per day forgets the days before, and raises a false alarm sooner or later. A monitor collects evidence over the
# whole stream, and raises a false alarm with a probability of at most 0.01, however long it runs. It compares with rows
# that the model was not trained on.

monitor = DomainDetector(model).fit(measure(1000)[0]).monitor(false_alarm_rate=0.01)
states = [monitor.update(batch) for batch in batches]
raised = next(day for day, state in zip(days, states, strict=True) if state.raised)
print(f"the monitor raises an alarm on day {raised}: {states[raised - 1].columns[0].name} moved")

# %%
# The sensor starts to drift at the grey line; dashed lines are the levels of the alarms. On the right are the columns
# on the day of the first alarm.

figure, axes = plt.subplot_mosaic(
    [["test", "columns"], ["monitor", "columns"]], figsize=(10, 5), layout="constrained", width_ratios=[3, 2]
)
axes["test"].semilogy(days, [test.p_value for test in tests], "o-")
axes["test"].axhline(level, color="black", linestyle="--", linewidth=1)
axes["test"].set_ylabel("p-value of the day")
axes["monitor"].semilogy(days, [state.evidence for state in states], "s-", color="C1")
axes["monitor"].axhline(states[0].threshold, color="black", linestyle="--", linewidth=1)
axes["monitor"].set(xlabel="day", ylabel="evidence of the stream")
for panel in (axes["test"], axes["monitor"]):
    panel.axvline(12.5, color="grey", linewidth=1)
DriftDisplay.from_test(alarm, ax=axes["columns"])
