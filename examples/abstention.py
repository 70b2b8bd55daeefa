"""
Abstention: at most so many errors among the cases that are kept
================================================================

Who earns more than 50,000 dollars a year? A model answers, and where it is not sure enough a person does. The line is
drawn on rows of their own, so that the share of errors among the answers that are kept has a bound that holds with 95
% confidence.

The table is adult, from the folder that ``EPIBOOST_DATA`` names (``adult/adult.data``). Where there is none, a
stand-in with columns of the same kinds is generated; the figures are then those of the stand-in.
"""

import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from epiboost import EpiBoostClassifier
from epiboost.decisions import Abstainer, TargetNotMetWarning


def adult() -> tuple[pd.DataFrame, pd.Series]:
    """Read the table of incomes."""
    file = Path(os.environ["EPIBOOST_DATA"]) / "adult" / "adult.data"
    table = pd.read_csv(file, skipinitialspace=True, na_values="?")
    return table.iloc[:, :-1], table.iloc[:, -1].str.strip(" .") == ">50K"


def stand_in(n: int = 12_000) -> tuple[pd.DataFrame, pd.Series]:
    """Draw a table of the same kinds of columns: numbers, few and many categories, missing values."""
    rng = np.random.default_rng(0)
    jobs = np.array([f"job {i}" for i in range(12)])
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "hours": rng.normal(40, 10, n).clip(5, 90).round(),
            "education": rng.integers(1, 17, n),
            "married": rng.choice(["yes", "no"], n),
            "job": rng.choice(jobs, n),
        }
    )
    pay = rng.normal(size=len(jobs))[np.searchsorted(np.sort(jobs), table["job"])]
    score = 0.45 * (table["education"] - 11) + 0.06 * (table["hours"] - 40) + 1.6 * (table["married"] == "yes") + pay
    rich = score - 0.002 * (table["age"] - 50) ** 2 + rng.logistic(size=n) > 1.5
    table["job"] = table["job"].where(rng.uniform(size=n) > 0.05)
    return table, rich


at_hand = (Path(os.environ.get("EPIBOOST_DATA", "nowhere")) / "adult" / "adult.data").exists()
table, rich = adult() if at_hand else stand_in()
print("adult" if at_hand else "a generated stand-in", table.shape, f"{rich.mean():.0%} rich")

# %%
# A third of the rows trains, a third draws the line, the last third is the future.

order = np.random.default_rng(1).permutation(len(table))[:12_000]
train, judge, later = np.array_split(order, 3)
model = EpiBoostClassifier(n_members=5, n_estimators=150, random_state=0).fit(table.iloc[train], rich.iloc[train])
wrong = model.predict(table.iloc[later]) != rich.iloc[later]
print(f"without abstention {wrong.mean():.1%} are wrong")

# %%
# Ask for an error, and see which share of the cases the model may keep.

asked, kept_share, error = [0.12, 0.10, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02], [], []
for max_error in asked:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TargetNotMetWarning)  # then every case is handed over, and the picture shows it
        abstainer = Abstainer(model, max_error=max_error).fit(table.iloc[judge], rich.iloc[judge])
    prediction, kept = abstainer.predict(table.iloc[later])
    kept_share.append(kept.mean())
    error.append((prediction[kept] != rich.iloc[later][kept]).mean() if kept.any() else 0.0)
    print(f"at most {max_error:.0%} wrong: keeps {kept.mean():.0%} of later rows, {error[-1]:.1%} of them wrong")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(asked, error, "o-", label="observed on later rows")
left.plot(asked, asked, "k--", linewidth=1, label="asked for")
left.set(xlabel="error asked for", ylabel="error of what is kept", ylim=(0, None))
left.legend(frameon=False)
right.plot(asked, kept_share, "s-", color="C1")
right.set(xlabel="error asked for", ylabel="share of rows kept", ylim=(0, 1.02))
