"""Settings of the paper's experiments.

They come from the appendix of the paper. Where it gives no value, they follow the code that its authors published: the
validation rows of a regression are the last fifth of the training rows in the order of the standard split, a single
model is the first chain of its ensemble, and column j of the out-of-domain rows comes from column j of the source.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Protocol:
    """Settings that all cells of a run share.

    Attributes
    ----------
    n_estimators : int
        Number of trees per chain, and per random forest.
    n_members : int
        Number of chains or forests per ensemble, and of members of a virtual ensemble.
    depths, rates : tuple
        The grid of tree depths and learning rates; the pair of smallest validation loss is used.
    forest_depth : int
        Depth of the trees of a random forest.
    """

    n_estimators: int = 1000
    n_members: int = 10
    depths: tuple[int, ...] = (3, 4, 5, 6)
    rates: tuple[float, ...] = (0.001, 0.01, 0.1)
    forest_depth: int = 10

    def to_json(self) -> dict[str, Any]:
        """Return the settings with lists for tuples, as a JSON file gives them back."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    def matches(self, recorded: Mapping[str, Any]) -> bool:
        """Return whether a cell was run with these settings; one that exists no longer makes it an earlier revision.

        >>> PAPER.matches({**PAPER.to_json(), "largest_temperature": 1.0}), PAPER.matches(QUICK.to_json())
        (True, False)
        """
        return all(name in recorded and recorded[name] == value for name, value in self.to_json().items())


PAPER = Protocol()
QUICK = Protocol(n_estimators=20, n_members=2, depths=(3,), rates=(0.1,), forest_depth=3)
"""Tiny models, to try everything within a minute; the results are meaningless."""

VALIDATION_SHARE = 0.2
TEST_SHARE, CLASS_VALIDATION_SHARE = 0.2, 0.15 / 0.8
SHORT_CHAINS = ((10, 10), (20, 20))
"""Ensembles of the budget table: number of members, and the factor that divides the trees and multiplies the rate."""

LARGEST_RATE = 1.0
"""Upper bound of the learning rate of short chains; above one every step overshoots."""

SIGNIFICANCE = 0.05
"""A method whose p-value against the best method is above this is not significantly worse."""
