"""The uncertainty of each sample: total, data and knowledge.

The members of an ensemble are equally weighted draws from a posterior over models. The average of their predictive
distributions is the predictive distribution of the ensemble.

- **Total** uncertainty is the uncertainty of that average.
- **Data** uncertainty is the average uncertainty of the members: noise that more training rows would not remove.
- **Knowledge** uncertainty is the difference: how much the members disagree. It shrinks as training rows are added.

Total is always the sum of the two parts. For Normals the measure is the variance (law of total variance), for
classifiers the Shannon entropy in nats, whose knowledge part is the mutual information of label and member.

References
----------
A. Malinin, L. Prokhorenkova, A. Ustimenko, "Uncertainty in Gradient Boosting via Ensembles", ICLR 2021.
"""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy.special import entr

from epiboost._display import html_table, medians
from epiboost._inputs.device_arrays import is_on_device, like, on_host
from epiboost._native import native
from epiboost._posterior.divergences import mutual_information
from epiboost._posterior.frames import Frame, FrameBackend, check_index, make_frame
from epiboost._posterior.parameters import check_parameters, sample_blocks, sum_outputs
from epiboost._typing import Floats, LibraryObject, Table

Unit: TypeAlias = Literal["variance", "nats"]
"""Unit of an uncertainty: squared units of the target, or nats of entropy."""

Measure: TypeAlias = Literal["total", "data", "knowledge"]
"""A part of the uncertainty."""


def check_measure(measure: str) -> None:
    """Raise a ValueError if ``measure`` is not total, data or knowledge.

    >>> check_measure("knowledge")
    """
    if measure not in get_args(Measure):
        message = f"measure must be one of {get_args(Measure)}, got {measure!r}"
        raise ValueError(message)


@dataclass(frozen=True, slots=True, eq=False)
class Uncertainty:
    """Uncertainty of each sample, in total and by cause.

    Parameters
    ----------
    total : array of shape (samples,)
        Uncertainty of the ensemble's prediction, ``data + knowledge``.
    data : array of shape (samples,)
        The part that more training rows would not remove: noise and overlap of classes.
    knowledge : array of shape (samples,)
        The part that comes from missing training rows: the disagreement of the members.
    unit : {"variance", "nats"}
        Variance of the target (regression) or entropy in nats (classification).
    novelty : array of shape (samples,), optional
        How far the columns of the sample are from the training rows: minus the logarithm of the probability that a row
        of the domain is as far. It is no part of ``total``.
    index : pandas.Index, optional
        Labels of the samples, those of the pandas frame that was predicted; `to_frame` keeps them.

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
    novelty: Floats | None = None
    index: LibraryObject = None

    def __post_init__(self) -> None:
        """Convert the arrays to float64, unless they are on a GPU, and check their shapes and the unit."""
        for name in get_args(Measure):
            object.__setattr__(self, name, _as_floats(getattr(self, name)))
        if self.novelty is not None:
            object.__setattr__(self, "novelty", _as_floats(self.novelty))
            if self.novelty.shape != self.total.shape:
                message = f"novelty must have the shape of total, {self.total.shape}; got {self.novelty.shape}"
                raise ValueError(message)
        shapes = {self.total.shape, self.data.shape, self.knowledge.shape}
        if len(shapes) > 1 or self.total.ndim != 1:
            message = (
                f"total, data and knowledge must have the same shape (samples,), got "
                f"{self.total.shape}, {self.data.shape} and {self.knowledge.shape}"
            )
            raise ValueError(message)
        if self.unit not in get_args(Unit):
            message = f"unit must be one of {get_args(Unit)}, got {self.unit!r}"
            raise ValueError(message)
        check_index(self.index, len(self.total))

    def with_novelty(self, novelty: Floats) -> "Uncertainty":
        """Return the same with the novelty of each sample, shape (samples,)."""
        return replace(self, novelty=novelty)

    def in_library_of(self, X: Table) -> "Uncertainty":
        """Return the same with arrays of the library, and on the GPU, of a table."""
        return replace(self, **{name: like(X, part) for name, part in self._parts().items()})

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.knowledge)

    def __repr__(self) -> str:
        """Return the number of samples, the unit and the median of each part."""
        return f"{type(self).__name__}({len(self)} samples, in {self.unit}; {medians(self.columns())})"

    def _repr_html_(self) -> str:
        """Return a table of the first samples, for notebooks."""
        return html_table(repr(self), self.columns(), self.index, len(self))

    def to_frame(self, backend: FrameBackend = "pandas") -> Frame:
        """Return a data frame with one row per sample and one column per part of the uncertainty.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
            The library that makes the frame; it must be installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns ``total``, ``data`` and ``knowledge``, and ``novelty`` if it was measured. If a pandas frame was
            predicted, a frame of pandas has its index, so that joins match the rows.
        """
        return make_frame(self.columns(), backend, self.index)

    def columns(self) -> dict[str, Floats]:
        """Return the parts that are known by name, each an array on the host of shape (samples,)."""
        return {name: on_host(part) for name, part in self._parts().items()}

    def _parts(self) -> dict[str, Floats]:
        parts = {"total": self.total, "data": self.data, "knowledge": self.knowledge}
        return parts if self.novelty is None else {**parts, "novelty": self.novelty}


def _as_floats(values: LibraryObject) -> Floats:
    """Return an array of double precision; one on a GPU stays as it is."""
    return values if is_on_device(values) else np.asarray(values, dtype=np.float64)


def decompose_normal(parameters: Floats, index: LibraryObject = None) -> Uncertainty:
    r"""Decompose the variance of an ensemble of Normals.

    With members' means :math:`\mu_m` and variances :math:`\sigma_m^2`,

    .. math::
        \underbrace{\mathrm{Var}[y]}_\text{total}
        = \underbrace{\tfrac1M \sum_m \sigma_m^2}_\text{data}
        + \underbrace{\tfrac1M \sum_m (\mu_m - \bar\mu)^2}_\text{knowledge}.

    Parameters
    ----------
    parameters : array of shape (members, samples, 2)
        Mean and variance of each member for each sample.
    index : pandas.Index, optional
        Labels of the samples.

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
    return Uncertainty(total=data + knowledge, data=data, knowledge=knowledge, unit="variance", index=index)


def decompose_variance(means: Floats, variances: Floats, index: LibraryObject = None) -> Uncertainty:
    """Decompose the variance of an ensemble of any distributions of numbers by the law of total variance.

    Parameters
    ----------
    means, variances : arrays of shape (members, samples)
        Of each member's distribution.
    index : pandas.Index, optional
        Labels of the samples.

    Returns
    -------
    uncertainty : Uncertainty
        In units of variance.

    Examples
    --------
    >>> import numpy as np
    >>> decompose_variance(np.array([[4.0], [6.0]]), np.array([[1.0], [3.0]])).total
    array([3.])
    """
    return decompose_normal(np.stack([means, variances], axis=-1), index)


def decompose_categorical(parameters: Floats, index: LibraryObject = None) -> Uncertainty:
    r"""Decompose the entropy of an ensemble of classifiers.

    With members' probabilities :math:`p_m` and their average :math:`\bar p`,

    .. math::
        \underbrace{H[\bar p]}_\text{total}
        = \underbrace{\tfrac1M \sum_m H[p_m]}_\text{data}
        + \underbrace{\tfrac1M \sum_m \mathrm{KL}(p_m \| \bar p)}_\text{knowledge}.

    The last term is the mutual information between the label and the member. It is computed as a sum of divergences and
    not as a difference of entropies: small disagreements keep their digits, and no value is negative.

    Parameters
    ----------
    parameters : array of shape (members, samples, classes)
        Class probabilities of each member for each sample; zeros are allowed.
    index : pandas.Index, optional
        Labels of the samples.

    Returns
    -------
    uncertainty : Uncertainty
        In nats.

    Examples
    --------
    On the first sample two members are sure of different classes: all uncertainty is knowledge uncertainty. On the
    second sample both are undecided: all uncertainty is data uncertainty.

    >>> import numpy as np
    >>> uncertainty = decompose_categorical(np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]]))
    >>> uncertainty.knowledge.round(3), uncertainty.data.round(3), uncertainty.total.round(3)
    (array([0.693, 0.   ]), array([0.   , 0.693]), array([0.693, 0.693]))
    """
    parameters = check_parameters(parameters, "categorical")
    data, knowledge = np.empty((2, parameters.shape[1]))
    for samples, block in sample_blocks(parameters):
        data[samples] = _mean_entropy(block)
        knowledge[samples] = mutual_information(block)
    return Uncertainty(total=data + knowledge, data=data, knowledge=knowledge, unit="nats", index=index)


def _mean_entropy(members: Floats) -> Floats:
    """Return the average of the members' entropies."""
    terms = np.zeros(members.shape[1:])
    for member in members:
        terms += entr(member)
    return sum_outputs(terms) / len(members)
