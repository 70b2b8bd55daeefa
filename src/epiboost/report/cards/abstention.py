"""The card on abstention."""

from epiboost.report import verdicts
from epiboost.report.cards.card import Card
from epiboost.report.cards.texts import error_text, threshold_text
from epiboost.report.facts import AbstentionLevel, Facts
from epiboost.report.formatting import count, percent
from epiboost.report.significance import MIN_ROWS, too_few

_KEY, _QUESTION = "abstention", "When should it abstain?"
_NEARLY = 0.01

_REASONS = {
    verdicts.TOO_FEW_ERRORS: "There are too few errors to rule out chance.",
    verdicts.NO_CLEAR_GAIN: "Chance explains that, though over all rows larger uncertainty does mean larger errors.",
    verdicts.TOO_FEW_ROWS: "There are too few rows to tell whether its uncertainty detects its errors.",
    verdicts.DOES_NOT_DETECT_ERRORS: "Its uncertainty and its errors are not correlated beyond chance.",
}


def abstention_card(facts: Facts) -> Card:
    """Return the error that remains if the model abstains on the least certain rows."""
    verdict = verdicts.abstention_verdict(facts)
    if too_few(facts.n_rows):
        sentence = f"{count(facts.n_rows, 'row')} cannot show where to abstain; give at least {MIN_ROWS}."
        return Card(_KEY, _QUESTION, "–", "too few rows", sentence, verdict)
    if facts.abstention[0].error is None:
        return _without_targets(facts)
    accepted = verdicts.recommended_level(facts)
    if verdict == verdicts.EQUAL_UNCERTAINTY:
        sentence = "All rows are equally uncertain, so it cannot tell where to abstain."
        return Card(_KEY, _QUESTION, "–", "no row stands out", sentence, verdict)
    sentence = _effect(facts, accepted)
    if verdict == verdicts.NO_ERRORS:
        sentence = "There are no errors on these rows, so there is no reason to abstain."
    elif verdict in _REASONS:
        sentence = f"{sentence} {_REASONS[verdict]}"
    label = f"error of the most certain {percent(_coverage(accepted))}"
    details = (("error of as many random rows, at least", error_text(facts, accepted.error_by_chance)),)
    return Card(_KEY, _QUESTION, error_text(facts, accepted.error), label, sentence, verdict, details)


def _without_targets(facts: Facts) -> Card:
    accepted = verdicts.recommended_level(facts)
    threshold = threshold_text(facts, accepted.threshold)
    measure = f"{'' if facts.unit == 'nats' else 'the square root of '}{facts.measure} uncertainty"
    sentence = (
        f"Abstain where {measure} is {threshold} or more: the least certain {_rejected(accepted)}. Without targets it "
        "is not known by how much the error falls."
    )
    return Card(_KEY, _QUESTION, threshold, measure, sentence)


def _effect(facts: Facts, accepted: AbstentionLevel) -> str:
    before, after = facts.abstention[0].error or 0.0, accepted.error or 0.0
    condition = f"If it abstains on the least certain {_rejected(accepted)} of the rows, the error of the others"
    if after < before:
        return f"{condition} falls from {error_text(facts, before)} to {error_text(facts, after)}."
    return f"{condition} is {error_text(facts, after)}; the error of all rows is {error_text(facts, before)}."


def _coverage(level: AbstentionLevel) -> float:
    """Return the target coverage, or the true one if ties make it different."""
    return level.target_coverage if abs(level.coverage - level.target_coverage) < _NEARLY else level.coverage


def _rejected(level: AbstentionLevel) -> str:
    return percent(round(1.0 - _coverage(level), 9))
