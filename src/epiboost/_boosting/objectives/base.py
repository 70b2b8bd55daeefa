"""The base class of objectives: losses that trees are fitted to by their gradient.

Trees add up to a raw score F(x) with one number per output (section 2 of the paper, equations 7 to 10). An objective
defines what a score means: the start value, which is never shrunk, the units of the target, the gradient of the loss,
the distribution parameters and the loss itself. The native core has the same formulas in C++ (objective.hpp,
predictor.cpp); those here serve every engine that leaves them to us.

A new family is a file with a subclass of `Objective` and one entry in `families`.
"""

import abc
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from epiboost._typing import Family, Floats


class Objective(abc.ABC):
    """A loss on raw scores of shape (n, outputs).

    Attributes
    ----------
    name : str
        The name in model files.
    family : str
        What `parameters` returns, see `Family`.
    """

    __slots__ = ()

    name: ClassVar[str]
    family: ClassVar[Family]

    @property
    @abc.abstractmethod
    def code(self) -> int:
        """The number of the objective in the native core."""

    @property
    @abc.abstractmethod
    def start(self) -> Floats:
        """Score before the first tree, shape (outputs,)."""

    @property
    @abc.abstractmethod
    def curvature(self) -> float:
        """Derivative of the gradient by the score at the start; learning rates are divided by it."""

    @property
    def constants(self) -> tuple[float, ...]:
        """Numbers that are the same for all rows, beside the start."""
        return ()

    @property
    def units(self) -> tuple[float, float]:
        """Location and scale of the target; (0, 1) for probabilities, which have no units."""
        return 0.0, 1.0

    def encode(self, y: Floats) -> Floats:
        """Return targets in the units of the score, shape (n,); class numbers stay as they are."""
        return y

    def expected(self, y: Floats) -> Floats:
        """Return one encoded number per target, shape (n,): of one that is not known, what is expected of it."""
        return self.encode(y)

    @abc.abstractmethod
    def gradient(self, scores: Floats, y: Floats, correction: Floats | float = 0.0) -> Floats:
        """Return the gradient of the loss by the score.

        Parameters
        ----------
        scores : array of shape (n, outputs)
        y : array of shape (n,)
            Encoded targets.
        correction : array of shape (n,), optional
            Added to the residuals from which a Normal learns its standard deviation, and another family its
            dispersion, see `variance_guard`. Classes ignore it.

        Returns
        -------
        array of shape (n, outputs)
        """

    def noise_scale(self, scores: Floats) -> Floats:
        """Return the scale of the Langevin noise on each gradient, shape (n, outputs) or one that broadcasts to it.

        A natural gradient is G⁻¹ times the gradient, G the Fisher information; its noise is scaled by G^(−½).
        """
        return np.ones((1, scores.shape[1]))

    @abc.abstractmethod
    def parameters(self, scores: Floats) -> Floats:
        """Return the parameters of the distribution in the units of the target, shape (n, parameters)."""

    def bounded(self, parameters: Floats) -> Floats:
        """Return predicted parameters of which none is far beyond what the target can have; most families need none."""
        return parameters

    def of_core(self, outputs: Floats) -> Floats:
        """Return the parameters for what the native core predicts, shape (members, n, outputs).

        The core turns the scores of a Normal and of classes into parameters itself, and returns those of others.
        """
        return outputs

    @abc.abstractmethod
    def row_losses(self, scores: Floats, y: Floats) -> Floats:
        """Return the negative log-likelihood of each encoded target, shape (n,)."""

    def loss(self, scores: Floats, y: Floats, weight: Floats) -> float:
        """Return the weighted mean negative log-likelihood in the units of the target (equation 10)."""
        losses = self.row_losses(scores, y)
        return float((weight * losses).sum() / weight.sum() + np.log(self.units[1]))

    def loss_shift(self, y: Floats, weight: Floats) -> float:
        """Return the mean loss of encoded rows in the units of the target, less that which the native core measures."""
        return float(np.log(self.units[1]))

    @classmethod
    @abc.abstractmethod
    def of(cls, y: Floats, weight: Floats, n_classes: int = 0, settings: tuple[float, ...] = ()) -> Self:
        """Return the objective of a weighted target; classes are numbered from 0.

        The ``settings`` are numbers that all chains of a model share, whatever rows they see; see `NumberObjective`.
        """

    def beside(self, offset: Floats, y: Floats, weight: Floats) -> Self:
        """Return the objective of classes whose scores have a known part, the offset.

        Parameters
        ----------
        offset : array of shape (n,) for two classes, (n, classes) for more
        y, weight : arrays of shape (n,)
        """
        message = f"{self.name} takes no offset"
        raise TypeError(message)

    @abc.abstractmethod
    def to_header(self) -> dict[str, Any]:
        """Return the name and the numbers that `from_header` needs, for a JSON header."""

    @classmethod
    @abc.abstractmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        """Return the objective that `to_header` described; a ValueError if its numbers are not possible."""
