"""Three classes or more: the softmax cross-entropy.

>>> import numpy as np
>>> Categorical((0.0, 0.0, 0.0)).gradient(np.zeros((1, 3)), np.array([2.0])).round(2)
array([[ 0.33,  0.33, -0.67]])
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import logsumexp, softmax

from epiboost._boosting.objectives.base import Objective
from epiboost._boosting.objectives.offset_start import scores_beside
from epiboost._typing import Family, Floats


@dataclass(frozen=True, slots=True)
class Categorical(Objective):
    """Three classes or more; one score per class, of which the softmax is taken.

    Attributes
    ----------
    log_shares : tuple of float
        Logarithm of each class's share of the training rows, or what is added to the offsets.
    shares : tuple of float or None
        Logarithm of each class's share of the training rows beside an offset; None without one.
    """

    log_shares: tuple[float, ...]
    shares: tuple[float, ...] | None = field(default=None, repr=False)

    name: ClassVar[str] = "categorical"
    family: ClassVar[Family] = "categorical"

    @classmethod
    def of(cls, y: Floats, weight: Floats, n_classes: int = 0, settings: tuple[float, ...] = ()) -> Self:
        """Return the objective that starts from the weighted shares of the classes."""
        shares = np.bincount(y.astype(np.int64), weights=weight, minlength=n_classes) / weight.sum()
        return cls(tuple(np.log(np.maximum(shares, np.finfo(np.float64).tiny)).tolist()))

    @property
    def code(self) -> int:
        """The number in the native core."""
        return 2

    @property
    def start(self) -> Floats:
        """Scores before the first tree, shape (classes,)."""
        return np.array(self.log_shares)

    @property
    def curvature(self) -> float:
        """Sum of p (1 − p) over the shares p of the K classes, divided by K − 1.

        K scores with a fixed sum have K − 1 degrees of freedom.
        """
        shares = np.exp(self.log_shares if self.shares is None else self.shares)
        return float((shares * (1.0 - shares)).sum() / (len(shares) - 1))

    def beside(self, offset: Floats, y: Floats, weight: Floats) -> Self:
        """Return the objective of rows with an offset, shape (n, classes), to their scores."""
        return type(self)(tuple(scores_beside(offset, y, weight).tolist()), self.log_shares)

    def gradient(self, scores: Floats, y: Floats, correction: Floats | float = 0.0) -> Floats:
        """Return p − onehot(y), shape (n, classes)."""
        gradient: Floats = softmax(scores, axis=1)
        gradient[np.arange(len(y)), y.astype(np.int64)] -= 1.0
        return gradient

    def parameters(self, scores: Floats) -> Floats:
        """Return class probabilities, shape (n, classes)."""
        probabilities: Floats = softmax(scores, axis=1)
        return probabilities

    def row_losses(self, scores: Floats, y: Floats) -> Floats:
        """Return the negative log probability of each label, shape (n,)."""
        losses: Floats = logsumexp(scores, axis=1) - scores[np.arange(len(y)), y.astype(np.int64)]
        return losses

    def to_header(self) -> dict[str, Any]:
        """Return name and log shares."""
        header: dict[str, Any] = {"name": self.name, "log_shares": list(self.log_shares)}
        return header if self.shares is None else {**header, "shares": list(self.shares)}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        """Return the objective that `to_header` described."""
        shares = tuple(float(value) for value in header["shares"]) if "shares" in header else None
        return cls(tuple(float(value) for value in header["log_shares"]), shares)
