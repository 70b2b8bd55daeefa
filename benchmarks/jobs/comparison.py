"""Comparison of our times with CatBoost's."""

from clock import Times
from results import Result


def compared_with_catboost(
    job: int,
    what: str,
    times: Times,
    *,
    peer_name: str,
    bar: float | None = None,
    aim: float | None = None,
    unit: str = "s",
) -> Result:
    """Return the line of our times beside CatBoost's, which are empty if it is not installed."""
    peer = times.get("CatBoost", ())
    return Result(job=job, what=what, peer_name=peer_name, ours=times["ours"], peer=peer, bar=bar, aim=aim, unit=unit)
