"""The published results, read from ``published.csv``."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Published:
    """A published result.

    Attributes
    ----------
    value : float
    spread : float or None
        Standard deviation over folds, if the paper gives it.
    decimals : int
        Number of decimals that the paper prints.
    highlighted : bool
        Whether the paper marks it as not significantly worse than the best.
    """

    value: float
    spread: float | None
    decimals: int
    highlighted: bool


@cache
def published() -> dict[tuple[str, str, str, str], Published]:
    """Return the published results by table, dataset, metric and method.

    Metric and measure of uncertainty are joined, as in ``"prr_total"``.

    >>> published()["prediction", "energy", "nll", "sglb_ensemble"].value
    1.52
    >>> published()["comparison", "energy", "nll", "ngboost"].spread
    0.45
    """
    text = resources.files("epiboost.paper.tables").joinpath("published.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        metric = f"{row['metric']}_{row['measure']}" if row["measure"] else row["metric"]
        found[row["table"], row["dataset"], metric, row["method"]] = Published(
            value=float(row["value"]),
            spread=float(row["spread"]) if row["spread"] else None,
            decimals=len(row["value"].partition(".")[2]),
            highlighted=row["highlighted"] == "1",
        )
    return found


def published_spread(dataset: str, metric: str) -> float | None:
    """Return the published standard deviation over folds; the paper gives it for its single SGB model only."""
    found = published().get(("comparison", dataset, metric, "catboost_sgb"))
    return None if found is None else found.spread
