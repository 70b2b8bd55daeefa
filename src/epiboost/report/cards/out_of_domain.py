"""The card on out-of-domain rows."""

from epiboost.report.cards.card import Card
from epiboost.report.facts import DomainComparison, Facts, NewValues
from epiboost.report.formatting import count, percent
from epiboost.report.ood_verdict import (
    CANNOT_DETECT,
    NEW_VALUES,
    NOT_DETECTED,
    OUT_OF_DOMAIN,
    ood_verdict,
    tolerated_outliers,
    tolerated_share,
)
from epiboost.report.significance import MIN_ROWS, auc_by_chance
from epiboost.report.verdicts import TOO_FEW_ROWS, Verdict

_KEY, _QUESTION = "out-of-domain", "Are rows out of domain?"
_MAX_NAMES = 2


def out_of_domain_card(facts: Facts) -> Card:
    """Return the out-of-domain rows of the other table, or else of this table."""
    verdict = ood_verdict(facts)
    if verdict == CANNOT_DETECT:
        sentence = (
            "It has no knowledge uncertainty, so it cannot detect out-of-domain rows: that needs two or more members."
        )
        if facts.domain is None:
            sentence += _new_value_sentence(facts.out_of_domain.new_values, "this table")
        else:
            sentence += _new_value_sentence(facts.domain.new_values, "the other table")
        return Card(_KEY, _QUESTION, "–", "cannot be detected", sentence, verdict, _details(facts))
    if facts.domain is None or facts.domain.share is None:
        return _one_table(facts)
    return _two_tables(facts, facts.domain, facts.domain.share)


def _two_tables(facts: Facts, domain: DomainComparison, share: float) -> Card:
    verdict = ood_verdict(facts)
    sentence = (
        f"{percent(share)} of {count(domain.n_rows, 'row')} of the other table have a larger knowledge uncertainty "
        f"than almost all rows of this table; of rows like those of this table {percent(domain.false_alarm_rate)} have."
    )
    if verdict == NOT_DETECTED:
        sentence += " It is more certain about the other table than about this one, so it does not detect those rows."
    sentence += _new_value_sentence(domain.new_values, "the other table")
    figure, label = _judged_number(domain, share, verdict)
    return Card(_KEY, _QUESTION, figure, label, sentence, verdict, _details(facts))


def _judged_number(domain: DomainComparison, share: float, verdict: Verdict) -> tuple[str, str]:
    """Return the number that the verdict follows from, and its meaning."""
    if verdict == NEW_VALUES:
        return percent(domain.new_values.n_rows / domain.n_rows), "of the other table hold new values"
    if verdict in {OUT_OF_DOMAIN, TOO_FEW_ROWS}:
        return percent(share), "of the other table are out of domain"
    return percent(domain.auc), "out-of-domain AUC; 50\u00a0% is no difference"


def _one_table(facts: Facts) -> Card:
    rows, verdict = facts.out_of_domain, ood_verdict(facts)
    new_values = _new_value_sentence(rows.new_values, "this table")
    if rows.n_outliers is None:
        sentence = f"With fewer than {MIN_ROWS} rows outliers cannot be found.{new_values}"
        return Card(_KEY, _QUESTION, "–", "too few rows", sentence, verdict)
    sentence = (
        f"{rows.n_outliers:,} of {count(facts.n_rows, 'row')} have a much larger knowledge uncertainty than the others."
        f"{new_values}"
    )
    if verdict.level == "none":
        sentence += (
            " Rows are compared with each other: only a second table shows whether all of them are out of domain."
        )
    share = percent(rows.n_flagged / facts.n_rows)
    return Card(_KEY, _QUESTION, share, "of the rows are unusual", sentence, verdict, _details(facts))


def _new_value_sentence(new_values: NewValues, table: str) -> str:
    if not new_values.n_rows:
        return ""
    holds = "holds" if new_values.n_rows == 1 else "hold"
    names = ", ".join(column.name for column in new_values.columns[:_MAX_NAMES])
    more = ", …" if len(new_values.columns) > _MAX_NAMES else ""
    return f" {count(new_values.n_rows, 'row')} of {table} {holds} a value not seen in training ({names}{more})."


def _details(facts: Facts) -> tuple[tuple[str, str], ...]:
    """Return the number of rows of each table that hold new values."""
    domain, new_values = facts.domain, facts.out_of_domain.new_values
    kind = "values" if new_values.ranges else "categories"
    details = [(f"rows of this table with new {kind}", f"{new_values.n_rows:,}")]
    if domain is None and facts.out_of_domain.n_outliers is not None:
        outliers = percent(facts.out_of_domain.n_outliers / facts.n_rows)
        usual = percent(tolerated_outliers(facts.n_rows))
        details = [("rows of larger knowledge uncertainty", outliers), ("… usually, up to", usual), *details]
    if domain is not None:
        shares = []
        if domain.share is not None:
            tolerated = percent(tolerated_share(domain))
            shares = [("rows above the threshold", percent(domain.share)), ("… tolerated, up to", tolerated)]
        details = [
            *shares,
            ("out-of-domain AUC", percent(domain.auc)),
            ("… by chance, 50\u00a0% ±", percent(auc_by_chance(len(domain.inside), domain.n_rows))),
            *details,
            (f"rows of the other table with new {kind}", f"{domain.new_values.n_rows:,}"),
        ]
    return tuple(details)
