"""Size of a measurement."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Effort:
    """Size of a measurement: number of rounds, and whether fewer trees are trained."""

    repeats: int
    quick: bool

    def trees(self, full: int, quick: int) -> int:
        """Return the number of trees."""
        return quick if self.quick else full

    @property
    def predictions(self) -> int:
        """Number of rounds of predictions: they are short, and more rounds make the median stable."""
        return 3 * self.repeats
