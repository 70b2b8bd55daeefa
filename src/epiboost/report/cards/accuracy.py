"""The card on accuracy."""

from epiboost.report.cards.card import Card
from epiboost.report.cards.texts import error_text
from epiboost.report.facts import Facts, Quality
from epiboost.report.formatting import count, number, percent
from epiboost.report.verdicts import BETTER_PROBABILITIES, accuracy_verdict

_KEY, _QUESTION = "accuracy", "How accurate is it?"


def accuracy_card(facts: Facts) -> Card:
    """Return the error of the model beside that of the baseline."""
    quality = facts.quality
    if quality is None:
        return Card(_KEY, _QUESTION, "–", "no targets", "No targets were given, so its errors cannot be measured.")
    verdict = accuracy_verdict(quality, facts.n_rows)
    sentence = _comparison(facts, quality)
    if quality.constant_target:
        sentence += f" All targets of this table are equal ({quality.constant_target}), so this says little."
    elif verdict == BETTER_PROBABILITIES:
        sentence += " Its probabilities are better than the class frequencies; its labels are not."
    label = "wrong predictions" if facts.task == "classification" else "root mean squared error"
    return Card(_KEY, _QUESTION, error_text(facts, quality.error), label, sentence, verdict, _details(quality))


def _comparison(facts: Facts, quality: Quality) -> str:
    rows = count(facts.n_rows, "row")
    if facts.task == "classification":
        return (
            f"It is wrong for {percent(quality.error)} of {rows}; always predicting the most frequent class would be "
            f"wrong for {percent(quality.baseline)}."
        )
    return (
        f"Its root mean squared error on {rows} is {number(quality.error)}; always predicting the mean would have "
        f"{number(quality.baseline)}."
    )


def _details(quality: Quality) -> tuple[tuple[str, str], ...]:
    details = [
        (name, number(loss) if baseline is None else f"{number(loss)}, baseline {number(baseline)}")
        for (name, loss), baseline in zip(quality.losses, quality.baseline_losses, strict=True)
    ]
    if quality.gain is not None:
        details.append(("gain over the baseline, in standard errors", f"{quality.gain:.1f}"))
    if quality.likelihood_gain is not None:
        details.append(("… of the likelihood", f"{quality.likelihood_gain:.1f}"))
    return tuple(details)
