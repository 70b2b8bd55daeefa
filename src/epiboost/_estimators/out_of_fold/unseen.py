"""What a regression says of training rows by chains that have not seen them."""

from dataclasses import dataclass, replace

from epiboost._display import short_repr
from epiboost._typing import Floats, Integers


@dataclass(frozen=True, slots=True, eq=False)
class UnseenVariance:
    """Mean and variance of a regression at rows that the members have not seen.

    Attributes
    ----------
    mean : array of shape (n,)
        Prediction of each training row by the chain that has not seen it; NaN if there is none.
    data : array of shape (n,)
        Data uncertainty of each training row by the chain that has not seen it; NaN if there is none.
    knowledge : float
        Knowledge uncertainty, averaged over rows.
    """

    mean: Floats
    data: Floats
    knowledge: float

    __repr__ = short_repr

    def of_rows(self, number: Integers) -> "UnseenVariance":
        """Return the same for rows of which these are the distinct ones."""
        return replace(self, mean=self.mean[number], data=self.data[number])

    def total(self, rows: Integers, knowledge: Floats) -> Floats:
        """Return total uncertainty of rows as if the members had not seen them.

        Parameters
        ----------
        rows : array of shape (k,)
            Positions of training rows.
        knowledge : array of shape (k,)
            Their knowledge uncertainty by the members, which have seen them.
        """
        average = float(knowledge.mean())
        factor = self.knowledge / average if average > 0.0 else 0.0
        return self.data[rows] + factor * knowledge
