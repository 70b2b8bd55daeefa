"""Errors of the training rows that a model keeps, by chains that have not seen them."""

import numpy as np
import numpy.typing as npt

from epiboost._estimators.calibrated.base import BaseCalibrated
from epiboost._estimators.reference_rows import ReferenceRows
from epiboost._posterior.uncertainty import Measure
from epiboost._typing import Estimator, Floats


def kept_errors(estimator: Estimator, measure: Measure, tolerance: float) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return total uncertainty of the training rows that a model keeps, and whether their chains were wrong.

    Parameters
    ----------
    estimator : fitted model
    measure : {"total", "data", "knowledge"}
        Only the total is known.
    tolerance : float
        Largest absolute error that is not wrong; 0 for a classifier.

    Raises
    ------
    ValueError
        If the model cannot tell.
    """
    reference: ReferenceRows | None = getattr(estimator, "reference_rows_", None)
    if isinstance(estimator, BaseCalibrated):
        reason = "the uncertainty of training rows is not calibrated as that of this model is"
    elif reference is None:
        reason = "the model keeps no training rows (reference_rows)"
    elif not reference.is_measured:
        reason = "the model has no out-of-fold chains (out_of_fold)"
    elif measure != "total":
        reason = f"the {measure} uncertainty of rows that the members have not seen is not known, only the total"
    else:
        return reference.measured_total, reference.error[reference.measured].astype(np.float64) > tolerance
    message = f"give validation rows, fit(X, y): {reason}"
    raise ValueError(message)
