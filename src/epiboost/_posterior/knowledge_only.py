"""The uncertainty of members that predict a mean without a variance: only the knowledge part is defined.

>>> import numpy as np
>>> uncertainty = KnowledgeOnly(np.array([0.5, 0.0]))
>>> uncertainty
KnowledgeOnly(2 samples, in variance; median: knowledge=0.25)
>>> uncertainty.data
Traceback (most recent call last):
...
ValueError: data uncertainty is not known: the members predict a mean without a variance, as a random forest or a \
booster with squared loss does; use knowledge uncertainty, or a model that predicts a variance
"""

from typing import NoReturn

import numpy as np

from epiboost._posterior.frames import check_index
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import Floats, LibraryObject

MEAN_ALONE = "predict a mean without a variance, as a random forest or a booster with squared loss does"
"""What such members do, for error texts."""


class KnowledgeOnly(Uncertainty):
    """Knowledge uncertainty of each sample, for a model without data uncertainty.

    Parameters
    ----------
    knowledge : array of shape (samples,)
        Variance of the members' means.
    novelty : array of shape (samples,), optional
    index : pandas.Index, optional

    Raises
    ------
    ValueError
        When ``data`` or ``total`` is read.
    """

    __slots__ = ()

    def __init__(self, knowledge: Floats, novelty: Floats | None = None, index: LibraryObject = None) -> None:
        object.__setattr__(self, "knowledge", np.asarray(knowledge, dtype=np.float64))
        object.__setattr__(self, "unit", "variance")
        object.__setattr__(self, "novelty", novelty)
        check_index(index, len(self.knowledge))
        object.__setattr__(self, "index", index)

    def __reduce__(self) -> tuple[type, tuple[Floats, Floats | None, LibraryObject]]:
        """Pickle knowledge uncertainty, novelty and index alone; the other parts cannot be read."""
        return KnowledgeOnly, (self.knowledge, self.novelty, self.index)

    def with_novelty(self, novelty: Floats) -> "KnowledgeOnly":
        """Return the same with the novelty of each sample, shape (samples,)."""
        return KnowledgeOnly(self.knowledge, novelty, self.index)

    @property
    def data(self) -> Floats:
        """Not defined; raises a ValueError."""
        _raise_not_known("data")

    @property
    def total(self) -> Floats:
        """Not defined; raises a ValueError."""
        _raise_not_known("total")

    def columns(self) -> dict[str, Floats]:
        """Return knowledge uncertainty, and novelty if it was measured."""
        return {"knowledge": self.knowledge, **({} if self.novelty is None else {"novelty": self.novelty})}


def _raise_not_known(part: str) -> NoReturn:
    message = (
        f"{part} uncertainty is not known: the members {MEAN_ALONE}; use knowledge uncertainty, or a model that "
        "predicts a variance"
    )
    raise ValueError(message)
