"""The verdict on out-of-domain rows: all rules and their thresholds.

The verdict is 'good' only if two tables were compared and chance explains their difference. It is never 'good' for one
table alone: its rows are compared with each other, so a table that is entirely out of domain may look ordinary.
"""

from epiboost.report.facts import DomainComparison, Facts, NewValues, OutOfDomain
from epiboost.report.significance import RELEVANT, auc_by_chance, flagged_by_chance, frequency_by_chance, too_few
from epiboost.report.verdicts import TOO_FEW_ROWS, Verdict

CANNOT_DETECT = Verdict("care", "cannot detect them")
OUT_OF_DOMAIN = Verdict("care", "out-of-domain rows")
NEW_VALUES = Verdict("care", "values not seen in training")
OTHER_DIFFERS = Verdict("care", "the other table differs")
NOT_DETECTED = Verdict("care", "differs, but is not detected")
DIFFERS_SLIGHTLY = Verdict("none", "differs slightly")
HARDLY_DIFFERS = Verdict("good", "hardly any difference")
NOT_CLEAR = Verdict("none", "no clear difference")
UNUSUAL_ROWS = Verdict("care", "unusual rows")
WITHIN_CHANCE = Verdict("none", "no more than usual")
NO_UNUSUAL_ROWS = Verdict("none", "no unusual rows")

_TOLERATED_ROWS = 2
_CLEAR_P_VALUE = 0.001
_NO_DIFFERENCE = 0.5
_SMALL_DIFFERENCE = 0.1
_USUAL_OUTLIERS = 0.05
"""Share of outliers among rows like the training rows: 0 to 4.6 % in three random halves of each of 13 tables."""


def ood_verdict(facts: Facts) -> Verdict:
    """Judge the other table if it can be compared, else the rows of this table."""
    if not facts.out_of_domain.has_knowledge:
        return CANNOT_DETECT
    if facts.domain is None or facts.domain.share is None:
        return outlier_verdict(facts.out_of_domain, facts.n_rows)
    return comparison_verdict(facts.domain)


def has_clear_new_values(new_values: NewValues, n_rows: int) -> bool:
    """Return whether a column holds more new values than chance explains."""
    share = max(RELEVANT, 2 * new_values.share_by_chance)
    return any(column.n_rows > share * n_rows + _TOLERATED_ROWS for column in new_values.columns)


def differs_clearly(domain: DomainComparison) -> bool:
    """Return whether the knowledge uncertainties of two tables differ more than chance explains."""
    return domain.two_sided_p_value is not None and domain.two_sided_p_value < _CLEAR_P_VALUE


def tolerated_share(domain: DomainComparison) -> float:
    """Return the share of rows above the threshold that calls for care: chance, and at least two points more."""
    by_chance = flagged_by_chance(len(domain.inside), domain.n_rows, domain.false_alarm_rate)
    return max(by_chance, domain.false_alarm_rate + RELEVANT)


def tolerated_outliers(n_rows: int) -> float:
    """Return the share of outliers of one table that calls for care: what is usual, and two standard errors."""
    return _USUAL_OUTLIERS + frequency_by_chance(_USUAL_OUTLIERS, n_rows)


def comparison_verdict(domain: DomainComparison) -> Verdict:
    """Judge the other table: its rows above the threshold, its new values, then the AUC of all its rows."""
    if domain.share is None or too_few(min(len(domain.inside), domain.n_rows)):
        return TOO_FEW_ROWS
    if domain.share > tolerated_share(domain):
        return OUT_OF_DOMAIN
    if has_clear_new_values(domain.new_values, domain.n_rows):
        return NEW_VALUES
    return _auc_verdict(domain)


def outlier_verdict(rows: OutOfDomain, n_rows: int) -> Verdict:
    """Judge one table: its new values, then its outliers."""
    if rows.n_outliers is None:
        return TOO_FEW_ROWS
    if has_clear_new_values(rows.new_values, n_rows):
        return NEW_VALUES
    if rows.n_outliers > tolerated_outliers(n_rows) * n_rows:
        return UNUSUAL_ROWS
    return WITHIN_CHANCE if rows.n_flagged else NO_UNUSUAL_ROWS


def _auc_verdict(domain: DomainComparison) -> Verdict:
    """Judge whether the rows of the other table as a whole are more or less uncertain."""
    difference = domain.auc - _NO_DIFFERENCE
    if differs_clearly(domain):
        if abs(difference) <= _SMALL_DIFFERENCE:
            return DIFFERS_SLIGHTLY
        return NOT_DETECTED if difference < 0.0 else OTHER_DIFFERS
    by_chance = auc_by_chance(len(domain.inside), domain.n_rows)
    if abs(difference) <= by_chance and abs(difference) + by_chance <= _SMALL_DIFFERENCE:
        return HARDLY_DIFFERS
    return NOT_CLEAR
