"""
Abstention: a bound on the error rate of accepted predictions
=============================================================

Who earns more than 50,000 dollars per year? A model predicts it; rows that are too uncertain are rejected and left to a
person. The threshold is learned from validation rows, so the error rate of accepted predictions has an upper bound that
holds with 95 % confidence.

The table is adult, ``adult/adult.data`` in the folder ``EPIBOOST_DATA``. If there is no such file, a table with the
same kinds of columns is generated.
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
    """Read the adult table."""
    file = Path(os.environ["EPIBOOST_DATA"]) / "adult" / "adult.data"
    table = pd.read_csv(file, skipinitialspace=True, na_values="?")
    return table.iloc[:, :-1], table.iloc[:, -1].str.strip(" .") == ">50K"


def generated(n: int = 12_000) -> tuple[pd.DataFrame, pd.Series]:
    """Generate a table with the same kinds of columns: numbers, few and many categories, missing values."""
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


available = (Path(os.environ.get("EPIBOOST_DATA", "missing")) / "adult" / "adult.data").exists()
table, rich = adult() if available else generated()
print("adult" if available else "a generated table", table.shape, f"{rich.mean():.0%} rich")

# %%
# A third of the rows is for training, a third for validation and a third for testing.

order = np.random.default_rng(1).permutation(len(table))[:12_000]
train, validation, test = np.array_split(order, 3)
model = EpiBoostClassifier(n_members=5, n_estimators=150, random_state=0).fit(table.iloc[train], rich.iloc[train])
wrong = model.predict(table.iloc[test]) != rich.iloc[test]
print(f"without abstention {wrong.mean():.1%} of the predictions are wrong")

# %%
# The lower the error target, the fewer predictions are accepted.

targets, shares, errors = [0.12, 0.10, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02], [], []
for max_error in targets:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TargetNotMetWarning)  # then every row is rejected, which the plot shows
        abstainer = Abstainer(model, max_error=max_error).fit(table.iloc[validation], rich.iloc[validation])
    accepted = abstainer.accept(table.iloc[test])
    shares.append(accepted.mean())
    errors.append(wrong[accepted].mean() if accepted.any() else 0.0)
    print(f"target {max_error:.0%}: {accepted.mean():.0%} of the test rows accepted, {errors[-1]:.1%} of them wrong")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(targets, errors, "o-", label="observed on test rows")
left.plot(targets, targets, "k--", linewidth=1, label="target")
left.set(xlabel="target error rate", ylabel="error rate of accepted rows", ylim=(0, None))
left.legend(frameon=False)
right.plot(targets, shares, "s-", color="C1")
right.set(xlabel="target error rate", ylabel="share of rows accepted", ylim=(0, 1.02))
