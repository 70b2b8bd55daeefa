"""Two classes: the logistic loss on the log-odds of the second class.

>>> import numpy as np
>>> Bernoulli(0.0).parameters(np.zeros((1, 1)))
array([[0.5, 0.5]])
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit, log_expit

from epiboost._boosting.objectives.base import Objective
from epiboost._boosting.objectives.offset_start import log_odds_beside
from epiboost._typing import Family, Floats

_MIN_SHARE = 1e-15  # of a class whose rows weigh next to nothing


@dataclass(frozen=True, slots=True)
class Bernoulli(Objective):
    """Two classes; the one score is the log-odds of the second.

    Attributes
    ----------
    log_odds : float
        Log-odds of the second class in the training rows, or what is added to the offsets.
    share : float or None
        Log-odds of the second class in the training rows beside an offset; None without one.
    """

    log_odds: float
    share: float | None = field(default=None, repr=False)

    name: ClassVar[str] = "bernoulli"
    family: ClassVar[Family] = "categorical"

    @classmethod
    def of(cls, y: Floats, weight: Floats, n_classes: int = 0, settings: tuple[float, ...] = ()) -> Self:
        """Return the objective that starts from the weighted share of the second class."""
        share = min(max(float(weight[y > 0].sum() / weight.sum()), _MIN_SHARE), 1.0 - _MIN_SHARE)
        return cls(float(np.log(share) - np.log1p(-share)))

    @property
    def code(self) -> int:
        """The number in the native core."""
        return 1

    @property
    def start(self) -> Floats:
        """Score before the first tree, shape (1,)."""
        return np.array([self.log_odds])

    @property
    def curvature(self) -> float:
        """Variance p (1 − p) for the share p of the second class."""
        return float(0.25 / np.cosh(0.5 * (self.log_odds if self.share is None else self.share)) ** 2)

    def beside(self, offset: Floats, y: Floats, weight: Floats) -> Self:
        """Return the objective of rows with an offset, shape (n,), to their log-odds."""
        return type(self)(log_odds_beside(offset, y, weight), self.log_odds)

    def gradient(self, scores: Floats, y: Floats, correction: Floats | float = 0.0) -> Floats:
        """Return p − y, shape (n, 1)."""
        gradient: Floats = expit(scores) - y[:, np.newaxis]
        return gradient

    def parameters(self, scores: Floats) -> Floats:
        """Return the probabilities of both classes, shape (n, 2)."""
        return np.concatenate([expit(-scores), expit(scores)], axis=1)

    def row_losses(self, scores: Floats, y: Floats) -> Floats:
        """Return the negative log probability of each label, shape (n,)."""
        losses: Floats = -log_expit(np.where(y > 0, scores[:, 0], -scores[:, 0]))
        return losses

    def to_header(self) -> dict[str, Any]:
        """Return name and log-odds."""
        header = {"name": self.name, "log_odds": self.log_odds}
        return header if self.share is None else {**header, "share": self.share}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        """Return the objective that `to_header` described."""
        return cls(float(header["log_odds"]), float(header["share"]) if "share" in header else None)
