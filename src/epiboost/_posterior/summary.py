"""Mean and uncertainty of each row, where the parameters of the members are not needed.

>>> import numpy as np
>>> summary = Summary(mean=np.array([2.0]), data=np.array([1.0]), knowledge=np.array([3.0]))
>>> summary.std, summary.uncertainty().total
(array([2.]), array([4.]))
"""

from dataclasses import dataclass

from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import LibraryObject


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """Summary of the posterior of each row. Its arrays are on the host, or all on a GPU.

    Attributes
    ----------
    mean : array of shape (n,), or (n, classes)
    data, knowledge : arrays of shape (n,), or None
        Parts of the variance; None for a classifier.
    index : pandas.Index, optional
    """

    mean: LibraryObject
    data: LibraryObject = None
    knowledge: LibraryObject = None
    index: LibraryObject = None

    @property
    def std(self) -> LibraryObject:
        """Root of the total variance, shape (n,)."""
        return (self.data + self.knowledge) ** 0.5

    def uncertainty(self) -> Uncertainty:
        """Return the variance of each row, split into data and knowledge."""
        total = self.data + self.knowledge
        return Uncertainty(total, self.data, self.knowledge, unit="variance", index=self.index)
