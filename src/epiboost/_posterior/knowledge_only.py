"""Knowledge uncertainty alone: what members that predict nothing but a mean can tell.

>>> import numpy as np
>>> known = KnowledgeOnly(np.array([0.5, 0.0]))
>>> known
KnowledgeOnly(2 samples, in variance; mean: knowledge=0.25)
>>> known.data
Traceback (most recent call last):
...
ValueError: data uncertainty is not known: the members predict a mean and no spread around it, as a random forest or a \
booster of squared errors does; knowledge uncertainty is all they tell
"""

from collections.abc import Sized
from typing import NoReturn, get_args

import narwhals as nw
import numpy as np

from epiboost._optional import require
from epiboost._posterior.uncertainty import Frame, FrameBackend, Uncertainty
from epiboost._typing import Floats


class KnowledgeOnly(Uncertainty):
    """How much the members of a model without data uncertainty disagree on each sample.

    Parameters
    ----------
    knowledge : array of shape (samples,)
        Variance of the members' means.

    Raises
    ------
    ValueError
        When asked for ``data`` or ``total``, which such members do not know.
    """

    __slots__ = ()

    def __init__(self, knowledge: Floats) -> None:
        object.__setattr__(self, "knowledge", np.asarray(knowledge, dtype=np.float64))
        object.__setattr__(self, "unit", "variance")

    def __reduce__(self) -> tuple[type, tuple[Floats]]:
        """Let it be pickled by what it has."""
        return KnowledgeOnly, (self.knowledge,)

    @property
    def data(self) -> Floats:
        """Say why there is none."""
        _refuse("data")

    @property
    def total(self) -> Floats:
        """Say why there is none."""
        _refuse("total")

    def __len__(self) -> int:
        """Return the number of samples."""
        knowledge: Sized = self.knowledge
        return len(knowledge)

    def __repr__(self) -> str:
        """Say how many samples there are and how unsure they are on average."""
        mean = self.knowledge.mean() if len(self) else float("nan")
        return f"KnowledgeOnly({len(self)} samples, in variance; mean: knowledge={mean:.4g})"

    def to_frame(self, backend: FrameBackend = "pandas") -> Frame:
        """Give the one column as a data frame, one row a sample."""
        if backend not in get_args(FrameBackend):
            message = f"backend must be one of {get_args(FrameBackend)}, got {backend!r}"
            raise ValueError(message)
        require(backend, extra="frames", purpose=f"to_frame(backend={backend!r})")
        return nw.from_dict({"knowledge": self.knowledge}, backend=backend).to_native()


def _refuse(part: str) -> NoReturn:
    message = (
        f"{part} uncertainty is not known: the members predict a mean and no spread around it, as a random forest or a "
        "booster of squared errors does; knowledge uncertainty is all they tell"
    )
    raise ValueError(message)
