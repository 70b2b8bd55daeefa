"""The first screen in plain sentences: four questions, each with a number and an answer."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from epiboost.report.facts import Facts, Honesty, Kept
from epiboost.report.texts import count, number, percent

Verdict: TypeAlias = Literal["good", "care", "none"]
"""Whether an answer reassures, calls for care, or says nothing of the kind."""

_LEAST_TOLERANCE = 0.02
_CLEAR_P_VALUE = 0.001
_HANDED_OVER = 0.9
_HELPS = 0.98
_NEARLY = 0.01


@dataclass(frozen=True, slots=True)
class Card:
    """One question of the first screen.

    Attributes
    ----------
    key : str
        Names the card on the page.
    question : str
    number : str
        What one sees first.
    label : str
        What the number is.
    sentence : str
    verdict : {"good", "care", "none"}
    word : str
        The verdict in a word or two; empty if there is none.
    figures : tuple of (str, str)
        More numbers, by name.
    """

    key: str
    question: str
    number: str
    label: str
    sentence: str
    verdict: Verdict = "none"
    word: str = ""
    figures: tuple[tuple[str, str], ...] = ()


def cards_of(facts: Facts) -> tuple[Card, ...]:
    """Return the four cards."""
    return _good(facts), _honest(facts), _handover(facts), _foreign(facts)


def error_text(facts: Facts, error: float | None) -> str:
    """Return an error as this task has it: a share, or a number in units of the target."""
    if error is None:
        return "–"
    return percent(error) if facts.task == "classification" else number(error)


def _good(facts: Facts) -> Card:
    question = "How good is it?"
    quality = facts.quality
    if quality is None:
        return Card("good", question, "–", "no targets", "No targets were given, so its errors are not known.")
    figures = tuple((name, number(value)) for name, value in quality.losses)
    if facts.task == "classification":
        sentence = f"It is wrong in {percent(quality.error)} of {count(facts.n_rows, 'case')}"
        rival, label = "always saying the most frequent class would be wrong in {}", "wrong predictions"
    else:
        sentence = (
            f"Its predictions of {count(facts.n_rows, 'case')} are off by {number(quality.error)} (root mean square)"
        )
        rival, label = "always saying the mean would be off by {}", "root mean squared error"
    if quality.baseline is None:
        return Card("good", question, error_text(facts, quality.error), label, f"{sentence}.", figures=figures)
    better = quality.error < quality.baseline
    sentence = f"{sentence}; {rival.format(error_text(facts, quality.baseline))}."
    return Card(
        "good",
        question,
        error_text(facts, quality.error),
        label,
        sentence,
        "good" if better else "care",
        "better than guessing" if better else "no better than guessing",
        figures,
    )


def _honest(facts: Facts) -> Card:
    question = "How honest is it?"
    honesty = facts.honesty
    if honesty is None:
        reason = "No targets were given, so its claims cannot be checked."
        if facts.quality is not None:
            reason = "Its members predict a mean and no spread around it, so they claim nothing that could be checked."
        return Card("honest", question, "–", "not known", reason)
    verdict, word = _verdict(honesty, facts.n_rows)
    figures = [("calibration error", percent(honesty.calibration_error))]
    if facts.task == "classification":
        sentence = (
            f"It claims to be right in {percent(honesty.claimed)} of the cases, and is right in "
            f"{percent(honesty.observed)}."
        )
        if honesty.set_coverage is not None and honesty.set_size is not None:
            figures.append(("90 % sets hold the true class", percent(honesty.set_coverage)))
            figures.append(("classes in such a set", number(honesty.set_size)))
        return Card(
            "honest", question, percent(honesty.observed), f"right, where {percent(honesty.claimed)} is claimed",
            sentence, verdict, word, tuple(figures),
        )  # fmt: skip
    kind = "guaranteed intervals" if honesty.guaranteed else "intervals"
    sentence = f"Its {percent(honesty.claimed)} {kind} hold {percent(honesty.observed)} of the targets."
    if honesty.width is not None:
        figures.append(("mean width of such an interval", number(honesty.width)))
    label = f"covered, where {percent(honesty.claimed)} is claimed"
    return Card("honest", question, percent(honesty.observed), label, sentence, verdict, word, tuple(figures))


def _verdict(honesty: Honesty, n_rows: int) -> tuple[Verdict, str]:
    """Compare claim and outcome; chance alone makes them differ by two standard errors."""
    share = min(max(honesty.claimed, 0.01), 0.99)
    tolerance = max(_LEAST_TOLERANCE, 2.0 * float(np.sqrt(share * (1.0 - share) / n_rows)))
    gap = honesty.observed - honesty.claimed
    if abs(gap) <= tolerance:
        return "good", "says what it knows"
    return ("care", "too sure of itself") if gap < 0.0 else ("none", "more careful than need be")


def _handover(facts: Facts) -> Card:
    question = "When should it hand over?"
    whole, chosen = facts.kept[0], next(kept for kept in facts.kept if kept.asked == _HANDED_OVER)
    if whole.error is None:
        sentence = (
            f"Hand over the cases whose {facts.deciding} uncertainty is {number(chosen.threshold)} or more: the least "
            f"sure {_handed(chosen)}. What that saves is not known without targets."
        )
        return Card("handover", question, number(chosen.threshold), f"{facts.deciding} uncertainty", sentence)
    if chosen.error is None:
        sentence = "Its cases are all equally uncertain, so it cannot say which of them to hand over."
        return Card("handover", question, "–", "no case stands out", sentence, "care", "cannot say")
    sentence, verdict, word = _saved(facts, whole, chosen)
    label = "error that remains in the surest 90 %"
    return Card("handover", question, error_text(facts, chosen.error), label, sentence, verdict, word)


def _saved(facts: Facts, whole: Kept, chosen: Kept) -> tuple[str, Verdict, str]:
    before, after = whole.error or 0.0, chosen.error or 0.0
    handed = _handed(chosen)
    if whole.error == 0.0:
        return "It made no error on these cases, so there is nothing to hand over for.", "good", "no errors"
    if after < _HELPS * before:
        sentence = (
            f"Hand the least sure {handed} to a person, and the error of the rest falls from "
            f"{error_text(facts, before)} to {error_text(facts, after)}."
        )
        return sentence, "good", "knows when it is unsure"
    sentence = (
        f"Handing over the least sure {handed} leaves an error of {error_text(facts, after)}, where it was "
        f"{error_text(facts, before)}: its uncertainty does not find its errors here."
    )
    return sentence, "care", "does not find its errors"


def _handed(kept: Kept) -> str:
    """Return the share handed over: as it was asked for, unless ties make it another."""
    share = kept.asked if abs(kept.share - kept.asked) < _NEARLY else kept.share
    return percent(round(1.0 - share, 9))


def _foreign(facts: Facts) -> Card:
    question = "What is foreign to it?"
    foreign, domain = facts.foreign, facts.domain
    figures = (("rows with a category it has not seen", f"{foreign.n_unseen:,}"),)
    if not foreign.knows:
        sentence = "It has no knowledge uncertainty, so it cannot tell what is foreign: that takes two or more members."
        return Card("foreign", question, "–", "cannot say", sentence, "care", "cannot tell", figures)
    if domain is not None and domain.share is not None and domain.p_value is not None:
        drifted = domain.p_value < _CLEAR_P_VALUE and domain.auc > 0.5  # noqa: PLR2004 (no difference)
        unseen = domain.n_unseen > _LEAST_TOLERANCE * domain.n_rows
        sentence = (
            f"Of the {count(domain.n_rows, 'row')} of the other table {percent(domain.share)} are foreign to it, where "
            f"{percent(domain.false_alarm_rate)} would be false alarms."
        )
        more = ("rows told from each other (AUC)", number(domain.auc))
        if domain.n_unseen:
            sentence += f" {domain.n_unseen:,} hold a category that training has not seen."
        word = "the other table differs" if drifted or unseen else "no clear difference"
        verdict: Verdict = "care" if drifted or unseen else "good"
        return Card(
            "foreign", question, percent(domain.share), "of the other table", sentence, verdict, word, (more, *figures)
        )
    return _foreign_here(facts, question, figures)


def _foreign_here(facts: Facts, question: str, figures: tuple[tuple[str, str], ...]) -> Card:
    foreign = facts.foreign
    if foreign.n_far is None:
        sentence = f"{count(facts.n_rows, 'row')} are too few to say which of them stand out; give 20 or more."
        if foreign.n_unseen:
            sentence += f" {count(foreign.n_unseen, 'row')} hold a category that training has not seen."
        return Card("foreign", question, "–", "too few rows", sentence, figures=figures)
    share = foreign.n_far / facts.n_rows
    sentence = (
        f"{foreign.n_far:,} of {count(facts.n_rows, 'row')} stand far out from the others in what it does not know of "
        "them."
    )
    if foreign.n_unseen:
        sentence += f" {foreign.n_unseen:,} hold a category that training has not seen."
    calm = share <= _LEAST_TOLERANCE and foreign.n_unseen <= _LEAST_TOLERANCE * facts.n_rows
    word = "mostly known ground" if calm else "much is new to it"
    return Card("foreign", question, percent(share), "of the rows", sentence, "good" if calm else "care", word, figures)
