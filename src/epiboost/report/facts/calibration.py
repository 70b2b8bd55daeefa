"""Calibration of probabilities and prediction intervals."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Calibration:
    """Whether predicted probabilities match observed frequencies.

    Attributes
    ----------
    nominal, observed : float
        Mean confidence and share of correct predictions, or nominal and observed coverage of prediction intervals.
    error : float
        Calibration error.
    error_by_chance : float
        The calibration error of a perfectly calibrated model is rarely above this, see `calibration_error_by_chance`.
    gap_by_chance : float
        The difference of ``nominal`` and ``observed`` is rarely above this by chance, see `frequency_by_chance`.
    width : float or None
        Mean width of the prediction intervals; None for a classifier.
    set_size : float or None
        Mean number of classes in the prediction sets of a calibrated classifier; None for other models.
    set_coverage : float or None
        Share of rows whose prediction set contains the true class.
    guaranteed : bool
        Whether the model is calibrated, so that the coverage of its intervals or sets is guaranteed.
    """

    nominal: float
    observed: float
    error: float
    error_by_chance: float
    gap_by_chance: float
    width: float | None
    set_size: float | None
    set_coverage: float | None
    guaranteed: bool
