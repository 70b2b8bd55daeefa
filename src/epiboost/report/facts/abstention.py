"""Abstention: the error that remains if the model predicts only the rows it is certain about."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AbstentionLevel:
    """Error of the accepted rows at one coverage.

    Attributes
    ----------
    target_coverage : float
        Share of the rows to accept.
    coverage : float
        Share that is accepted; smaller than the target if many rows are equally uncertain.
    threshold : float
        The model abstains if the uncertainty is at least this; infinite if all rows are accepted.
    error : float or None
        Error of the accepted rows; None without targets, or if no row is accepted.
    error_by_chance : float or None
        If as many rows are accepted at random, the error is rarely below this; None where ``error`` is.
    error_bound : float or None
        Upper bound of that error with 95 % confidence; None for a regressor.
    """

    target_coverage: float
    coverage: float
    threshold: float
    error: float | None
    error_by_chance: float | None
    error_bound: float | None
