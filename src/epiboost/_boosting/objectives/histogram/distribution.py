"""The distribution of a number by the probabilities of bins: constant inside a bin, exponential in the outer ones."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.special import entr, softmax

from epiboost._boosting.objectives.distribution import Distribution
from epiboost._typing import AnyArray, Floats

_TEMPERATURES = (0.6, 0.75, 0.9, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0, 3.0)
_MIN_SETTINGS = 3  # two scales and an edge
_N_NODES, _N_TAIL_NODES = 5, 16  # per bin, and in each tail
_ENOUGH = 1e-6  # by which a sum of probabilities may miss one
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class HistogramDistribution(Distribution):
    """The probability of each bin.

    Attributes
    ----------
    settings : tuple of float
        The scales of the lower and the upper tail, and the edges between bins in ascending order.

    Examples
    --------
    >>> distribution = HistogramDistribution.of((1.0, 1.0, 0.0, 2.0))
    >>> float(distribution.mean(np.array([0.25, 0.5, 0.25])).round(6))
    1.0
    """

    settings: tuple[float, ...]

    name: ClassVar[str] = "histogram"
    parameter_names: ClassVar[tuple[str, ...]] = ("probability of each bin",)

    @classmethod
    def of(cls, settings: tuple[float, ...] = ()) -> Self:
        """Return the distribution with tails and edges."""
        edges = np.asarray(settings[2:])
        if len(settings) < _MIN_SETTINGS or min(settings[:2]) <= 0.0 or not (np.diff(edges) > 0.0).all():
            message = (
                "a histogram needs two scales above 0 and the ascending edges of its bins: pass the distribution of a "
                f"model; got {settings}"
            )
            raise ValueError(message)
        return cls(tuple(settings))

    @property
    def n_parameters(self) -> int:
        """Number of bins."""
        return len(self.settings) - 1

    @property
    def shapes(self) -> tuple[float, ...]:
        """Temperatures to choose among, by whose inverse log probabilities are multiplied."""
        return _TEMPERATURES

    def with_shape(self, parameters: Floats, shape: float) -> Floats:
        """Return the probabilities at a temperature."""
        probabilities: Floats = softmax(np.log(np.maximum(parameters, _TINY)) / shape, axis=-1)
        return probabilities

    def check(self, parameters: Floats) -> None:
        """Probabilities must not be negative and add up to 1."""
        if not parameters.size:
            return
        farthest = float(np.abs(parameters.sum(axis=-1) - 1.0).max())
        if parameters.min() < 0.0 or farthest > _ENOUGH:
            message = (
                f"probabilities of bins must be at least 0 and add up to 1; got {parameters.min()} and sums that "
                f"miss 1 by up to {farthest:.3g}"
            )
            raise ValueError(message)

    def mean(self, parameters: Floats) -> Floats:
        """Return the mean."""
        return np.asarray(parameters @ self._means)

    def variance(self, parameters: Floats) -> Floats:
        """Return the variance."""
        apart = np.square(self._means - self.mean(parameters)[..., np.newaxis])
        return np.asarray((parameters * (apart + self._variances)).sum(axis=-1))

    def entropy(self, parameters: Floats) -> Floats:
        """Return the differential entropy."""
        return np.asarray((entr(parameters) + parameters * self._entropies).sum(axis=-1))

    def logpdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the log density."""
        position = self.bins(y)
        with np.errstate(divide="ignore"):
            log_probability = np.log(_taken(parameters, position))
        lower, upper = self._distances(y)
        return np.asarray(log_probability - np.log(self._widths)[position] - lower - upper)

    def cdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the distribution function."""
        lower, upper = self._distances(y)
        position = self.bins(y)
        own, below = _taken(parameters, position), _taken(np.cumsum(parameters, axis=-1) - parameters, position)
        last = self.n_parameters - 1
        inside = np.where(position == 0, np.exp(-lower), np.where(position == last, -np.expm1(-upper), 0.0))
        middle = np.clip((y - self._starts[position]) / self._widths[position], 0.0, 1.0)
        inside = np.where((position > 0) & (position < last), middle, inside)
        return np.minimum(below + own * inside, 1.0)

    def sf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the probability of more than y."""
        _, upper = self._distances(y)
        own = parameters[..., -1] * np.exp(-upper)
        return np.where(self.bins(y) == self.n_parameters - 1, own, 1.0 - self.cdf(parameters, y))

    def quantile(self, parameters: Floats, q: Floats) -> Floats:
        """Return the quantile."""
        ends = np.cumsum(parameters, axis=-1)
        last = self.n_parameters - 1
        position = np.minimum((ends < np.asarray(q)[..., np.newaxis]).sum(axis=-1), last)
        own = np.maximum(_taken(parameters, position), _TINY)
        share = np.clip((q - _taken(ends - parameters, position)) / own, 0.0, 1.0)
        inner = self._starts[position] + share * self._widths[position]
        from_below = self._starts[0] + self._widths[0] * np.log(np.maximum(share, _TINY))
        from_above = self._starts[-1] - self._widths[-1] * np.log(np.maximum((1.0 - q) / own, _TINY))
        return np.asarray(np.where(position == 0, from_below, np.where(position == last, from_above, inner)))

    def sample(self, parameters: Floats, rng: np.random.Generator) -> Floats:
        """Return one draw per distribution."""
        return self.quantile(parameters, np.asarray(rng.uniform(_TINY, 1.0, parameters.shape[:-1])))

    def link(self, parameters: Floats) -> Floats:
        """Return nothing: a histogram has no location and no dispersion of its own."""
        return parameters[..., :0].copy()

    def from_link(self, link: Floats, like: Floats) -> Floats:
        """Return the parameters that are given."""
        return like

    @property
    def jumps(self) -> Floats:
        """The edges."""
        return self._edges

    def nodes(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return nodes in each bin and in the exponential tails, exact for polynomials, and their weights."""
        inner, of_inner = np.polynomial.legendre.leggauss(_N_NODES)
        tail, of_tail = np.polynomial.laguerre.laggauss(_N_TAIL_NODES)
        edges, widths = self._edges, self._widths
        middles = self._means[1:-1, np.newaxis] + 0.5 * widths[1:-1, np.newaxis] * inner
        y = np.concatenate([edges[0] - widths[0] * tail, middles.ravel(), edges[-1] + widths[-1] * tail])
        probability = parameters[..., np.newaxis]
        within = (probability[..., 1:-1, :] * (0.5 * of_inner)).reshape(*parameters.shape[:-1], -1)
        weights = np.concatenate([probability[..., 0, :] * of_tail, within, probability[..., -1, :] * of_tail], axis=-1)
        return np.broadcast_to(y, weights.shape), weights

    def entropy_within(self, bins: AnyArray) -> Floats:
        """Return the entropy of the distribution inside each bin: the logarithm of its width, one more in a tail."""
        entropy: Floats = self._entropies[bins]
        return entropy

    def bins(self, y: Floats) -> AnyArray:
        """Return the bin of each number, of the shape of y."""
        return np.asarray(np.searchsorted(self._edges, y, side="left"))

    def middles(self, bins: AnyArray) -> Floats:
        """Return the mean of each bin."""
        middles: Floats = self._means[bins]
        return middles

    @property
    def _edges(self) -> Floats:
        return np.asarray(self.settings[2:])

    @property
    def _starts(self) -> Floats:
        """Lower end of each bin; that of the first is its upper end."""
        return np.append(self._edges[0], self._edges)

    @property
    def _widths(self) -> Floats:
        """Width of each bin, and the scales of the tails."""
        return np.concatenate([self.settings[:1], np.diff(self._edges), self.settings[1:2]])

    @property
    def _means(self) -> Floats:
        edges, (lower, upper) = self._edges, self.settings[:2]
        return np.concatenate([[edges[0] - lower], 0.5 * (edges[1:] + edges[:-1]), [edges[-1] + upper]])

    @property
    def _variances(self) -> Floats:
        factors = np.full(self.n_parameters, 1.0 / 12.0)
        factors[[0, -1]] = 1.0
        return np.asarray(factors * np.square(self._widths))

    @property
    def _entropies(self) -> Floats:
        entropies = np.log(self._widths)
        entropies[[0, -1]] += 1.0
        return np.asarray(entropies)

    def _distances(self, y: Floats) -> tuple[Floats, Floats]:
        """Return how many scales a number is below the first edge and above the last one."""
        edges, (lower, upper) = self._edges, self.settings[:2]
        return np.maximum((edges[0] - y) / lower, 0.0), np.maximum((y - edges[-1]) / upper, 0.0)


def _taken(parameters: Floats, position: AnyArray) -> Floats:
    """Return one number of the last axis for each position, which broadcasts against the other axes."""
    shape = np.broadcast_shapes(parameters.shape[:-1], position.shape)
    whole = np.broadcast_to(parameters, (*shape, parameters.shape[-1]))
    at = np.broadcast_to(position, shape)[..., np.newaxis]
    return np.asarray(np.take_along_axis(whole, at, axis=-1)[..., 0])
