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

import functools
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from epiboost._boosting.objectives import DISTRIBUTIONS, Distribution, distribution_named
from epiboost._display import SHOWN_ROWS, html_table, medians
from epiboost._inputs.labels import check_classes
from epiboost._posterior.frames import check_index
from epiboost._posterior.knowledge_only import KnowledgeOnly
from epiboost._posterior.numbers.draws import (
    RandomState,
    draw_classes,
    draw_members,
    draw_numbers,
    generator,
    labels_of,
)
from epiboost._posterior.numbers.methods import NumberMethods
from epiboost._posterior.parameters import check_distribution, check_parameters
from epiboost._posterior.uncertainty import (
    Uncertainty,
    decompose_categorical,
    decompose_normal,
    decompose_variance,
)
from epiboost._typing import AnyArray, Family, Floats, Integers, LibraryObject


@dataclass(frozen=True, slots=True, eq=False)
class Posterior(NumberMethods):
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
        # In order: NumPy's sum of one row has other last bits.
        total: Floats = functools.reduce(np.add, self.member_means)
        return total / self.n_members

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

    def uncertainty(self, *, n_jobs: int = 1) -> Uncertainty:
        """Return the uncertainty of each sample, split into data and knowledge.

        Parameters
        ----------
        n_jobs : int, default=1
            Number of threads; the result does not depend on it.

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
        return decompose(self.parameters, self.index, threads=n_jobs)

    def sample(self, n: int = 1, random_state: RandomState = None, *, knowledge_only: bool = False) -> AnyArray:
        """Return random draws of the target, or of the members' means.

        Draw j is of one member, chosen at random, which is the same for all samples. Each row holds independent draws
        of the mixture; each column is a draw of the whole table, so that its sum or its largest value has the
        knowledge uncertainty that the samples share.

        Parameters
        ----------
        n : int, default=1
            Number of draws per sample.
        random_state : int, numpy Generator or RandomState, or None, default=None
            Seed; None gives other draws each time.
        knowledge_only : bool, default=False
            Whether to draw the members' means, whose variance is the knowledge uncertainty, without the noise of the
            data: those of numbers, or the probabilities of classes.

        Returns
        -------
        draws : array of shape (samples, n)
            Numbers; labels of a classifier, or the positions of classes that have none. Probabilities of classes, with
            ``knowledge_only``, have the shape (samples, n, classes).

        Examples
        --------
        >>> import numpy as np
        >>> posterior = Posterior(np.array([[[0.0, 1.0]], [[4.0, 1.0]]]), family="normal")
        >>> posterior.sample(3, random_state=0).round(2)
        array([[4.64, 4.1 , 3.46]])
        >>> posterior.sample(3, random_state=0, knowledge_only=True)
        array([[4., 4., 4.]])
        """
        random = generator(random_state)
        members = draw_members(self.n_members, n, random)
        if knowledge_only:
            return np.moveaxis(self.member_means[members], 0, 1)
        if self.family == "categorical":
            return labels_of(draw_classes(self.parameters, members, random), self.classes)
        self._check_numbers("sample without knowledge_only=True")
        return draw_numbers(self._law, self.parameters, members, random)

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

    def _check_family(self, family: Family, method: str) -> None:
        if self.family != family:
            message = f"{method} needs a {family} posterior, got a {self.family} one"
            raise ValueError(message)

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
