"""Published figures on the paper's regression datasets; less is better in all of them.

A figure is a mean over the splits of its protocol. Likelihoods are negative and in nats.
"""

from collections.abc import Mapping
from dataclasses import dataclass

Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Published:
    """Figures of one method or, where several are compared, of the best of them.

    Attributes
    ----------
    method : str
        Name of the method, the head of its column.
    measure : str
        What was measured: "rmse", "nll" or "crps".
    figures : dict of float
        One figure per dataset.
    """

    method: str
    measure: str
    figures: Figures


IBUG_SOURCE = (
    "Brophy and Lowd, jjbrophy47/ibug@e1960cd, extended_results: the best of NGBoost, PGBM and IBUG, all tuned and "
    "rescaled on a validation part"
)
IBUG = (
    Published(
        "best of three",
        "crps",
        {"concrete": 1.895, "energy": 0.155, "kin8nm": 0.060, "power": 1.528, "protein": 1.692, "yacht": 0.240},
    ),
    Published(
        "best of three",
        "nll",
        {"concrete": 2.730, "energy": 0.481, "kin8nm": -0.753, "power": 2.520, "protein": 2.598, "yacht": 0.175},
    ),
    Published(
        "best of three",
        "rmse",
        {"concrete": 3.73, "energy": 0.306, "kin8nm": 0.103, "power": 2.95, "protein": 3.42, "yacht": 0.695},
    ),
)

DROPOUT_SOURCE = "Gal and Ghahramani, yaringal/DropoutUncertaintyExps: MC dropout, tuned, one hidden layer"
DROPOUT = (
    Published(
        "MC dropout",
        "rmse",
        {
            "boston": 2.90, "concrete": 4.83, "energy": 0.539, "kin8nm": 0.0789, "naval": 0.00074, "power": 4.01,
            "protein": 4.27, "wine": 0.622, "yacht": 0.666,
        },
    ),
    Published(
        "MC dropout",
        "nll",
        {
            "boston": 2.40, "concrete": 2.94, "energy": 1.21, "kin8nm": -1.136, "naval": -4.45, "power": 2.81,
            "protein": 2.87, "wine": 0.928, "yacht": 1.25,
        },
    ),
)  # fmt: skip

FLOWS_SOURCE = (
    "TreeFlow and PGBM: pfilo8/TreeFlow@7663fed; XGBDistribution: CDonnerer/xgboost-distribution@4218947, "
    "docs/experiments.rst, on ten folds instead of the standard splits"
)
FLOWS = (
    Published(
        "TreeFlow",
        "nll",
        {
            "concrete": 3.02, "energy": 0.85, "kin8nm": -1.03, "naval": -5.54, "power": 2.65, "protein": 2.02,
            "yacht": 0.72,
        },
    ),
    Published(
        "PGBM",
        "nll",
        {
            "concrete": 2.75, "energy": 1.74, "kin8nm": -0.54, "naval": -3.44, "power": 2.60, "protein": 2.79,
            "yacht": 0.05,
        },
    ),
    Published(
        "XGBDistribution",
        "nll",
        {"concrete": 3.14, "energy": 0.58, "naval": -5.11, "power": 2.77, "protein": 2.81, "yacht": 0.89},
    ),
)  # fmt: skip

GAPS_SOURCE = "nnuncert/nnuncert@5480296, results/uci: deep ensembles (PNN-E)"
GAP_PROTOCOLS = {"random": "standard", "gap": "gap", "tail": "tail"}
GAPS = (
    Published("random", "nll", {"boston": 2.50, "concrete": 2.96, "kin8nm": -1.22, "power": 2.82}),
    Published("gap", "nll", {"boston": 2.69, "concrete": 3.36, "kin8nm": -1.21, "power": 2.87}),
    Published("tail", "nll", {"boston": 4.33, "concrete": 3.69, "kin8nm": -1.05, "power": 3.05}),
)
