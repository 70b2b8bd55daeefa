"""The figures that the paper publishes, from the one CSV file that holds them."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Published:
    """A published figure.

    Attributes
    ----------
    value : float
    spread : float or None
        Standard deviation over folds, where the paper gives it.
    decimals : int
        To which it is printed there.
    highlighted : bool
        Whether the paper does not tell it apart from the best.
    """

    value: float
    spread: float | None
    decimals: int
    highlighted: bool


@cache
def published() -> dict[tuple[str, str, str, str], Published]:
    """Return the figures by table, dataset, metric and method.

    A metric of a measure is one word, such as ``"prr_total"``.

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


def spread_of(dataset: str, metric: str) -> float | None:
    """Return the published standard deviation over folds; the paper gives that of its single SGB model alone."""
    figure = published().get(("comparison", dataset, metric, "catboost_sgb"))
    return None if figure is None else figure.spread
