"""The posterior: the predictive distributions of all members for a table.

A posterior is one array, ``parameters`` of shape (members, samples, outputs), and the family of the distributions. The
members are equally weighted, so the prediction for a sample is the mixture of the members' predictions:

- a mixture of Normals, see `epiboost._posterior.mixture`;
- a mixture of categorical distributions, which is categorical with the members' average probabilities.

Members that predict a mean without a variance (random forests, boosters with squared loss) have no distribution: only
the mean and the knowledge uncertainty are defined.

>>> import numpy as np
>>> posterior = Posterior(np.array([[[0.0, 1.0]], [[4.0, 1.0]]]), family="normal")
>>> posterior.mean, posterior.uncertainty().knowledge
(array([2.]), array([4.]))

The mixture of two distant members has two modes, and its interval contains both:

>>> posterior.interval(coverage=0.9).round(2)
array([[-1.28,  5.28]])
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from epiboost._boosting.objectives import DISTRIBUTIONS, Distribution, distribution_named
from epiboost._display import SHOWN_ROWS, html_table, medians
from epiboost._inputs.labels import check_classes
from epiboost._posterior import number_mixture
from epiboost._posterior.frames import check_index
from epiboost._posterior.knowledge_only import MEAN_ALONE, KnowledgeOnly
from epiboost._posterior.levels import check_quantiles, interval_ends
from epiboost._posterior.mixture import mixture_cdf, mixture_logpdf, mixture_quantile
from epiboost._posterior.parameters import check_distribution, check_parameters, real_numbers
from epiboost._posterior.uncertainty import (
    Uncertainty,
    decompose_categorical,
    decompose_normal,
    decompose_variance,
)
from epiboost._typing import AnyArray, Family, Floats, Integers, LibraryObject


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Predictive distribution of every member for every sample.

    Parameters
    ----------
    parameters : array of shape (members, samples, outputs)
        Mean and **variance** (``family="normal"``), one probability per class (``family="categorical"``), a mean
        without a variance (``family="mean"``), or the parameters of another family, see `Distribution`.
    family : str
        The distribution that the outputs parametrise.
    classes : array of shape (outputs,), optional
        Labels in the order of the probabilities; set by classifiers. ``family="categorical"`` only.
    index : pandas.Index, optional
        Labels of the samples, those of the pandas frame that was predicted; its uncertainty keeps them.
    distribution : Distribution, optional
        What can be computed of one member's distribution; None takes that of the family. A histogram needs its own,
        which holds the edges of the bins.

    Examples
    --------
    >>> import numpy as np
    >>> posterior = Posterior(np.array([[[0.9, 0.1]], [[0.5, 0.5]]]), family="categorical")
    >>> posterior
    Posterior(categorical, 2 members, 1 sample, 2 classes; medians: total=0.6109, data=0.5091, knowledge=0.1017)
    >>> posterior.mean
    array([[0.7, 0.3]])
    >>> posterior.uncertainty().total.round(3)
    array([0.611])
    """

    parameters: Floats
    family: Family
    classes: AnyArray | None = None
    index: LibraryObject = None
    distribution: Distribution | None = None

    def __post_init__(self) -> None:
        """Convert the parameters to float64 and check them."""
        if self.family in DISTRIBUTIONS and self.distribution is None:
            object.__setattr__(self, "distribution", distribution_named(self.family))
        parameters = check_parameters(self.parameters, self.family, self.distribution)
        object.__setattr__(self, "parameters", parameters)
        check_distribution(parameters, self.family, self.distribution)
        if self.classes is not None:
            self._check_family("categorical", "classes")
            object.__setattr__(self, "classes", check_classes(self.classes, parameters.shape[2]))
        check_index(self.index, self.n_samples)

    def __repr__(self) -> str:
        """Return the family, the numbers of members, samples and classes, and medians."""
        size = f"{self.family}, {_count(self.n_members, 'member')}, {_count(self.n_samples, 'sample')}"
        parts = self.uncertainty().columns()
        if self.family == "categorical":
            return f"{type(self).__name__}({size}, {self.parameters.shape[2]} classes; {medians(parts)})"
        return f"{type(self).__name__}({size}; {medians({'mean': self.mean, **parts})})"

    def _repr_html_(self) -> str:
        """Return a table of the first samples, for notebooks."""
        index = None if self.index is None else self.index[:SHOWN_ROWS]
        first = replace(self, parameters=self.parameters[:, :SHOWN_ROWS], index=index)
        parts, mean = first.uncertainty().columns(), first.mean
        if self.family != "categorical":
            return html_table(repr(self), {"mean": mean, **parts}, index, self.n_samples)
        best = mean.argmax(axis=1)
        labels = best if self.classes is None else self.classes[best]
        return html_table(
            repr(self), {"class": labels, "probability": mean.max(axis=1), **parts}, index, self.n_samples
        )

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
        mean: Floats = self.member_means.mean(axis=0)
        return mean

    @property
    def member_means(self) -> Floats:
        """Mean of each member's distribution, shape (members, samples), or its probabilities, one more axis."""
        if self.family == "categorical":
            return self.parameters
        return self.parameters[:, :, 0] if self.distribution is None else self.distribution.mean(self.parameters)

    @property
    def member_variances(self) -> Floats:
        """Variance of each member's distribution, shape (members, samples). Of numbers only."""
        self._check_numbers("member_variances")
        return self.parameters[:, :, 1] if self.distribution is None else self.distribution.variance(self.parameters)

    @property
    def std(self) -> Floats:
        """Standard deviation of the mixture, the root of its total variance, shape (samples,). Of numbers only."""
        self._check_numbers("std")
        return np.sqrt(self.uncertainty().total)

    def uncertainty(self) -> Uncertainty:
        """Return the uncertainty of each sample, split into data and knowledge.

        Returns
        -------
        uncertainty : Uncertainty
            Variances of numbers, entropies of a classifier in nats. Members that predict a mean without a variance
            have ``knowledge`` only; reading ``data`` or ``total`` raises a ValueError.
        """
        if self.family == "mean":
            return KnowledgeOnly(self.parameters[:, :, 0].var(axis=0), index=self.index)
        if self.distribution is not None:
            return decompose_variance(self.member_means, self.member_variances, self.index)
        decompose = decompose_normal if self.family == "normal" else decompose_categorical
        return decompose(self.parameters, self.index)

    def quantile(self, q: float | npt.ArrayLike) -> Floats:
        """Return the values below which the target falls with probability ``q``. Of numbers only.

        The quantiles are those of the mixture, exact to rounding, and not those of one distribution fitted to it. For
        counts they are the smallest count that is reached with at least this probability.

        Parameters
        ----------
        q : float or array of shape (k,)
            Probabilities strictly between 0 and 1.

        Returns
        -------
        quantiles : array of shape (samples,) or (samples, k)
            One column per probability; a larger probability never has a smaller quantile.

        Examples
        --------
        >>> import numpy as np
        >>> Posterior(np.array([[[0.0, 1.0]], [[4.0, 1.0]]]), family="normal").quantile([0.05, 0.5]).round(3)
        array([[-1.282,  2.   ]])
        """
        self._check_numbers("quantile")
        if self.distribution is not None:
            return number_mixture.quantile(self.distribution, self.parameters, check_quantiles(q))
        return mixture_quantile(self.parameters, check_quantiles(q))

    def interval(self, coverage: float | npt.ArrayLike = 0.9) -> Floats:
        """Return the central interval that contains the target with probability ``coverage``. Of numbers only.

        Parameters
        ----------
        coverage : float or sequence of shape (k,), default=0.9
            Strictly between 0 and 1; both tails have the same probability.

        Returns
        -------
        interval : array of shape (samples, 2), or (samples, k, 2) for k coverages
            Lower and upper end; an interval of larger coverage contains those of smaller coverage.

        Examples
        --------
        >>> import numpy as np
        >>> Posterior(np.array([[[10.0, 4.0]]]), family="normal").interval(0.95).round(2)
        array([[ 6.08, 13.92]])
        """
        self._check_numbers("interval")
        ends = interval_ends(coverage)
        return self.quantile(ends.ravel()).reshape(-1, *ends.shape)

    def cdf(self, y: npt.ArrayLike) -> Floats:
        """Return the probability that the target is at most ``y``. Of numbers only.

        Parameters
        ----------
        y : float, or array of shape (samples,) or (samples, k)
            One value for all samples, one value per sample, or k values per sample.

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
        self._check_numbers("cdf")
        if self.distribution is not None:
            return number_mixture.cdf(self.distribution, self.parameters, self._check_y(y))
        return mixture_cdf(self.parameters, self._check_y(y))

    def logpdf(self, y: npt.ArrayLike) -> Floats:
        """Return the logarithm of the density at ``y``, or of the probability of a count. Of numbers only.

        Returns
        -------
        log_density : array of shape (samples,) or (samples, k)
            In nats; infinite at the mean of a member of zero variance.

        Examples
        --------
        >>> import numpy as np
        >>> Posterior(np.array([[[0.0, 1.0]]]), family="normal").logpdf(0.0).round(4)
        array([-0.9189])
        """
        self._check_numbers("logpdf")
        if self.distribution is not None:
            return number_mixture.logpdf(self.distribution, self.parameters, self._check_y(y))
        return mixture_logpdf(self.parameters, self._check_y(y))

    def log_probability(self, codes: npt.ArrayLike) -> Floats:
        """Return the logarithm of the probability of each sample's class. Categorical only.

        Parameters
        ----------
        codes : integer array of shape (samples,)
            Positions of the labels in ``classes_``, from 0.

        Returns
        -------
        log_probability : array of shape (samples,)
            In nats, of the members' average probability; minus infinity for a class of probability zero.

        Examples
        --------
        >>> import numpy as np
        >>> Posterior(np.array([[[0.9, 0.1]], [[0.5, 0.5]]]), family="categorical").log_probability([0]).round(3)
        array([-0.357])
        """
        self._check_family("categorical", "log_probability")
        codes = self._check_codes(codes)
        probability: Floats = self.parameters[:, np.arange(self.n_samples), codes].mean(axis=0)
        with np.errstate(divide="ignore"):
            log_probability: Floats = np.log(probability)
        return log_probability

    def _check_numbers(self, method: str) -> None:
        if self.family == "mean":
            message = (
                f"{method} needs members that predict a variance; these {MEAN_ALONE}. Use the mean and "
                "uncertainty().knowledge, or a model that predicts a variance, such as one of engine='native'"
            )
            raise ValueError(message)
        if self.family == "categorical":
            message = f"{method} needs a posterior of numbers, got a categorical one"
            raise ValueError(message)

    def _check_family(self, family: Family, method: str) -> None:
        if self.family != family:
            message = f"{method} needs a {family} posterior, got a {self.family} one"
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


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
