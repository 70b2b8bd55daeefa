"""The posterior of numbers as a distribution of SciPy, whose one shape parameter is the sample.

SciPy's newer ``Mixture`` (1.15) takes scalar components only and no counts; this one has one distribution per sample,
all evaluated together, and every method of SciPy's frozen distributions.
"""

from typing import Any

import numpy as np
from scipy import stats

from epiboost._boosting.objectives import Distribution
from epiboost._posterior.numbers import mixtures
from epiboost._posterior.numbers.draws import draw_numbers, generator
from epiboost._typing import Floats, LibraryObject


class _Rows:
    """What a continuous and a discrete distribution of the rows have in common; SciPy hands over flat arrays."""

    def __new__(cls, *_arguments: Any, **_options: Any) -> "_Rows":  # noqa: ANN401, PYI034 (of SciPy)
        """Make the instance; SciPy's own looks into the arguments."""
        return object.__new__(cls)

    def __init__(self, distribution: Distribution, parameters: Floats, mean: Floats, variance: Floats) -> None:
        self._distribution, self._parameters = distribution, parameters
        self._mean, self._variance = mean, variance
        options: dict[str, Any] = {"name": f"{distribution.name} mixture", "shapes": "row"}
        super().__init__(**options)

    def _updated_ctor_param(self) -> dict[str, Any]:
        """Return what SciPy makes a copy of when it freezes the distribution."""
        parts = {"distribution": self._distribution, "parameters": self._parameters}
        return {**parts, "mean": self._mean, "variance": self._variance}

    def _argcheck(self, row: Floats) -> Any:  # noqa: ANN401 (of SciPy)
        return (np.asarray(row) >= 0) & (np.asarray(row) < self._parameters.shape[1])

    def _of(self, row: Floats) -> Floats:
        return self._parameters[:, np.ravel(row).astype(np.int64)]

    def _cdf(self, x: Floats, row: Floats) -> Floats:
        x, row = np.broadcast_arrays(np.asarray(x, dtype=np.float64), row)
        return mixtures.cdf(self._normal_or_own, self._of(row), x.ravel().copy()).reshape(x.shape)

    def _sf(self, x: Floats, row: Floats) -> Floats:
        x, row = np.broadcast_arrays(np.asarray(x, dtype=np.float64), row)
        return mixtures.sf(self._normal_or_own, self._of(row), x.ravel().copy()).reshape(x.shape)

    def _logarithm(self, x: Floats, row: Floats) -> Floats:
        x, row = np.broadcast_arrays(np.asarray(x, dtype=np.float64), row)
        return mixtures.logpdf(self._normal_or_own, self._of(row), x.ravel().copy()).reshape(x.shape)

    def _ppf(self, q: Floats, row: Floats) -> Floats:
        q, row = np.broadcast_arrays(np.asarray(q, dtype=np.float64), row)
        found = mixtures.quantile(self._distribution, self._of(row), q.reshape(-1, 1))
        return found[:, 0].reshape(q.shape)

    def _stats(self, row: Floats) -> tuple[Floats, Floats, None, None]:
        rows = np.asarray(row).astype(np.int64)
        return self._mean[rows], self._variance[rows], None, None

    def _rvs(self, row: Floats, size: Any = None, random_state: LibraryObject = None) -> Floats:  # noqa: ANN401
        rows = np.broadcast_to(row, size).ravel().astype(np.int64)
        random = generator(random_state)
        members = random.integers(len(self._parameters), size=rows.size)
        own = self._parameters[members, rows][np.newaxis]
        return draw_numbers(self._distribution, own, np.zeros(1, dtype=np.int64), random).reshape(size)

    @property
    def _normal_or_own(self) -> Distribution | None:
        return None if self._distribution.name == "normal" else self._distribution


class _ContinuousRows(_Rows, stats.rv_continuous):  # type: ignore[misc]  # SciPy has no types
    def _pdf(self, x: Floats, row: Floats) -> Floats:
        return np.asarray(np.exp(self._logarithm(x, row)))

    def _logpdf(self, x: Floats, row: Floats) -> Floats:
        return self._logarithm(x, row)


class _DiscreteRows(_Rows, stats.rv_discrete):  # type: ignore[misc]  # SciPy has no types
    def _pmf(self, x: Floats, row: Floats) -> Floats:
        return np.asarray(np.exp(self._logarithm(x, row)))

    def _logpmf(self, x: Floats, row: Floats) -> Floats:
        return self._logarithm(x, row)


def frozen(distribution: Distribution, parameters: Floats, mean: Floats, variance: Floats) -> LibraryObject:
    """Return a frozen distribution of SciPy, of shape (samples,).

    >>> from epiboost._boosting.objectives import distribution_named
    >>> normal = distribution_named("normal")
    >>> frozen(normal, np.array([[[0.0, 1.0], [2.0, 4.0]]]), np.array([0.0, 2.0]), np.array([1.0, 4.0])).ppf(0.5)
    array([0., 2.])
    """
    rows = _DiscreteRows if distribution.is_discrete else _ContinuousRows
    return rows(distribution, parameters, mean, variance)(row=np.arange(parameters.shape[1]))
