"""Out-of-domain rows of one table: compared with the training rows, or if the model keeps none, with each other."""

import numpy as np

from epiboost._typing import AnyArray, Floats
from epiboost.report.facts import DomainComparison, NewValues, OutOfDomain
from epiboost.report.predictions import Predictions
from epiboost.report.significance import too_few

_TUKEY_FENCE = 1.5  # interquartile ranges


def measure_out_of_domain(
    predictions: Predictions,
    new_values: NewValues,
    has_new_value: AnyArray,
    training: DomainComparison | None = None,
) -> OutOfDomain:
    """Count the rows that are outliers or hold values not seen in training.

    Outliers are found by comparing rows with each other: if all rows are out of domain, none is an outlier.
    """
    knowledge = predictions.uncertainty.knowledge
    has_knowledge = bool(knowledge.any())
    outliers = np.zeros(len(knowledge), dtype=bool)
    n_outliers = None
    if has_knowledge and not too_few(len(knowledge)):
        outliers = _outliers(knowledge)
        n_outliers = int(np.count_nonzero(outliers))
    n_flagged = int(np.count_nonzero(outliers | has_new_value))
    return OutOfDomain(has_knowledge, n_outliers, n_flagged, new_values, training)


def _outliers(knowledge: Floats) -> AnyArray:
    """Return which rows are outliers: log-uncertainty above the third quartile plus 1.5 interquartile ranges."""
    logarithm = np.log(np.maximum(knowledge, knowledge[knowledge > 0.0].min()))
    low, high = np.quantile(logarithm, [0.25, 0.75])
    outliers: AnyArray = (logarithm > high + _TUKEY_FENCE * (high - low)) & (high > low)
    return outliers
