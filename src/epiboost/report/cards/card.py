"""One card of the first screen."""

from dataclasses import dataclass

from epiboost.report.verdicts import NO_VERDICT, Verdict


@dataclass(frozen=True, slots=True)
class Card:
    """One card of the first screen.

    Attributes
    ----------
    key : str
        Identifies the card on the page.
    question : str
    number : str
        The main number.
    label : str
        Meaning of the number.
    sentence : str
    verdict : Verdict
    details : tuple of (str, str)
        More numbers, by name.
    """

    key: str
    question: str
    number: str
    label: str
    sentence: str
    verdict: Verdict = NO_VERDICT
    details: tuple[tuple[str, str], ...] = ()
