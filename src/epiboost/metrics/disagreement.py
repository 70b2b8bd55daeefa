"""Measures of disagreement between the members of an ensemble, side by side.

- **mutual information** between the label and the member: the average divergence of the members from their mixture. It
  is the knowledge uncertainty of a classifier.
- **reverse mutual information**: the average divergence of the mixture from the members.
- **expected pairwise divergence**: between two random members; the sum of the two above.
- **variance of means**: the variance of the members' means, or of their probabilities, summed over the classes. It is
  the knowledge uncertainty of a regressor.
- **variance of logits**: the variance of the members' log-odds, averaged over the pairs of classes. Classifiers only.

For Normals the mutual information has no closed form. It is computed by Gauss–Legendre quadrature to about six digits.
The breakpoints depend on every member, so that a narrow member beside a wide one is resolved.
"""

from dataclasses import dataclass, fields

import numpy as np

from epiboost._display import html_table, medians
from epiboost._posterior.divergences import expected_pairwise_kl, reverse_mutual_information
from epiboost._posterior.frames import Frame, FrameBackend, make_frame
from epiboost._posterior.numbers.divergences import divergences_of_numbers
from epiboost._posterior.uncertainty import decompose_categorical, decompose_normal
from epiboost._typing import Family, Floats, LibraryObject
from epiboost.metrics.inputs import Prediction, check_prediction

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)
_BREAKS = np.array([-9.0, -4.5, -2.0, 0.0, 2.0, 4.5, 9.0])
"""Breakpoints of each member, in its standard deviations; the density beyond the last is negligible."""

_BLOCK_SAMPLES = 256
_TINY = 1e-150
"""Variance used for a point mass: smaller than any other, with a finite square root and inverse."""


@dataclass(frozen=True, slots=True, eq=False)
class Disagreement:
    """Disagreement of the members on each sample, by every measure; all are zero where the members agree.

    Attributes
    ----------
    mutual_information : array of shape (samples,)
        In nats.
    reverse_mutual_information : array of shape (samples,)
        In nats.
    expected_pairwise_kl : array of shape (samples,)
        In nats.
    variance_of_means : array of shape (samples,)
        In squared units of the target, or of probability.
    variance_of_logits : array of shape (samples,) or None
        Variance of log-odds; None for a regressor.
    index : pandas.Index or None
        That of the frame that was predicted; `to_frame` keeps it.
    """

    mutual_information: Floats
    reverse_mutual_information: Floats
    expected_pairwise_kl: Floats
    variance_of_means: Floats
    variance_of_logits: Floats | None
    index: LibraryObject = None

    def columns(self) -> dict[str, Floats]:
        """Return the measures by name, without those that are None."""
        named = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "index"}
        return {name: values for name, values in named.items() if values is not None}

    def __repr__(self) -> str:
        """Return the number of samples and the median of each measure."""
        return f"{type(self).__name__}({len(self.variance_of_means)} samples; {medians(self.columns())})"

    def _repr_html_(self) -> str:
        """Return a table of the first samples, for notebooks."""
        return html_table(repr(self), self.columns(), self.index, len(self.variance_of_means))

    def to_frame(self, backend: FrameBackend = "pandas") -> Frame:
        """Return a data frame with one row per sample and one column per measure.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
            As in `Uncertainty.to_frame`.
        """
        return make_frame(self.columns(), backend, self.index)


def disagreement(prediction: Prediction, *, family: Family | None = None) -> Disagreement:
    """Return how much the members disagree on each sample, by every measure.

    Parameters
    ----------
    prediction : Posterior, or array of shape (members, samples, outputs)
        Means and variances, or class probabilities.
    family : {"normal", "categorical"}, optional
        The distribution that an array parametrises; a posterior has its own.

    Returns
    -------
    Disagreement
        One array per measure; ``to_frame()`` returns them as a table.

    Raises
    ------
    ValueError
        If the prediction is empty or holds NaN.

    Examples
    --------
    Two members agree on the first sample and not on the second:

    >>> import numpy as np
    >>> members = np.array([[[0.5, 0.5], [0.9, 0.1]], [[0.5, 0.5], [0.1, 0.9]]])
    >>> disagreement(members, family="categorical").to_frame().round(3).T
                                  0      1
    mutual_information          0.0  0.368
    reverse_mutual_information  0.0  0.511
    expected_pairwise_kl        0.0  0.879
    variance_of_means           0.0  0.320
    variance_of_logits          0.0  4.828
    """
    posterior = check_prediction(prediction, family)
    parameters = posterior.parameters
    if posterior.distribution is not None:
        information, pairwise = divergences_of_numbers(posterior.distribution, parameters)
        reverse = np.maximum(pairwise - information, 0.0)
        variance = posterior.member_means.var(axis=0)
        return Disagreement(information, reverse, pairwise, variance, None, posterior.index)
    pairwise = expected_pairwise_kl(parameters, posterior.family)
    if posterior.family == "normal":
        information = _normal_mutual_information(parameters)
        reverse = np.maximum(pairwise - information, 0.0)
        means = decompose_normal(parameters).knowledge
        return Disagreement(information, reverse, pairwise, means, None, posterior.index)
    return Disagreement(
        mutual_information=decompose_categorical(parameters).knowledge,
        reverse_mutual_information=reverse_mutual_information(parameters, "categorical"),
        expected_pairwise_kl=pairwise,
        variance_of_means=parameters.var(axis=0).sum(axis=1),
        variance_of_logits=_variance_of_logits(parameters),
        index=posterior.index,
    )


def _normal_mutual_information(parameters: Floats) -> Floats:
    information = np.empty(parameters.shape[1])
    for start in range(0, len(information), _BLOCK_SAMPLES):
        block = slice(start, start + _BLOCK_SAMPLES)
        information[block] = _mutual_information_of_normals(parameters[:, block])
    return information


def _mutual_information_of_normals(members: Floats) -> Floats:
    """Return the average divergence of the members from the mixture: the expectation of a log ratio under each member.

    At z standard deviations of member m, the standardised value of member k is (μ_m − μ_k)/σ_k + σ_m z/σ_k, which is
    exact for equal members.
    """
    n_members = len(members)
    means, stds = members[:, :, 0, np.newaxis], np.sqrt(np.maximum(members[:, :, 1, np.newaxis], _TINY))
    information = np.zeros(members.shape[1])
    for mean, std in zip(means, stds, strict=True):
        with np.errstate(over="ignore"):
            z, weight = _quadrature((means - mean) / std, stds / std)
        # Density of the mixture over that of the member. The member itself adds one, so the ratio is at least 1/M.
        ratio = np.zeros_like(z)
        for other_mean, other_std in zip(means, stds, strict=True):
            with np.errstate(over="ignore"):
                other_z = (mean - other_mean) / other_std + std / other_std * z
                exponent = 0.5 * (np.square(z) - np.square(other_z)) + np.log(std / other_std)
            ratio += np.exp(np.minimum(exponent, 700.0))
        information -= (weight * np.log(ratio / n_members)).sum(axis=1)
    return np.clip(information / n_members, 0.0, np.log(n_members))


def _quadrature(mean: Floats, std: Floats) -> tuple[Floats, Floats]:
    """Return nodes and weights, of shape (samples, nodes), of an expectation under the standard Normal.

    The breakpoints are those of every member; mean and std are theirs, of shape (members, samples, 1).
    """
    breaks = np.clip(np.concatenate(mean + std * _BREAKS, axis=1), _BREAKS[0], _BREAKS[-1])
    breaks.sort(axis=1)
    half = np.diff(breaks, axis=1)[:, :, np.newaxis] / 2
    nodes = (breaks[:, :-1, np.newaxis] + half + half * _NODES).reshape(len(breaks), -1)
    density = np.exp(-0.5 * np.square(nodes)) / np.sqrt(2 * np.pi)
    return nodes, (half * _WEIGHTS).reshape(len(breaks), -1) * density


def _variance_of_logits(members: Floats) -> Floats:
    """Return the variance of log(p_j / p_k), averaged over all pairs of classes, from centred logarithms.

    It is infinite where a member gives a class probability zero and the members are not all equal.
    """
    n_classes = members.shape[2]
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms = np.log(members)
        centred = logarithms - logarithms.mean(axis=2, keepdims=True)
        variance = centred.var(axis=0).sum(axis=1) * (2.0 / (n_classes - 1))
    impossible = (members == 0.0).any(axis=(0, 2))
    equal = (members == members[0]).all(axis=(0, 2))
    return np.where(equal, 0.0, np.where(impossible, np.inf, variance))
