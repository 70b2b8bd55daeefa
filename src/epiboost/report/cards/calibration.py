"""The card on calibration."""

from epiboost.report.cards.card import Card
from epiboost.report.facts import Calibration, Facts
from epiboost.report.formatting import number, percent
from epiboost.report.verdicts import CALIBRATED_ON_AVERAGE, NEARLY_CALIBRATED, calibration_verdict

_KEY, _QUESTION = "calibration", "Is it calibrated?"


def calibration_card(facts: Facts) -> Card:
    """Return nominal and observed frequencies."""
    calibration = facts.calibration
    if calibration is None:
        reason = "No targets were given, so calibration cannot be measured."
        if facts.quality is not None:
            reason = "Its members predict a mean without a variance, so there are no intervals to check."
        return Card(_KEY, _QUESTION, "–", "not known", reason)
    nominal, observed = percent(calibration.nominal), percent(calibration.observed)
    if facts.task == "classification":
        sentence = f"Its mean confidence is {nominal}, and {observed} of its predictions are correct."
        label = f"correct, at a mean confidence of {nominal}"
    else:
        kind = "guaranteed prediction intervals" if calibration.guaranteed else "prediction intervals"
        sentence = f"Its {nominal} {kind} contain {observed} of the targets."
        label = f"coverage of {nominal} intervals"
    verdict = calibration_verdict(calibration, facts.n_rows)
    if verdict == CALIBRATED_ON_AVERAGE:
        sentence += f" This holds on average only: the calibration error is {percent(calibration.error)}."
    elif verdict == NEARLY_CALIBRATED:
        sentence += " The difference is more than chance explains, but small."
    return Card(_KEY, _QUESTION, observed, label, sentence, verdict, _details(calibration))


def _details(calibration: Calibration) -> tuple[tuple[str, str], ...]:
    details = [
        ("difference on average", percent(abs(calibration.observed - calibration.nominal))),
        ("… by chance, up to", percent(calibration.gap_by_chance)),
        ("calibration error", percent(calibration.error)),
        ("… by chance, up to", percent(min(calibration.error_by_chance, 1.0))),
    ]
    if calibration.set_coverage is not None and calibration.set_size is not None:
        details.append(("coverage of 90\u00a0% prediction sets", percent(calibration.set_coverage)))
        details.append(("mean number of classes per set", number(calibration.set_size)))
    if calibration.width is not None:
        details.append(("mean width of these intervals", number(calibration.width)))
    return tuple(details)
