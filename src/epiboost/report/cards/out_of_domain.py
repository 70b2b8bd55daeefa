"""The card on out-of-domain rows."""

from epiboost.report.cards.card import Card
from epiboost.report.cards.texts import SCORES
from epiboost.report.facts import DomainComparison, Facts, NewValues
from epiboost.report.formatting import count, number, percent
from epiboost.report.ood_verdict import (
    CANNOT_DETECT,
    DIFFERS,
    DIFFERS_SLIGHTLY,
    NEW_VALUES,
    is_more_familiar,
    judged_comparison,
    moved,
    ood_verdict,
    tolerated_outliers,
    tolerated_share,
)
from epiboost.report.significance import MIN_ROWS, auc_by_chance
from epiboost.report.verdicts import Verdict

_KEY, _QUESTION = "out-of-domain", "Are rows out of domain?"
_MAX_NAMES = 2


def out_of_domain_card(facts: Facts) -> Card:
    """Return the comparison of the two tables, or of this table with the training rows, or else its outliers."""
    verdict, judged = ood_verdict(facts), judged_comparison(facts)
    if judged is not None:
        return _comparison_card(facts, judged, judged.share or 0.0)
    if verdict == CANNOT_DETECT:
        sentence = (
            "It has no knowledge uncertainty and keeps no training rows, so it cannot detect out-of-domain rows: that "
            "needs two or more members, or reference_rows."
        )
        if facts.domain is None:
            sentence += _new_value_sentence(facts.out_of_domain.new_values, "this table")
        else:
            sentence += _new_value_sentence(facts.domain.new_values, "the other table")
        return Card(_KEY, _QUESTION, "–", "cannot be detected", sentence, verdict, _details(facts))
    return _outlier_card(facts)


def _comparison_card(facts: Facts, judged: DomainComparison, share: float) -> Card:
    verdict = ood_verdict(facts)
    name, usual = ("this table", "the training rows")
    if judged is facts.domain:
        name, usual = "the other table", "the rows of this table"
    sentence = (
        f"{percent(share)} of {count(len(judged.outside), 'row')} of {name} have a larger {SCORES[judged.measure]} "
        f"than almost all of {usual}; of rows like those {percent(judged.false_alarm_rate)} would."
    )
    if moved(judged):
        names = ", ".join(f"{part.name} {number(round(part.effect, 2))}" for part in moved(judged)[:_MAX_NAMES])
        sentence += f" Moved most, from 0 to 1: {names}."
    if verdict in {DIFFERS, DIFFERS_SLIGHTLY} and is_more_familiar(judged):
        sentence += f" Its rows are more familiar than {usual}, so few of them are flagged."
    sentence += _new_value_sentence(judged.new_values, name)
    figure, label = _judged_number(judged, share, verdict, name)
    return Card(_KEY, _QUESTION, figure, label, sentence, verdict, _details(facts))


def _judged_number(judged: DomainComparison, share: float, verdict: Verdict, name: str) -> tuple[str, str]:
    """Return the number that the verdict follows from, and its meaning."""
    if verdict == NEW_VALUES:
        return percent(judged.new_values.n_rows / judged.n_rows), f"of {name} hold new values"
    if verdict in {DIFFERS, DIFFERS_SLIGHTLY}:
        most = moved(judged)[0]
        return number(round(most.effect, 2)), f"drift of {most.name}; 0 is none, 1 is no overlap"
    return percent(share), f"of {name} are out of domain; {percent(judged.false_alarm_rate)} by chance"


def _outlier_card(facts: Facts) -> Card:
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
            " The model keeps no training rows, so rows are compared with each other: only a second table shows whether"
            " all of them are out of domain."
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
    """Return what the verdict is judged by, and the number of rows of each table that hold new values."""
    rows, judged = facts.out_of_domain, judged_comparison(facts)
    kind = "values" if rows.new_values.ranges else "categories"
    details = [(f"rows of this table with new {kind}", f"{rows.new_values.n_rows:,}")]
    if facts.domain is not None:
        details.append((f"rows of the other table with new {kind}", f"{facts.domain.new_values.n_rows:,}"))
    if judged is not None:
        if judged is facts.domain and rows.training is not None:
            details.insert(0, ("rows of this table out of domain", percent(rows.training.share or 0.0)))
        return (*_comparison_details(judged), *details)
    if rows.n_outliers is not None:
        outliers, usual = percent(rows.n_outliers / facts.n_rows), percent(tolerated_outliers(facts.n_rows))
        details = [("rows of larger knowledge uncertainty", outliers), ("… usually, up to", usual), *details]
    return tuple(details)


def _comparison_details(judged: DomainComparison) -> list[tuple[str, str]]:
    details = [
        ("rows above the threshold", percent(judged.share or 0.0)),
        ("… tolerated, up to", percent(tolerated_share(judged))),
    ]
    if judged.auc is not None:
        by_chance = auc_by_chance(len(judged.inside), len(judged.outside))
        details += [("out-of-domain AUC", percent(judged.auc)), ("… by chance, 50\u00a0% ±", percent(by_chance))]
    if judged.knowledge_auc is not None:
        details.append(("AUC of knowledge alone", percent(judged.knowledge_auc)))
    if judged.drift is not None:
        details.append(("p-value of drift", number(judged.drift.p_value)))
    return details
