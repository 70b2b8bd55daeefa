"""The histogram as a family: the classes that its bins are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from epiboost._boosting.objectives.categorical import Categorical
from epiboost._boosting.objectives.distribution import Distribution
from epiboost._boosting.objectives.histogram.distribution import HistogramDistribution
from epiboost._boosting.objectives.histogram.edges import inner_edges, tail_scales
from epiboost._boosting.objectives.number_objective import NumberObjective
from epiboost._typing import Family, Floats


@dataclass(frozen=True, slots=True)
class Histogram(NumberObjective):
    """A histogram; scores are log probabilities of bins, up to a constant.

    Attributes
    ----------
    settings : tuple of float
        See `HistogramDistribution`.
    log_shares : tuple of float
        Logarithm of each bin's share of the training rows.
    """

    settings: tuple[float, ...]
    log_shares: tuple[float, ...]

    name: ClassVar[str] = "histogram"
    family: ClassVar[Family] = "histogram"
    distribution_type: ClassVar[type[Distribution]] = HistogramDistribution

    @property
    def distribution(self) -> HistogramDistribution:
        """The distribution with its bins."""
        return HistogramDistribution.of(self.settings)

    @classmethod
    def settings_for(cls, y: Floats, weight: Floats) -> tuple[float, ...]:
        """Return the scales of the tails and the edges of the bins."""
        edges = inner_edges(y, weight)
        return (*tail_scales(y, weight, edges), *edges.tolist())

    @classmethod
    def of(cls, y: Floats, weight: Floats, n_classes: int = 0, settings: tuple[float, ...] = ()) -> Self:
        """Return the objective that starts from the weighted shares of the bins."""
        distribution = HistogramDistribution.of(settings or cls.settings_for(y, weight))
        sums = np.bincount(distribution.bins(y), weights=weight, minlength=distribution.n_parameters)
        shares = np.maximum(sums, 0.5) / np.maximum(sums, 0.5).sum()
        return cls(distribution.settings, tuple(np.log(shares).tolist()))

    @property
    def code(self) -> int:
        """That of classes."""
        return self._classes.code

    @property
    def curvature(self) -> float:
        """That of classes."""
        return self._classes.curvature

    @property
    def start(self) -> Floats:
        """Logarithms of the shares."""
        return np.array(self.log_shares)

    def encode(self, y: Floats) -> Floats:
        """Return the number of each target's bin."""
        return self.distribution.bins(y).astype(np.float64)

    def decode(self, encoded: Floats) -> Floats:
        """Return the mean of each bin."""
        return self.distribution.middles(encoded.astype(np.int64))

    def gradient(self, scores: Floats, y: Floats, correction: Floats | float = 0.0) -> Floats:
        """Return p − onehot(bin), shape (n, bins)."""
        return self._classes.gradient(scores, y)

    def parameters(self, scores: Floats) -> Floats:
        """Return the probability of each bin, shape (n, bins)."""
        return self._classes.parameters(scores)

    def loss_shift(self, y: Floats, weight: Floats) -> float:
        """Return the mean entropy inside the bins of encoded targets, exact but for the tails."""
        return float(np.average(self.distribution.entropy_within(y.astype(np.int64)), weights=weight))

    def of_core(self, outputs: Floats) -> Floats:
        """Return the probabilities that the native core predicts."""
        return outputs

    def to_header(self) -> dict[str, Any]:
        """Return name, settings and start."""
        return {"name": self.name, "settings": list(self.settings), "log_shares": list(self.log_shares)}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        """Return the objective that `to_header` described."""
        settings, log_shares = (tuple(float(value) for value in header[key]) for key in ("settings", "log_shares"))
        if HistogramDistribution.of(settings).n_parameters != len(log_shares):
            message = f"a histogram must have one share per bin, got {len(log_shares)}"
            raise ValueError(message)
        return cls(settings, log_shares)

    @property
    def _classes(self) -> Categorical:
        return Categorical(self.log_shares)
