"""A card of the first screen: a question, a number, a sentence, and a verdict if there is one to give."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal["good", "care", "none"]
"""Whether an answer reassures, calls for care, or says nothing of the kind."""


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
