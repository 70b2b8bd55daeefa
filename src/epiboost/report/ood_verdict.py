"""The verdict on out-of-domain rows: all rules and their thresholds.

The other table is compared with this one, or else this table with the training rows that the model keeps. The verdict
is 'good' only if chance explains the difference. It is never 'good' for rows that could only be compared with each
other, since a table that is entirely out of domain may then look ordinary.
"""

from epiboost.decisions import ColumnDrift
from epiboost.report.facts import DomainComparison, Facts, NewValues, OutOfDomain
from epiboost.report.significance import (
    RARELY,
    RELEVANT,
    auc_by_chance,
    flagged_by_chance,
    frequency_by_chance,
    too_few,
)
from epiboost.report.verdicts import TOO_FEW_ROWS, Verdict

CANNOT_DETECT = Verdict("care", "cannot detect them")
OUT_OF_DOMAIN = Verdict("care", "out-of-domain rows")
NEW_VALUES = Verdict("care", "values not seen in training")
DIFFERS = Verdict("care", "differs clearly")
DIFFERS_SLIGHTLY = Verdict("none", "differs slightly")
HARDLY_DIFFERS = Verdict("good", "hardly any difference")
NOT_CLEAR = Verdict("none", "no clear difference")
UNUSUAL_ROWS = Verdict("care", "unusual rows")
WITHIN_CHANCE = Verdict("none", "no more than usual")
NO_UNUSUAL_ROWS = Verdict("none", "no unusual rows")

CLEAR_P_VALUE = 0.01
"""Largest p-value of a clear difference; the 999 permutations of the drift test give at least 0.001."""
_TOLERATED_ROWS = 2
_NO_DIFFERENCE = 0.5
_SMALL_DIFFERENCE = 0.1
_USUAL_OUTLIERS = 0.05
"""Share of outliers among rows like the training rows: 0 to 4.6 % in three random halves of each of 13 tables."""


def ood_verdict(facts: Facts) -> Verdict:
    """Judge the comparison that the card shows, or else the outliers of this table."""
    judged = judged_comparison(facts)
    if judged is not None:
        return comparison_verdict(judged)
    if not facts.out_of_domain.has_knowledge:
        return CANNOT_DETECT
    return outlier_verdict(facts.out_of_domain, facts.n_rows)


def judged_comparison(facts: Facts) -> DomainComparison | None:
    """Return the comparison of the two tables, or else of this table with the training rows; None if there is none."""
    if facts.domain is not None and facts.domain.share is not None:
        return facts.domain
    return facts.out_of_domain.training


def has_clear_new_values(new_values: NewValues, n_rows: int) -> bool:
    """Return whether a column holds more new values than chance explains."""
    share = max(RELEVANT, 2 * new_values.share_by_chance)
    return any(column.n_rows > share * n_rows + _TOLERATED_ROWS for column in new_values.columns)


def differs_clearly(domain: DomainComparison) -> bool:
    """Return whether the drift test finds a difference that chance hardly explains."""
    return domain.drift is not None and domain.drift.p_value <= CLEAR_P_VALUE


def moved(domain: DomainComparison) -> tuple[ColumnDrift, ...]:
    """Return the columns and scores that differ clearly, the largest effect first."""
    if domain.drift is None:
        return ()
    clear = [part for part in (*domain.drift.columns, *domain.drift.scores) if part.p_value <= CLEAR_P_VALUE]
    return tuple(sorted(clear, key=lambda part: -part.effect))


def is_more_familiar(domain: DomainComparison) -> bool:
    """Return whether the rows have smaller scores than those of the domain, by more than chance explains."""
    by_chance = auc_by_chance(len(domain.inside), len(domain.outside))
    return domain.auc is not None and domain.auc < _NO_DIFFERENCE - by_chance


def tolerated_share(domain: DomainComparison) -> float:
    """Return the share of rows above the threshold that calls for care: chance, and at least two points more."""
    by_chance = flagged_by_chance(len(domain.inside), len(domain.outside), domain.false_alarm_rate)
    return max(by_chance, domain.false_alarm_rate + RELEVANT)


def tolerated_outliers(n_rows: int) -> float:
    """Return the share of outliers of one table that calls for care: what is usual, and two standard errors."""
    return _USUAL_OUTLIERS + frequency_by_chance(_USUAL_OUTLIERS, n_rows)


def comparison_verdict(domain: DomainComparison) -> Verdict:
    """Judge a table: its rows above the threshold, its new values, then its drift."""
    if domain.share is None or too_few(min(len(domain.inside), len(domain.outside))):
        return TOO_FEW_ROWS
    if domain.share > tolerated_share(domain) and (domain.measure != "novelty" or differs_clearly(domain)):
        return OUT_OF_DOMAIN
    if has_clear_new_values(domain.new_values, domain.n_rows):
        return NEW_VALUES
    return _drift_verdict(domain)


def outlier_verdict(rows: OutOfDomain, n_rows: int) -> Verdict:
    """Judge one table: its new values, then its outliers."""
    if rows.n_outliers is None:
        return TOO_FEW_ROWS
    if has_clear_new_values(rows.new_values, n_rows):
        return NEW_VALUES
    if rows.n_outliers > tolerated_outliers(n_rows) * n_rows:
        return UNUSUAL_ROWS
    return WITHIN_CHANCE if rows.n_flagged else NO_UNUSUAL_ROWS


def _drift_verdict(domain: DomainComparison) -> Verdict:
    """Judge whether the rows as a whole have another distribution, in any direction."""
    if differs_clearly(domain):
        return DIFFERS if moved(domain)[0].effect > _SMALL_DIFFERENCE else DIFFERS_SLIGHTLY
    difference = 0.0 if domain.auc is None else abs(domain.auc - _NO_DIFFERENCE)
    is_small = difference + auc_by_chance(len(domain.inside), len(domain.outside)) <= _SMALL_DIFFERENCE
    is_explained = domain.drift is not None and domain.drift.p_value > RARELY
    if is_explained and is_small and domain.share is not None and domain.share <= tolerated_share(domain):
        return HARDLY_DIFFERS
    return NOT_CLEAR
