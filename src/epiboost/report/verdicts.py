"""The first screen in plain sentences: four questions, each with a number and an answer."""

import numpy as np

from epiboost.report.cards import Card, Verdict
from epiboost.report.facts import Facts, Honesty, Kept, Quality
from epiboost.report.formatting import count, number, percent
from epiboost.report.ood_verdict import foreign_card
from epiboost.report.significance import CLEAR, FEWEST_ROWS, too_few

_LEAST_TOLERANCE = 0.02
_HANDED_OVER = 0.9
_NEARLY = 0.01
_ENOUGH_ROWS = 100
_TOO_FEW: tuple[Verdict, str] = ("none", "too few rows to judge")


def cards_of(facts: Facts) -> tuple[Card, ...]:
    """Return the four cards."""
    return _good(facts), _honest(facts), _handover(facts), foreign_card(facts)


def error_text(facts: Facts, error: float | None) -> str:
    """Return an error as this task has it: a share, or a number in units of the target."""
    if error is None:
        return "–"
    return percent(error) if facts.task == "classification" else number(error)


def threshold_text(facts: Facts, threshold: float) -> str:
    """Return where a case is handed over; of a variance its root, which is in units of the target."""
    if not np.isfinite(threshold):
        return "–"
    return number(threshold) if facts.unit == "nats" else f"±\u00a0{number(float(np.sqrt(threshold)))}"


def _good(facts: Facts) -> Card:
    question = "How good is it?"
    quality = facts.quality
    if quality is None:
        return Card("good", question, "–", "no targets", "No targets were given, so its errors are not known.")
    figures = tuple(
        (name, number(value) if guess is None else f"{number(value)}, guessing {number(guess)}")
        for (name, value), guess in zip(quality.losses, quality.guessing, strict=True)
    )
    if facts.task == "classification":
        sentence = f"It is wrong in {percent(quality.error)} of {count(facts.n_rows, 'case')}"
        rival, label = "always saying the most frequent class would be wrong in {}", "wrong predictions"
    else:
        sentence = (
            f"Its predictions of {count(facts.n_rows, 'case')} are off by {number(quality.error)} (root mean square)"
        )
        rival, label = "always saying the mean would be off by {}", "root mean squared error"
    sentence = f"{sentence}; {rival.format(error_text(facts, quality.baseline))}."
    verdict, word = _against_guessing(quality, facts.n_rows)
    if quality.only:
        sentence += f" All targets of this table are the same ({quality.only}), so that it says little."
    elif verdict == "good" and not _clear(quality.gain):
        sentence += " Its probabilities are better than the bare shares of the classes; its labels are not."
    return Card("good", question, error_text(facts, quality.error), label, sentence, verdict, word, figures)


def _against_guessing(quality: Quality, n_rows: int) -> tuple[Verdict, str]:
    """Compare with who only guesses; two standard errors are left to chance."""
    if too_few(n_rows):
        return _TOO_FEW
    if quality.only:
        return "none", "one target only"
    if _clear(quality.gain):
        return "good", "better than guessing"
    if quality.gain is not None and quality.gain < -CLEAR:
        return "care", "worse than guessing"
    if _clear(quality.likelihood_gain):
        return "good", "its probabilities help"
    return "care", "not clearly better than guessing"


def _clear(gain: float | None) -> bool:
    return gain is not None and gain > CLEAR


def _honest(facts: Facts) -> Card:
    question = "How honest is it?"
    honesty = facts.honesty
    if honesty is None:
        reason = "No targets were given, so its claims cannot be checked."
        if facts.quality is not None:
            reason = "Its members predict a mean and no spread around it, so they claim nothing that could be checked."
        return Card("honest", question, "–", "not known", reason)
    verdict, word = _verdict(honesty, facts.n_rows)
    figures = [
        ("calibration error", percent(honesty.calibration_error)),
        ("… by chance, up to", percent(min(honesty.chance, 1.0))),
    ]
    if facts.task == "classification":
        sentence = (
            f"It claims to be right in {percent(honesty.claimed)} of the cases, and is right in "
            f"{percent(honesty.observed)}."
        )
        if honesty.set_coverage is not None and honesty.set_size is not None:
            figures.append(("90\u00a0% sets hold the true class", percent(honesty.set_coverage)))
            figures.append(("classes in such a set", number(honesty.set_size)))
        label = f"right, where {percent(honesty.claimed)} is claimed"
    else:
        kind = "guaranteed intervals" if honesty.guaranteed else "intervals"
        sentence = f"Its {percent(honesty.claimed)} {kind} hold {percent(honesty.observed)} of the targets."
        if honesty.width is not None:
            figures.append(("mean width of such an interval", number(honesty.width)))
        label = f"covered, where {percent(honesty.claimed)} is claimed"
    if word == _ON_AVERAGE:
        sentence += f" That is so on average only: claims are {percent(honesty.calibration_error)} off, up and down."
    return Card("honest", question, percent(honesty.observed), label, sentence, verdict, word, tuple(figures))


_ON_AVERAGE = "right on average only"


def _verdict(honesty: Honesty, n_rows: int) -> tuple[Verdict, str]:
    """Compare claim and outcome, as a whole and claim by claim; two standard errors are left to chance."""
    if too_few(n_rows):
        return _TOO_FEW
    share = min(max(honesty.claimed, 0.01), 0.99)
    tolerance = max(_LEAST_TOLERANCE, CLEAR * float(np.sqrt(share * (1.0 - share) / n_rows)))
    gap = honesty.observed - honesty.claimed
    if gap < -tolerance:
        return "care", "too sure of itself"
    if gap > tolerance:
        return "none", "more careful than need be"
    if honesty.calibration_error > _LEAST_TOLERANCE + honesty.chance:
        return "care", _ON_AVERAGE
    return "good", "says what it knows"


def _handover(facts: Facts) -> Card:
    question = "When should it hand over?"
    whole, chosen = facts.kept[0], next(kept for kept in facts.kept if kept.asked == _HANDED_OVER)
    if too_few(facts.n_rows):
        sentence = f"{count(facts.n_rows, 'row')} cannot show where to draw the line; give {FEWEST_ROWS} or more."
        return Card("handover", question, "–", "too few rows", sentence, *_TOO_FEW)
    line = threshold_text(facts, chosen.threshold)
    if whole.error is None:
        root = "" if facts.unit == "nats" else "the root of "
        sentence = (
            f"Hand over the cases where {root}{facts.deciding} uncertainty is {line} or more: the least sure "
            f"{_handed(chosen)}. What that saves is not known without targets."
        )
        return Card("handover", question, line, f"{root}{facts.deciding} uncertainty", sentence)
    if chosen.error is None:
        sentence = "Its cases are all equally uncertain, so it cannot say which of them to hand over."
        return Card("handover", question, "–", "no case stands out", sentence, "care", "cannot say")
    sentence, verdict, word = _saved(facts, whole, chosen)
    label = f"error that remains in the surest {_share(chosen)}"
    return Card("handover", question, error_text(facts, chosen.error), label, sentence, verdict, word)


def _saved(facts: Facts, whole: Kept, chosen: Kept) -> tuple[str, Verdict, str]:
    before, after = whole.error or 0.0, chosen.error or 0.0
    handed = _handed(chosen)
    if whole.error == 0.0:
        return "It made no error on these cases, so there is nothing to hand over for.", "good", "no errors"
    if after < before:
        sentence = (
            f"Hand the least sure {handed} to a person, and the error of the rest falls from "
            f"{error_text(facts, before)} to {error_text(facts, after)}."
        )
    else:
        sentence = (
            f"Handing over the least sure {handed} leaves an error of {error_text(facts, after)}, where it was "
            f"{error_text(facts, before)}."
        )
    if facts.finds is None:
        return f"{sentence} So few errors could be chance.", "none", "too few errors to judge"
    if facts.finds > CLEAR:
        if after < before:
            return sentence, "good", "knows when it is unsure"
        return f"{sentence} Elsewhere its doubt does go with its errors.", "none", "not where it is least sure"
    if facts.n_rows < _ENOUGH_ROWS:
        return f"{sentence} So few rows cannot tell whether its doubt finds its errors.", "none", _TOO_FEW[1]
    return f"{sentence} Its doubt does not go with its errors beyond chance.", "care", "does not find its errors"


def _share(kept: Kept) -> str:
    """Return the share kept: as it was asked for, unless ties make it another."""
    return percent(kept.asked if abs(kept.share - kept.asked) < _NEARLY else kept.share)


def _handed(kept: Kept) -> str:
    share = kept.asked if abs(kept.share - kept.asked) < _NEARLY else kept.share
    return percent(round(1.0 - share, 9))
