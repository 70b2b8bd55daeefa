"""The verdicts on the first screen: their rules and thresholds.

Accuracy, calibration and abstention are judged here, out-of-domain rows in `epiboost.report.ood_verdict`. The cards
(`epiboost.report.cards`) only put a verdict into sentences. Each verdict compares the number beside it with what chance
gives at this number of rows (`epiboost.report.significance`). It is 'good' only if the number is on the good side of
that; 'care' also needs a difference that matters. With fewer than 20 rows there is none.
"""

from typing import Literal, NamedTuple, TypeAlias

from epiboost.report.facts import AbstentionLevel, Calibration, Facts, Quality
from epiboost.report.significance import CLEAR, RELEVANT, too_few

Level: TypeAlias = Literal["good", "care", "none"]
"""Whether a result is reassuring, calls for care, or neither."""


class Verdict(NamedTuple):
    """A verdict and its text; empty if there is nothing to judge."""

    level: Level
    text: str


NO_VERDICT = Verdict("none", "")
TOO_FEW_ROWS = Verdict("none", "too few rows to judge")

BETTER = Verdict("good", "better than the baseline")
BETTER_PROBABILITIES = Verdict("good", "better probabilities than the baseline")
NOT_BETTER = Verdict("care", "not clearly better than the baseline")
WORSE = Verdict("care", "worse than the baseline")
CONSTANT_TARGET = Verdict("none", "constant target")

CALIBRATED = Verdict("good", "well calibrated")
NEARLY_CALIBRATED = Verdict("none", "nearly calibrated")
CALIBRATED_ON_AVERAGE = Verdict("care", "calibrated on average only")
OVERCONFIDENT = Verdict("care", "overconfident")
UNDERCONFIDENT = Verdict("none", "underconfident")

DETECTS_ERRORS = Verdict("good", "uncertainty detects errors")
NO_CLEAR_GAIN = Verdict("none", "no clear gain")
DOES_NOT_DETECT_ERRORS = Verdict("care", "uncertainty does not detect errors")
EQUAL_UNCERTAINTY = Verdict("care", "all rows equally uncertain")
NO_ERRORS = Verdict("good", "no errors")
TOO_FEW_ERRORS = Verdict("none", "too few errors to judge")

RECOMMENDED_COVERAGE = 0.9
"""The coverage that the abstention card recommends and judges."""
_MIN_ROWS_FOR_CORRELATION = 100


def accuracy_verdict(quality: Quality, n_rows: int) -> Verdict:
    """Compare the model with the baseline: by its errors first, then by its probabilities."""
    if too_few(n_rows):
        return TOO_FEW_ROWS
    if quality.constant_target:
        return CONSTANT_TARGET
    if quality.gain is not None and quality.gain > CLEAR:
        return BETTER
    if quality.gain is not None and quality.gain < -CLEAR:
        return WORSE
    if quality.likelihood_gain is not None and quality.likelihood_gain > CLEAR:
        return BETTER_PROBABILITIES
    return NOT_BETTER


def calibration_verdict(calibration: Calibration, n_rows: int) -> Verdict:
    """Compare nominal and observed frequencies: over all rows first, then along the reliability curve.

    Well calibrated is a model of which chance explains both the difference over all rows and the calibration error. If
    it does not, but both are at most two percentage points, the model is nearly calibrated.
    """
    if too_few(n_rows):
        return TOO_FEW_ROWS
    gap = calibration.observed - calibration.nominal
    if gap < -max(RELEVANT, calibration.gap_by_chance):
        return OVERCONFIDENT
    if gap > max(RELEVANT, calibration.gap_by_chance):
        return UNDERCONFIDENT
    if calibration.error > max(RELEVANT, calibration.error_by_chance):
        return CALIBRATED_ON_AVERAGE
    if abs(gap) > calibration.gap_by_chance or calibration.error > calibration.error_by_chance:
        return NEARLY_CALIBRATED
    return CALIBRATED


def abstention_verdict(facts: Facts) -> Verdict:
    """Judge whether uncertainty detects errors, and whether the error falls clearly at the recommended coverage."""
    error, accepted = facts.abstention[0].error, recommended_level(facts)
    if too_few(facts.n_rows):
        return TOO_FEW_ROWS
    if error is None:
        return NO_VERDICT
    if accepted.error is None or accepted.error_by_chance is None:
        return EQUAL_UNCERTAINTY
    if error == 0.0:
        return NO_ERRORS
    return _error_detection_verdict(facts, clear_gain=accepted.error < accepted.error_by_chance)


def _error_detection_verdict(facts: Facts, *, clear_gain: bool) -> Verdict:
    if facts.error_detection is None:
        return TOO_FEW_ERRORS
    if facts.error_detection > CLEAR:
        return DETECTS_ERRORS if clear_gain else NO_CLEAR_GAIN
    return TOO_FEW_ROWS if facts.n_rows < _MIN_ROWS_FOR_CORRELATION else DOES_NOT_DETECT_ERRORS


def recommended_level(facts: Facts) -> AbstentionLevel:
    """Return the abstention level that is recommended."""
    return next(level for level in facts.abstention if level.target_coverage == RECOMMENDED_COVERAGE)
