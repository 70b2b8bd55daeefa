"""Which part of the uncertainty a decision looks at."""

from typing import Any, Protocol

import numpy as np

from epiboost._posterior.uncertainty import Measure, Uncertainty
from epiboost._typing import Floats


class KnowsUncertainty(Protocol):
    """Whatever tells how unsure it is."""

    def predict_uncertainty(self, X: Any) -> Uncertainty:  # noqa: ANN401 (anything it reads)
        """Return the uncertainty of each row."""


def measured(model: KnowsUncertainty, X: Any, measure: Measure) -> Floats:  # noqa: ANN401 (anything it reads)
    """Return one part of a model's uncertainty for each row: of one row at least, and none that is NaN."""
    values: Floats = getattr(model.predict_uncertainty(X), measure)
    if not len(values):
        message = "there are no rows; at least one is needed"
        raise ValueError(message)
    if np.isnan(values).any():
        message = f"{measure} uncertainty must not be NaN, got {np.count_nonzero(np.isnan(values))} such values"
        raise ValueError(message)
    return values
