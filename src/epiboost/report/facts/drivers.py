"""Features that drive the uncertainty."""

from dataclasses import dataclass

from epiboost._posterior.uncertainty import Measure


@dataclass(frozen=True, slots=True)
class Driver:
    """Features that drive one measure of uncertainty.

    Attributes
    ----------
    other : bool
        Whether the rows of the other table are explained, compared with the rows of this table.
    measure : {"data", "knowledge"}
    names : tuple of str
        Features, most important first.
    shares : tuple of float
        Share of each feature in the sum of all mean absolute Shapley values.
    n_hidden : int
        Number of features that are not listed.
    """

    other: bool
    measure: Measure
    names: tuple[str, ...]
    shares: tuple[float, ...]
    n_hidden: int

    @property
    def pairs(self) -> tuple[tuple[str, float], ...]:
        """Names with their shares."""
        return tuple(zip(self.names, self.shares, strict=True))
