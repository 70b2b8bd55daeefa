"""Out-of-domain rows: outliers of one table, and the comparison of two tables."""

import numpy as np

from epiboost import metrics
from epiboost._typing import AnyArray, Floats
from epiboost.decisions import DomainDetector
from epiboost.report.facts import DomainComparison, NewValues, OutOfDomain
from epiboost.report.predictions import PrecomputedModel, Predictions
from epiboost.report.significance import too_few

FALSE_ALARM_RATE = 0.05
_TUKEY_FENCE = 1.5  # interquartile ranges


def measure_out_of_domain(predictions: Predictions, new_values: NewValues, has_new_value: AnyArray) -> OutOfDomain:
    """Count the rows that are outliers or hold values not seen in training.

    Rows are compared with each other: if all rows are out of domain, none is an outlier.
    """
    knowledge = predictions.uncertainty.knowledge
    has_knowledge = bool(knowledge.any())
    outliers = np.zeros(len(knowledge), dtype=bool)
    n_outliers = None
    if has_knowledge and not too_few(len(knowledge)):
        outliers = _outliers(knowledge)
        n_outliers = int(np.count_nonzero(outliers))
    return OutOfDomain(has_knowledge, n_outliers, int(np.count_nonzero(outliers | has_new_value)), new_values)


def _outliers(knowledge: Floats) -> AnyArray:
    """Return which rows are outliers: log-uncertainty above the third quartile plus 1.5 interquartile ranges."""
    logarithm = np.log(np.maximum(knowledge, knowledge[knowledge > 0.0].min()))
    low, high = np.quantile(logarithm, [0.25, 0.75])
    outliers: AnyArray = (logarithm > high + _TUKEY_FENCE * (high - low)) & (high > low)
    return outliers


def compare_domains(predictions: Predictions, other: Predictions, new_values: NewValues) -> DomainComparison | None:
    """Compare the knowledge uncertainty of another table with this table; None if both have none."""
    inside, outside = predictions.uncertainty.knowledge, other.uncertainty.knowledge
    if not inside.any() and not outside.any():
        return None
    auc = metrics.ood_auc_score(np.repeat([False, True], [len(inside), len(outside)]), np.append(inside, outside))
    threshold = share = p_value = None
    if inside.any() and len(inside) >= round(1.0 / FALSE_ALARM_RATE) - 1:
        detector = DomainDetector(PrecomputedModel(), false_alarm_rate=FALSE_ALARM_RATE).fit(predictions)
        drift = detector.drift(other)
        threshold, share, p_value = -detector.offset_, drift.share_outside, drift.p_value
    return DomainComparison(
        n_rows=len(outside),
        inside=inside,
        outside=outside,
        threshold=threshold,
        false_alarm_rate=FALSE_ALARM_RATE,
        share=share,
        auc=auc,
        p_value=p_value,
        new_values=new_values,
    )
