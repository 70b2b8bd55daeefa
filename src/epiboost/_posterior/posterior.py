"""The predictive distributions of all members for a table, and what can be asked of them.

A posterior is one array, ``parameters`` of shape (members, samples, outputs), and the family that says what the outputs
are. The members are equally weighted, so the prediction for a sample is the mixture of theirs:

- of Normals, whose mean, variance, distribution function and density are averages over the members, and whose quantiles
  are the roots of the distribution function;
- of categorical distributions, which is again categorical, with the members' average probabilities.

Members that predict a mean alone (random forests, boosters of squared errors) have no distribution: of them only the
mean and the knowledge uncertainty can be asked.

>>> import numpy as np
>>> posterior = Posterior(np.array([[[0.0, 1.0]], [[4.0, 1.0]]]), family="normal")
>>> posterior.mean, posterior.uncertainty().knowledge
(array([2.]), array([4.]))

The mixture of two distant members has two humps, and its interval reaches over both:

>>> posterior.interval(coverage=0.9).round(2)
array([[-1.28,  5.28]])

**Quantiles.** The mixture's q-quantile lies between the smallest and the largest of the members' q-quantiles. Inside
that bracket a Newton step is taken on the scale of a standard Normal, Φ⁻¹(F(x)) = Φ⁻¹(q), where one Normal is a
straight line and a mixture nearly one; a step that leaves the bracket or gains too little is replaced by a bisection.
Upper quantiles are lower ones of the mirrored mixture, so that both tails keep their digits. A variance of zero is a
point mass, where the distribution function jumps; the quantile is then the smallest x with F(x) ≥ q, as everywhere.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from epiboost._inputs.labels import check_classes
from epiboost._posterior.knowledge_only import KnowledgeOnly
from epiboost._posterior.mixture import mixture_quantile, normal_logpdf, standardise
from epiboost._posterior.uncertainty import (
    Uncertainty,
    check_parameters,
    decompose_categorical,
    decompose_normal,
    real_numbers,
    sum_outputs,
)
from epiboost._typing import AnyArray, Family, Floats, Integers

_SUM_TOLERANCE = 1e-3
"""How far from one the sum of a sample's probabilities may be: single precision with many classes passes."""

_BLOCK_SAMPLES = 4096
"""Samples whose quantiles are sought together: few enough for the cache, enough to outweigh the cost of a call."""

_EPSILON = float(np.finfo(np.float64).eps)
_LARGEST_BELOW_ONE = 1.0 - _EPSILON / 2


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """What every member predicts for every sample.

    Parameters
    ----------
    parameters : array of shape (members, samples, outputs)
        Mean and **variance** (``family="normal"``), one probability a class (``family="categorical"``), or a mean of
        which no variance is known (``family="mean"``).
    family : {"normal", "categorical", "mean"}
        What the outputs are.
    classes : array of shape (outputs,), optional
        Labels in the order of the probabilities; that of a classifier has them. ``family="categorical"`` only.

    Examples
    --------
    >>> import numpy as np
    >>> posterior = Posterior(np.array([[[0.9, 0.1]], [[0.5, 0.5]]]), family="categorical")
    >>> posterior.mean
    array([[0.7, 0.3]])
    >>> posterior.uncertainty().total.round(3)
    array([0.611])
    """

    parameters: Floats
    family: Family
    classes: AnyArray | None = None

    def __post_init__(self) -> None:
        """Check the parameters; lists and other number types become float64."""
        parameters = check_parameters(self.parameters, self.family)
        object.__setattr__(self, "parameters", parameters)
        if not np.isfinite(parameters).all():
            message = f"parameters must be finite, got {np.count_nonzero(~np.isfinite(parameters))} values that are not"
            raise ValueError(message)
        if self.family == "normal":
            _check_variances(parameters)
        elif self.family == "categorical":
            _check_probabilities(parameters)
        if self.classes is not None:
            self._check_family("categorical", "classes")
            object.__setattr__(self, "classes", check_classes(self.classes, parameters.shape[2]))

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.parameters)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.parameters.shape[1])

    @property
    def mean(self) -> Floats:
        """Mean of the mixture, shape (samples,), or average probabilities of a classifier, shape (samples, classes)."""
        parameters = self.parameters if self.family == "categorical" else self.parameters[:, :, 0]
        mean: Floats = parameters.mean(axis=0)
        return mean

    @property
    def std(self) -> Floats:
        """Standard deviation of the mixture, the root of its total variance, shape (samples,). Normal only."""
        self._check_family("normal", "std")
        return np.sqrt(self.uncertainty().total)

    def uncertainty(self) -> Uncertainty:
        """Split the uncertainty of each sample into data and knowledge.

        Returns
        -------
        uncertainty : Uncertainty
            Variances of a Normal, entropies in nats of a classifier. Members that predict a mean alone tell
            ``knowledge``; asking them for ``data`` or ``total`` is an error that says why.
        """
        if self.family == "mean":
            return KnowledgeOnly(self.parameters[:, :, 0].var(axis=0))
        decompose = decompose_normal if self.family == "normal" else decompose_categorical
        return decompose(self.parameters)

    def quantile(self, q: float | npt.ArrayLike) -> Floats:
        """Say below which value the target falls with probability ``q``. Normal only.

        The quantiles are those of the mixture itself, exact to rounding, and not those of a Normal fitted to it.

        Parameters
        ----------
        q : float or array of shape (k,)
            Probabilities strictly between 0 and 1.

        Returns
        -------
        quantiles : array of shape (samples,) or (samples, k)
            One column a probability; a larger probability never has a smaller quantile.

        Examples
        --------
        >>> import numpy as np
        >>> Posterior(np.array([[[0.0, 1.0]], [[4.0, 1.0]]]), family="normal").quantile([0.05, 0.5]).round(3)
        array([[-1.282,  2.   ]])
        """
        self._check_family("normal", "quantile")
        q = _check_q(q)
        levels = np.unique(q)
        quantiles = np.empty((self.n_samples, levels.size))
        for start in range(0, self.n_samples, _BLOCK_SAMPLES):
            samples = slice(start, start + _BLOCK_SAMPLES)
            mean = np.ascontiguousarray(self.parameters[:, samples, 0])
            std = np.sqrt(self.parameters[:, samples, 1])
            for column, level in enumerate(levels):
                quantiles[samples, column] = mixture_quantile(mean, std, float(level))
        np.maximum.accumulate(quantiles, axis=1, out=quantiles)
        return quantiles[:, np.searchsorted(levels, q)]

    def interval(self, coverage: float | npt.ArrayLike = 0.9) -> Floats:
        """Give the central interval that holds the target with probability ``coverage``. Normal only.

        Parameters
        ----------
        coverage : float or sequence of shape (k,), default=0.9
            Strictly between 0 and 1; half of the rest lies on either side.

        Returns
        -------
        interval : array of shape (samples, 2), or (samples, k, 2) for k coverages
            Lower and upper end; an interval of a larger coverage contains those of smaller ones.

        Examples
        --------
        >>> import numpy as np
        >>> Posterior(np.array([[[10.0, 4.0]]]), family="normal").interval(0.95).round(2)
        array([[ 6.08, 13.92]])
        """
        self._check_family("normal", "interval")
        levels = np.asarray(coverage, dtype=np.float64)
        if levels.ndim > 1 or not levels.size or not ((levels > 0.0) & (levels < 1.0)).all():
            message = f"coverage must be a number, or a sequence of them, strictly between 0 and 1, got {coverage!r}"
            raise ValueError(message)
        tails = (1.0 - levels) / 2
        ends = np.stack([tails, np.minimum(1.0 - tails, _LARGEST_BELOW_ONE)], axis=-1)
        return self.quantile(ends.ravel()).reshape(-1, *ends.shape)

    def cdf(self, y: npt.ArrayLike) -> Floats:
        """Say how probable a target of at most ``y`` is. Normal only.

        Parameters
        ----------
        y : float, or array of shape (samples,) or (samples, k)
            One value for all samples, one for each, or several for each.

        Returns
        -------
        probability : array of shape (samples,) or (samples, k)
            Between 0 and 1.

        Examples
        --------
        >>> import numpy as np
        >>> Posterior(np.array([[[0.0, 1.0]], [[4.0, 1.0]]]), family="normal").cdf(2.0)
        array([0.5])
        """
        self._check_family("normal", "cdf")
        y = self._check_y(y)
        probability = np.zeros_like(y)
        for parameters in self.parameters:
            mean, variance = _columns(parameters, y.ndim)
            probability += ndtr(standardise(y, mean, np.sqrt(variance)))
        return probability / self.n_members

    def logpdf(self, y: npt.ArrayLike) -> Floats:
        """Give the logarithm of the density at ``y``. Normal only.

        Parameters
        ----------
        y : float, or array of shape (samples,) or (samples, k)
            One value for all samples, one for each, or several for each.

        Returns
        -------
        log_density : array of shape (samples,) or (samples, k)
            In nats; infinite at a member of variance zero.

        Examples
        --------
        >>> import numpy as np
        >>> Posterior(np.array([[[0.0, 1.0]]]), family="normal").logpdf(0.0).round(4)
        array([-0.9189])
        """
        self._check_family("normal", "logpdf")
        y = self._check_y(y)
        log_density = np.full_like(y, -np.inf)
        for parameters in self.parameters:
            mean, variance = _columns(parameters, y.ndim)
            with np.errstate(invalid="ignore"):
                np.logaddexp(log_density, normal_logpdf(y, mean, variance), out=log_density)
        log_density -= np.log(self.n_members)
        return log_density

    def log_probability(self, codes: npt.ArrayLike) -> Floats:
        """Give the logarithm of the probability of each sample's class. Categorical only.

        Parameters
        ----------
        codes : integer array of shape (samples,)
            Positions of the labels in ``classes_``, from 0.

        Returns
        -------
        log_probability : array of shape (samples,)
            In nats, of the members' average probability; minus infinity for a class held impossible.

        Examples
        --------
        >>> import numpy as np
        >>> Posterior(np.array([[[0.9, 0.1]], [[0.5, 0.5]]]), family="categorical").log_probability([0]).round(3)
        array([-0.357])
        """
        self._check_family("categorical", "log_probability")
        codes = self._check_codes(codes)
        chosen: Floats = self.parameters[:, np.arange(self.n_samples), codes].mean(axis=0)
        with np.errstate(divide="ignore"):
            log_probability: Floats = np.log(chosen)
        return log_probability

    def _check_family(self, family: Family, asked: str) -> None:
        if self.family == "mean" and family == "normal":
            message = f"{asked} needs members that predict a variance; these predict a mean alone"
            raise ValueError(message)
        if self.family != family:
            message = f"{asked} needs a {family} posterior, got a {self.family} one"
            raise ValueError(message)

    def _check_y(self, y: npt.ArrayLike) -> Floats:
        y = real_numbers(y, "y")
        if y.ndim == 0:
            return np.full(self.n_samples, y)
        if y.ndim not in (1, 2) or len(y) != self.n_samples:
            message = f"y must be a number or of shape ({self.n_samples},) or ({self.n_samples}, k), got {y.shape}"
            raise ValueError(message)
        return y

    def _check_codes(self, codes: npt.ArrayLike) -> Integers:
        codes = np.asarray(codes)
        if codes.dtype.kind not in "iu" or codes.shape != (self.n_samples,):
            message = f"codes must be integers of shape ({self.n_samples},), got {codes.dtype} of shape {codes.shape}"
            raise ValueError(message)
        n_classes = self.parameters.shape[2]
        if codes.size and not (codes.min() >= 0 and codes.max() < n_classes):
            message = f"codes must be from 0 to {n_classes - 1}, got values from {codes.min()} to {codes.max()}"
            raise ValueError(message)
        return codes.astype(np.int64)


def _check_variances(parameters: Floats) -> None:
    if parameters.size and (smallest := parameters[:, :, 1].min()) < 0.0:
        message = f"variances must not be negative, got {smallest}"
        raise ValueError(message)


def _check_probabilities(parameters: Floats) -> None:
    if parameters.size and (smallest := parameters.min()) < 0.0:
        message = f"probabilities must not be negative, got {smallest}"
        raise ValueError(message)
    sums = sum_outputs(parameters)
    if (wrong := np.abs(sums - 1.0) > _SUM_TOLERANCE).any():
        message = f"probabilities of a sample must add up to 1, got a sum of {sums[wrong][0]}"
        raise ValueError(message)


def _check_q(q: float | npt.ArrayLike) -> Floats:
    levels = np.asarray(q, dtype=np.float64)
    if levels.ndim > 1:
        message = f"q must be a number or one-dimensional, got the shape {levels.shape}"
        raise ValueError(message)
    if not ((levels > 0.0) & (levels < 1.0)).all():
        message = f"q must be strictly between 0 and 1, got {q!r}"
        raise ValueError(message)
    return levels


def _columns(parameters: Floats, ndim: int) -> tuple[Floats, Floats]:
    """Give a member's means and variances in a shape that broadcasts against y."""
    mean, variance = parameters[:, 0], parameters[:, 1]
    return (mean, variance) if ndim == 1 else (mean[:, np.newaxis], variance[:, np.newaxis])
