"""What a posterior does not know, split into what the data cannot tell and what the model has not seen.

Every function here is pure: it takes ``parameters`` of shape (members, samples, outputs) and gives one number a sample.
The members are equally weighted draws from a posterior over models; averaging their predictive distributions gives the
predictive distribution of the ensemble, and

- **total** uncertainty is the uncertainty of that average,
- **data** uncertainty is the average uncertainty of the members: noise that no further row would remove,
- **knowledge** uncertainty is the rest: how much the members disagree. It shrinks as rows are added.

The two parts always add up to the total. For a Normal the measure is the variance (the law of total variance), for a
classifier the Shannon entropy in nats, whose knowledge part is the mutual information between the label and the member.

Two more measures of disagreement are offered on the same members: the expected pairwise divergence and the reverse
mutual information. For a classifier the former is the sum of the mutual information and the latter.

References
----------
A. Malinin, L. Prokhorenkova, A. Ustimenko, "Uncertainty in Gradient Boosting via Ensembles", ICLR 2021.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy.special import entr, rel_entr

from epiboost._native import native
from epiboost._optional import require
from epiboost._typing import Family, Floats

Unit: TypeAlias = Literal["variance", "nats"]
"""What an uncertainty is measured in: squared units of the target, or nats of entropy."""

Measure: TypeAlias = Literal["total", "data", "knowledge"]
"""A part of the uncertainty."""

FrameBackend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
"""The libraries a frame can be made with."""

Frame: TypeAlias = Any
"""A data frame of one of those libraries; they share no type."""

_AXES = ("members", "samples", "outputs")
_NORMAL_OUTPUTS = 2
_FEWEST_CLASSES = 2
_FEW_OUTPUTS = 8
_BLOCK_ELEMENTS = 1 << 15
"""Parameters of one member worked on at a time: a few such temporaries stay in the processor's cache."""


def check_measure(measure: str) -> None:
    """Raise an error if there is no such part.

    >>> check_measure("knowledge")
    """
    if measure not in get_args(Measure):
        message = f"measure must be one of {get_args(Measure)}, got {measure!r}"
        raise ValueError(message)


@dataclass(frozen=True, slots=True, eq=False)
class Uncertainty:
    """How unsure a model is of each sample, in total and by cause.

    Parameters
    ----------
    total : array of shape (samples,)
        Uncertainty of the ensemble's prediction, ``data + knowledge``.
    data : array of shape (samples,)
        The part that more rows like these would not remove: noise and overlap of classes.
    knowledge : array of shape (samples,)
        The part that the model owes to rows it has not seen: the disagreement of its members.
    unit : {"variance", "nats"}
        Variance of the target (regression) or entropy in nats (classification).

    Examples
    --------
    >>> import numpy as np
    >>> uncertainty = Uncertainty(np.array([1.5, 1.0]), np.array([1.0, 1.0]), np.array([0.5, 0.0]), unit="variance")
    >>> len(uncertainty)
    2
    >>> uncertainty.to_frame()
       total  data  knowledge
    0    1.5   1.0        0.5
    1    1.0   1.0        0.0
    """

    total: Floats
    data: Floats
    knowledge: Floats
    unit: Unit

    def __post_init__(self) -> None:
        """Check that the three arrays belong together."""
        for name in ("total", "data", "knowledge"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        shapes = {self.total.shape, self.data.shape, self.knowledge.shape}
        if len(shapes) > 1 or self.total.ndim != 1:
            message = (
                f"total, data and knowledge must be of one shape (samples,), got "
                f"{self.total.shape}, {self.data.shape} and {self.knowledge.shape}"
            )
            raise ValueError(message)
        if self.unit not in get_args(Unit):
            message = f"unit must be one of {get_args(Unit)}, got {self.unit!r}"
            raise ValueError(message)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.total)

    def __repr__(self) -> str:
        """Say how many samples there are and how unsure they are on average."""
        means = ", ".join(
            f"{name}={getattr(self, name).mean() if len(self) else float('nan'):.4g}"
            for name in ("total", "data", "knowledge")
        )
        return f"Uncertainty({len(self)} samples, in {self.unit}; means: {means})"

    def to_frame(self, backend: FrameBackend = "pandas") -> Frame:
        """Give the three columns as a data frame, one row a sample.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
            The library that makes the frame; it must be installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns ``total``, ``data`` and ``knowledge``.
        """
        if backend not in get_args(FrameBackend):
            message = f"backend must be one of {get_args(FrameBackend)}, got {backend!r}"
            raise ValueError(message)
        require(backend, extra="frames", purpose=f"to_frame(backend={backend!r})")
        columns = {"total": self.total, "data": self.data, "knowledge": self.knowledge}
        return nw.from_dict(columns, backend=backend).to_native()


def decompose_normal(parameters: Floats) -> Uncertainty:
    r"""Split the variance of an ensemble of Normals.

    With members' means :math:`\mu_m` and variances :math:`\sigma_m^2`,

    .. math::
        \underbrace{\mathrm{Var}[y]}_\text{total}
        = \underbrace{\tfrac1M \sum_m \sigma_m^2}_\text{data}
        + \underbrace{\tfrac1M \sum_m (\mu_m - \bar\mu)^2}_\text{knowledge}.

    Parameters
    ----------
    parameters : array of shape (members, samples, 2)
        Mean and variance of each member for each sample.

    Returns
    -------
    uncertainty : Uncertainty
        In units of variance.

    Examples
    --------
    Two members agree on the first sample and differ on the second:

    >>> import numpy as np
    >>> uncertainty = decompose_normal(np.array([[[5.0, 1.0], [4.0, 1.0]], [[5.0, 1.0], [6.0, 3.0]]]))
    >>> uncertainty.knowledge, uncertainty.data, uncertainty.total
    (array([0., 1.]), array([1., 2.]), array([1., 3.]))
    """
    parameters = check_parameters(parameters, "normal")
    data, knowledge = native().split_normal_variance(np.ascontiguousarray(parameters))
    return Uncertainty(total=data + knowledge, data=data, knowledge=knowledge, unit="variance")


def decompose_categorical(parameters: Floats) -> Uncertainty:
    r"""Split the entropy of an ensemble of classifiers.

    With members' probabilities :math:`p_m` and their average :math:`\bar p`,

    .. math::
        \underbrace{H[\bar p]}_\text{total}
        = \underbrace{\tfrac1M \sum_m H[p_m]}_\text{data}
        + \underbrace{\tfrac1M \sum_m \mathrm{KL}(p_m \| \bar p)}_\text{knowledge}.

    The last term is the mutual information between the label and the member. It is summed from the divergences and not
    taken as a difference of entropies, so that small disagreements keep their digits and none comes out negative.

    Parameters
    ----------
    parameters : array of shape (members, samples, classes)
        Class probabilities of each member for each sample; zeros are allowed.

    Returns
    -------
    uncertainty : Uncertainty
        In nats.

    Examples
    --------
    Two members are sure of different classes, so the doubt is all about knowledge; both are undecided on the second
    sample, so the doubt is all in the data:

    >>> import numpy as np
    >>> uncertainty = decompose_categorical(np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]]))
    >>> uncertainty.knowledge.round(3), uncertainty.data.round(3), uncertainty.total.round(3)
    (array([0.693, 0.   ]), array([0.   , 0.693]), array([0.693, 0.693]))
    """
    parameters = check_parameters(parameters, "categorical")
    data, knowledge = np.empty((2, parameters.shape[1]))
    for samples, block in _blocks(parameters):
        data[samples] = _mean_entropy(block)
        knowledge[samples] = _mutual_information(block)
    return Uncertainty(total=data + knowledge, data=data, knowledge=knowledge, unit="nats")


def expected_pairwise_kl(parameters: Floats, family: Family) -> Floats:
    r"""Measure how far the members are from one another, two by two.

    The average :math:`\tfrac1{M^2} \sum_{m, m'} \mathrm{KL}(p_m \| p_{m'})` over all ordered pairs, in nats; a member
    paired with itself adds nothing. It is infinite where a member rules out what another holds possible: a class of
    probability zero, or a variance of zero.

    Parameters
    ----------
    parameters : array of shape (members, samples, outputs)
        Means and variances, or class probabilities.
    family : {"normal", "categorical"}
        What the outputs are.

    Returns
    -------
    divergence : array of shape (samples,)
        Zero where all members agree.

    Examples
    --------
    >>> import numpy as np
    >>> expected_pairwise_kl(np.array([[[0.0, 1.0]], [[2.0, 1.0]]]), "normal")
    array([1.])
    """
    parameters = check_parameters(parameters, family)
    measure = _normal_pairwise_kl if family == "normal" else _categorical_pairwise_kl
    return _by_block(measure, parameters)


def reverse_mutual_information(parameters: Floats, family: Family) -> Floats:
    r"""Measure how far the members are from their average, seen from the average.

    The mean :math:`\tfrac1M \sum_m \mathrm{KL}(\bar p \| p_m)` in nats. It equals the expected pairwise divergence less
    the mutual information. It is infinite where a member gives a class probability zero and another does not.

    Parameters
    ----------
    parameters : array of shape (members, samples, classes)
        Class probabilities.
    family : {"categorical"}
        Only a classifier has this measure in closed form.

    Returns
    -------
    divergence : array of shape (samples,)
        Zero where all members agree.

    Raises
    ------
    ValueError
        If the family is "normal": the average of Normals is a mixture, and its divergence from a Normal has no closed
        form.

    Examples
    --------
    >>> import numpy as np
    >>> reverse_mutual_information(np.array([[[0.9, 0.1]], [[0.1, 0.9]]]), "categorical").round(3)
    array([0.511])
    """
    parameters = check_parameters(parameters, family)
    if family == "normal":
        message = (
            "reverse_mutual_information is defined for family='categorical' only, got 'normal': the divergence of a "
            "mixture of Normals from one of them has no closed form; use expected_pairwise_kl, which has one"
        )
        raise ValueError(message)
    return _by_block(_reverse_mutual_information, parameters)


def real_numbers(values: npt.ArrayLike, name: str) -> Floats:
    """Return numbers as float64; whatever is none, and complex ones, are an error that calls them by a name.

    >>> real_numbers([1, 2], "y_true")
    array([1., 2.])
    """
    if isinstance(values, Uncertainty):
        message = f"{name} must be one array, got an Uncertainty: pass its .total, .data or .knowledge"
        raise ValueError(message)  # noqa: TRY004 (all bad arrays are value errors)
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            message = f"{name} must be real numbers, got complex ones"
            raise ValueError(message)
        numbers: Floats = array.astype(np.float64, copy=False)
    except TypeError as error:
        message = f"{name} must be numbers, none of them missing: {error}"
        raise ValueError(message) from error
    return numbers


def check_parameters(parameters: Floats, family: Family) -> Floats:
    """Return the parameters as float64, or say what is wrong with their shape.

    Parameters
    ----------
    parameters : array of shape (members, samples, outputs)
        At least one member; two outputs for a Normal, two or more for a classifier, one for a mean alone.
    family : {"normal", "categorical", "mean"}
        What the outputs are.

    Returns
    -------
    parameters : array of shape (members, samples, outputs)
        The same values; no copy if they are float64 already.

    Examples
    --------
    >>> check_parameters([[[0.0, 1.0]]], "normal").shape
    (1, 1, 2)
    """
    if family not in get_args(Family):
        message = f"family must be one of {get_args(Family)}, got {family!r}"
        raise ValueError(message)
    parameters = real_numbers(parameters, "parameters")
    if parameters.ndim != len(_AXES):
        message = f"parameters must have the shape (members, samples, outputs), got {parameters.shape}"
        raise ValueError(message)
    n_members, _, n_outputs = parameters.shape
    if n_members < 1:
        message = f"parameters need at least one member, got the shape {parameters.shape}"
        raise ValueError(message)
    if family == "normal" and n_outputs != _NORMAL_OUTPUTS:
        message = f"a normal posterior has two outputs, mean and variance, got {n_outputs}"
        raise ValueError(message)
    if family == "mean" and n_outputs != 1:
        message = f"a posterior of means has one output, got {n_outputs}"
        raise ValueError(message)
    if family == "categorical" and n_outputs < _FEWEST_CLASSES:
        message = f"a categorical posterior has two or more outputs, one a class, got {n_outputs}"
        raise ValueError(message)
    return parameters


def sum_outputs(values: Floats) -> Floats:
    """Add up along the last axis; where that is short, one output after the other is several times as fast.

    >>> sum_outputs(np.array([[0.25, 0.75], [0.5, 0.5]]))
    array([1., 1.])
    """
    if values.shape[-1] > _FEW_OUTPUTS:
        return np.asarray(values.sum(axis=-1))
    total: Floats = values[..., 0].copy()
    for output in range(1, values.shape[-1]):
        total += values[..., output]
    return total


def _blocks(parameters: Floats) -> Iterator[tuple[slice, Floats]]:
    """Walk over the samples in blocks small enough for the cache, whatever the size of the table."""
    _, n_samples, n_outputs = parameters.shape
    size = max(1, _BLOCK_ELEMENTS // n_outputs)
    for start in range(0, n_samples, size):
        samples = slice(start, start + size)
        yield samples, parameters[:, samples]


def _by_block(measure: Callable[[Floats], Floats], parameters: Floats) -> Floats:
    """Fill one number a sample, block by block."""
    values = np.empty(parameters.shape[1])
    for samples, block in _blocks(parameters):
        values[samples] = measure(block)
    return values


def _members_mean(members: Floats) -> Floats:
    """Average over the first axis, taking differences from the first member so that equal members average exactly."""
    first: Floats = members[0]
    excess = np.zeros_like(first)
    for member in members[1:]:
        excess += member - first
    return first + excess / len(members)


def _variance(members: Floats, center: Floats) -> Floats:
    """Return the population variance over the first axis, one member at a time."""
    variance = np.zeros_like(center)
    for member in members:
        variance += np.square(member - center)
    return variance / len(members)


def _mean_entropy(members: Floats) -> Floats:
    """Average the members' entropies."""
    terms = np.zeros(members.shape[1:])
    for member in members:
        terms += entr(member)
    return sum_outputs(terms) / len(members)


def _mutual_information(members: Floats) -> Floats:
    """Average KL(member || mean) over the members."""
    center = _members_mean(members)
    terms = np.zeros_like(center)
    for member in members:
        terms += rel_entr(member, center)
    return _never_negative(terms, len(members))


def _reverse_mutual_information(members: Floats) -> Floats:
    """Average KL(mean || member) over the members."""
    center = _members_mean(members)
    terms = np.zeros_like(center)
    for member in members:
        terms += rel_entr(center, member)
    return _never_negative(terms, len(members))


def _never_negative(terms: Floats, n_members: int) -> Floats:
    """Finish an average divergence; only rounding could make it negative, so it is cut off at zero."""
    return np.maximum(sum_outputs(terms) / n_members, 0.0)


def _categorical_pairwise_kl(members: Floats) -> Floats:
    """Sum the two divergences from the mean: all pairs for the price of one pass each."""
    return _mutual_information(members) + _reverse_mutual_information(members)


def _normal_pairwise_kl(members: Floats) -> Floats:
    """Average the closed form over all ordered pairs in one pass.

    In the average over pairs the logarithms cancel, and what is left is, with K the variance of the means and v the
    variances, the mean over m of ((v_m - v̄)² / v̄ + K + (μ_m - μ̄)²) / 2 v_m: a sum of terms that are never negative.
    """
    center = _members_mean(members)
    mean, variance = center[:, 0], center[:, 1]
    knowledge = _variance(members[:, :, 0], mean)
    divergence = np.zeros_like(mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        for member in members:
            spread = np.square(member[:, 1] - variance) / variance
            divergence += (spread + knowledge + np.square(member[:, 0] - mean)) / member[:, 1]
    divergence /= 2 * len(members)
    pointlike = (members[:, :, 1] == 0.0).any(axis=0)
    equal = (members == members[0]).all(axis=(0, 2))
    divergence[pointlike] = np.where(equal[pointlike], 0.0, np.inf)
    return divergence
