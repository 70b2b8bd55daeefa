"""Random numbers with two targets, and the cards of a report on them."""

import numpy as np

from epiboost.report.cards import make_cards
from epiboost.report.collect import collect_facts
from epiboost.report.facts import Calibration

SMALL = {"n_members": 3, "n_estimators": 50, "n_jobs": 1, "random_state": 0}
_RANDOM = np.random.default_rng(0)
A = _RANDOM.normal(size=(900, 4))
Y = A[:, 0] + 2 * A[:, 1] + 0.3 * _RANDOM.normal(size=900)
GRADE = np.where(Y > 0, "high", "low")


def cards(model, X, y=None, *, X_ood=None):
    """Return the four cards of a report by their keys."""
    return {card.key: card for card in make_cards(collect_facts(model, X, y, X_ood, explain=False))}


def calibration(**changes):
    """Return calibration without any difference between nominal and observed frequencies, with changes."""
    values = {"nominal": 0.8, "observed": 0.8, "error": 0.0, "error_by_chance": 0.05, "gap_by_chance": 0.05}
    return Calibration(**{**values, **changes}, width=None, set_size=None, set_coverage=None, guaranteed=False)
