"""The four cards of the first screen: each a question, a number, a verdict and a sentence."""

from epiboost.report.cards.abstention import abstention_card
from epiboost.report.cards.accuracy import accuracy_card
from epiboost.report.cards.calibration import calibration_card
from epiboost.report.cards.card import Card
from epiboost.report.cards.out_of_domain import out_of_domain_card
from epiboost.report.facts import Facts

__all__ = ["Card", "make_cards"]


def make_cards(facts: Facts) -> tuple[Card, ...]:
    """Return the four cards, in the order of the page."""
    return accuracy_card(facts), calibration_card(facts), abstention_card(facts), out_of_domain_card(facts)
