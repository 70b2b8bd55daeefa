"""The predictive distributions of several targets: one `Posterior` per target, independent of each other.

>>> one = Posterior(np.array([[[0.0, 1.0]], [[2.0, 1.0]]]), "normal")
>>> both = TargetPosteriors((one, one), ("height", "width"))
>>> both.mean, both["width"].mean
(array([[1., 1.]]), array([1.]))
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from epiboost._posterior.posterior import Posterior
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import Floats


@dataclass(frozen=True, slots=True, eq=False)
class TargetPosteriors:
    """Predictive distributions of several targets.

    Its ``mean`` and ``std`` have the shape (samples, targets).

    Parameters
    ----------
    targets : tuple of Posterior
        One per target, for the same rows and members.
    names : tuple of str
        Names of the targets.

    Examples
    --------
    >>> one = Posterior(np.array([[[0.0, 1.0]]]), "normal")
    >>> TargetPosteriors((one, one), ("height", "width")).interval(0.9).shape
    (1, 2, 2)
    """

    targets: tuple[Posterior, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check that the targets belong together."""
        sizes = {posterior.n_samples for posterior in self.targets}
        if len(sizes) != 1 or len(self.names) != len(self.targets):
            message = f"targets must have a name each, and the same number of samples; got {sorted(sizes)} samples"
            raise ValueError(message)

    def __len__(self) -> int:
        """Return the number of targets."""
        return len(self.targets)

    def __iter__(self) -> Iterator[Posterior]:
        """Iterate over the targets."""
        return iter(self.targets)

    def __getitem__(self, target: int | str) -> Posterior:
        """Return the posterior of a target, by position or name."""
        if isinstance(target, str):
            if target not in self.names:
                message = f"there is no target {target!r}; there are {', '.join(self.names)}"
                raise KeyError(message)
            return self.targets[self.names.index(target)]
        return self.targets[target]

    def __repr__(self) -> str:
        """Return the number of targets and the posterior of each."""
        lines = [f"  {name}: {posterior!r}" for name, posterior in zip(self.names, self.targets, strict=True)]
        return "\n".join([f"{type(self).__name__}({len(self)} targets)", *lines])

    @property
    def mean(self) -> Floats:
        """Mean of each target, shape (samples, targets)."""
        return self._per_target([posterior.mean for posterior in self.targets])

    @property
    def std(self) -> Floats:
        """Standard deviation of each target, shape (samples, targets)."""
        return self._per_target([posterior.std for posterior in self.targets])

    def uncertainty(self) -> tuple[Uncertainty, ...]:
        """Return the uncertainty of each target."""
        return tuple(posterior.uncertainty() for posterior in self.targets)

    def quantile(self, q: float | npt.ArrayLike) -> Floats:
        """Return quantiles, shape (samples, targets) or (samples, targets, k), see `Posterior.quantile`."""
        return self._per_target([posterior.quantile(q) for posterior in self.targets])

    def interval(self, coverage: float | npt.ArrayLike = 0.9) -> Floats:
        """Return intervals, shape (samples, targets, 2) or (samples, targets, k, 2), see `Posterior.interval`."""
        return self._per_target([posterior.interval(coverage) for posterior in self.targets])

    @staticmethod
    def _per_target(arrays: list[Floats]) -> Floats:
        return np.stack(arrays, axis=1)
