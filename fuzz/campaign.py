"""Campaigns: numbered cases, each generated from a seed and its number alone."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

# Modules that hold a CAMPAIGN.
CAMPAIGNS = ("fuzz.extremes", "fuzz.model_files", "fuzz.odd_tables", "fuzz.public_calls")


@dataclass(frozen=True)
class Campaign:
    """A check of random cases.

    Attributes
    ----------
    check
        Takes a random generator and an empty folder, builds one case from the generator and checks it. Whatever it
        raises is a finding; so are the end of its process and a case that takes more than `seconds`.
    short, usual, long
        Number of cases in ``make test``, in ``make fuzz`` and in ``make fuzz FORM=long``.
    seconds
        Time limit of one case.
    """

    check: Callable[[np.random.Generator, Path], None]
    short: int
    usual: int
    long: int
    seconds: float = 60.0

    def cases(self, form: str) -> int:
        """Return the number of cases of a form: "short", "usual" or "long"."""
        return {"short": self.short, "usual": self.usual, "long": self.long}[form]


def load_campaign(module: str) -> Campaign:
    """Return the campaign that a module holds."""
    campaign = import_module(module).CAMPAIGN
    if not isinstance(campaign, Campaign):
        fault = f"{module}.CAMPAIGN is no Campaign"
        raise TypeError(fault)
    return campaign
