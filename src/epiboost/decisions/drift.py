"""Test for drift: whether a batch of rows is more uncertain than in-domain rows."""

from dataclasses import dataclass
from typing import Self

from epiboost._typing import Floats


@dataclass(frozen=True, slots=True)
class DriftTest:
    """Result of a test whether a batch of rows comes from another distribution.

    Attributes
    ----------
    statistic : float
        Probability that a row of the batch is more uncertain than an in-domain row; 0.5 without drift.
    p_value : float
        Probability of a statistic as large or larger without drift (Mann–Whitney, one-sided).
    share_outside : float
        Share of the batch that `DomainDetector.predict` flags as out of domain; without drift about the false alarm
        rate or less.
    n_rows : int
        Number of rows of the batch.
    """

    statistic: float
    p_value: float
    share_outside: float
    n_rows: int

    @classmethod
    def from_uncertainty(cls, batch: Floats, in_domain: Floats, threshold: float) -> Self:
        """Compare the uncertainties of a batch with those of in-domain rows.

        Parameters
        ----------
        batch : array of shape (n,)
        in_domain : array of shape (m,)
        threshold : float
            A row is out of domain if its uncertainty is larger.

        Examples
        --------
        >>> import numpy as np
        >>> DriftTest.from_uncertainty(np.array([3.0, 4.0]), np.array([1.0, 2.0]), threshold=3.5).share_outside
        0.5
        """
        from scipy.stats import mannwhitneyu  # noqa: PLC0415 (slow to import)

        test = mannwhitneyu(batch, in_domain, alternative="greater")
        return cls(
            statistic=float(test.statistic) / (len(batch) * len(in_domain)),
            p_value=float(test.pvalue),
            share_outside=float((batch > threshold).mean()),
            n_rows=len(batch),
        )
