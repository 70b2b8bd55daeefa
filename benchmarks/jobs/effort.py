"""Size of a measurement."""

from dataclasses import dataclass

from epiboost._native import instruction_set


@dataclass(frozen=True, slots=True)
class Effort:
    """Size of a measurement.

    Attributes
    ----------
    repeats : int
        Number of rounds.
    quick : bool
        Whether fewer trees are trained.
    sets : tuple of str
        Instruction sets that the jobs of `BY_SET` measure.
    """

    repeats: int
    quick: bool
    sets: tuple[str, ...]

    def trees(self, full: int, quick: int) -> int:
        """Return the number of trees."""
        return quick if self.quick else full

    @property
    def predictions(self) -> int:
        """Number of rounds of predictions: they are short, and more rounds make the median stable."""
        return 3 * self.repeats

    @property
    def usual_set(self) -> tuple[str, ...]:
        """The set in use if it is measured: jobs that are not by set, and parts of jobs, run on it alone."""
        return tuple(name for name in self.sets if name == instruction_set())
