"""What every family of distributions of numbers can compute from its parameters.

Parameters are arrays of shape (..., outputs); what is computed from them has the shape (...), against which ``y`` and
``q`` broadcast. A distribution knows nothing of members or mixtures: `epiboost._posterior` builds those.

**Link.** Members are averaged, compared and recalibrated on a scale on which a family's location and dispersion are any
real numbers: `link` returns (location, log dispersion), or the location alone for a family without a dispersion, and
`from_link` turns them back into parameters. A larger dispersion means a wider distribution of the same location.
"""

import abc
from typing import ClassVar, Self

import numpy as np

from epiboost._typing import Floats

_STEP = 1e-4  # of a numerical derivative
_TINY = float(np.finfo(np.float64).tiny)


class Distribution(abc.ABC):
    """A family of distributions of one number.

    Attributes
    ----------
    name : str
        What the parameter ``distribution`` of the regressor calls it.
    parameter_names : tuple of str
        Names of the outputs.
    is_discrete : bool
        Whether values are whole numbers; `logpdf` is then the logarithm of a probability.
    """

    __slots__ = ()

    name: ClassVar[str]
    parameter_names: ClassVar[tuple[str, ...]]
    is_discrete: ClassVar[bool] = False

    @property
    def shapes(self) -> tuple[float, ...]:
        """Values of a number that all rows share, as degrees of freedom, to choose among; most families have none."""
        return ()

    def with_shape(self, parameters: Floats, shape: float) -> Floats:
        """Return the parameters with one of the `shapes`."""
        return parameters

    @property
    def jumps(self) -> Floats:
        """Points at which densities jump, in ascending order; most families have none."""
        return np.empty(0)

    def nodes(self, parameters: Floats) -> tuple[Floats, Floats] | None:
        """Return nodes and weights of expectations, (..., k) each; None where a function of the quantile is smooth."""
        return None

    @classmethod
    def of(cls, settings: tuple[float, ...] = ()) -> Self:
        """Return the distribution with the settings of a model, see `NumberObjective.settings_for`."""
        return cls()

    @property
    def n_parameters(self) -> int:
        """Number of outputs."""
        return len(self.parameter_names)

    @abc.abstractmethod
    def check(self, parameters: Floats) -> None:
        """Raise a ValueError that says what is allowed, unless these finite parameters are possible."""

    @abc.abstractmethod
    def mean(self, parameters: Floats) -> Floats:
        """Return the mean."""

    @abc.abstractmethod
    def variance(self, parameters: Floats) -> Floats:
        """Return the variance."""

    @abc.abstractmethod
    def entropy(self, parameters: Floats) -> Floats:
        """Return the entropy in nats (differential, for a continuous family)."""

    @abc.abstractmethod
    def logpdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the logarithm of the density, or of the probability, at y; minus infinity outside the support."""

    @abc.abstractmethod
    def cdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the probability of at most y."""

    def sf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the probability of more than y; families whose upper tail keeps its digits override this."""
        return 1.0 - self.cdf(parameters, y)

    def logsf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the logarithm of the probability of more than y."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.sf(parameters, y)))

    def logcdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the logarithm of the probability of at most y."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.cdf(parameters, y)))

    @abc.abstractmethod
    def quantile(self, parameters: Floats, q: Floats) -> Floats:
        """Return the smallest value at which the distribution function is at least q, for 0 < q < 1."""

    @abc.abstractmethod
    def sample(self, parameters: Floats, rng: np.random.Generator) -> Floats:
        """Return one draw per distribution."""

    @abc.abstractmethod
    def link(self, parameters: Floats) -> Floats:
        """Return (location, log dispersion), shape (..., 2), or the location alone, shape (..., 1)."""

    @abc.abstractmethod
    def from_link(self, link: Floats, like: Floats) -> Floats:
        """Return the parameters of a link; what the link does not hold is taken from the parameters ``like``."""

    def link_variance(self, parameters: Floats) -> Floats:
        """Return the variance on the scale of the location, by the slope of the mean unless a family knows better."""
        with np.errstate(over="ignore"):
            variance: Floats = self.variance(parameters) / np.maximum(self.square_slope(parameters), _TINY)
        return variance

    def square_slope(self, parameters: Floats) -> Floats:
        """Return the squared slope of the mean by the location."""
        moved = self.link(parameters)
        moved[..., 0] += _STEP
        with np.errstate(over="ignore"):
            change = self.mean(self.from_link(moved, parameters)) - self.mean(parameters)
            slope: Floats = np.square(change / _STEP)
        return slope
