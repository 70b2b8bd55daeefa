"""The verdict on out-of-domain rows: all rules and their thresholds.

The verdict is 'good' only if two tables were compared and hardly differ. It is never 'good' for one table alone: its
rows are compared with each other, so a table that is entirely out of domain may look ordinary.
"""

import numpy as np

from epiboost.report.facts import DomainComparison, Facts, NewValues, OutOfDomain
from epiboost.report.significance import CLEAR, too_few
from epiboost.report.verdicts import TOO_FEW_ROWS, Verdict

CANNOT_DETECT = Verdict("care", "cannot detect them")
OTHER_DIFFERS = Verdict("care", "the other table differs")
NOT_DETECTED = Verdict("care", "differs, but is not detected")
HARDLY_DIFFERS = Verdict("good", "hardly any difference")
NOT_CLEAR = Verdict("none", "no clear difference")
UNUSUAL_ROWS = Verdict("care", "unusual rows")
NO_UNUSUAL_ROWS = Verdict("none", "no unusual rows")

_TOLERATED_SHARE = 0.02
_TOLERATED_ROWS = 2
_CLEAR_P_VALUE = 0.001
_NO_DIFFERENCE = 0.5
_SMALL_DIFFERENCE = 0.1


def ood_verdict(facts: Facts) -> Verdict:
    """Judge the other table if it can be compared, else the rows of this table."""
    if not facts.out_of_domain.has_knowledge:
        return CANNOT_DETECT
    if facts.domain is None or facts.domain.share is None:
        return _outlier_verdict(facts.out_of_domain, facts.n_rows)
    return _comparison_verdict(facts.domain, facts.n_rows)


def has_clear_new_values(new_values: NewValues, n_rows: int) -> bool:
    """Return whether a column holds more new values than chance explains."""
    share = max(_TOLERATED_SHARE, 2 * new_values.share_by_chance)
    return any(column.n_rows > share * n_rows + _TOLERATED_ROWS for column in new_values.columns)


def differs_clearly(domain: DomainComparison) -> bool:
    """Return whether the knowledge uncertainties of two tables differ more than chance explains."""
    return domain.two_sided_p_value is not None and domain.two_sided_p_value < _CLEAR_P_VALUE


def _comparison_verdict(domain: DomainComparison, n_rows: int) -> Verdict:
    """Judge whether the other table differs, in either direction."""
    if too_few(min(n_rows, domain.n_rows)):
        return TOO_FEW_ROWS
    clear = differs_clearly(domain)
    if clear and domain.auc < _NO_DIFFERENCE:
        return NOT_DETECTED
    if clear or has_clear_new_values(domain.new_values, domain.n_rows):
        return OTHER_DIFFERS
    n, m = n_rows, domain.n_rows
    error = float(np.sqrt((n + m + 1) / (12.0 * n * m)))
    if abs(domain.auc - _NO_DIFFERENCE) + CLEAR * error <= _SMALL_DIFFERENCE:
        return HARDLY_DIFFERS
    return NOT_CLEAR


def _outlier_verdict(rows: OutOfDomain, n_rows: int) -> Verdict:
    if rows.n_outliers is None:
        return TOO_FEW_ROWS
    unusual = has_clear_new_values(rows.new_values, n_rows) or rows.n_outliers > _TOLERATED_SHARE * n_rows
    return UNUSUAL_ROWS if unusual else NO_UNUSUAL_ROWS
