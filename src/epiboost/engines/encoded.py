"""Tables with categories as bins, without a detour by numbers: what each value becomes is binned once."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from epiboost._typing import AnyArray, Bytes
from epiboost.binning import Bins
from epiboost.encoding import Encoding, Script


@dataclass(frozen=True, slots=True)
class BinnedEncoding:
    """An encoding, and the bins of what it makes.

    Attributes
    ----------
    encoding : Encoding
    plain : Bins
        Of the columns that are taken as they are.
    script : Script
        The bins of all values.
    """

    encoding: Encoding
    plain: Bins
    script: Script

    @classmethod
    def of(cls, encoding: Encoding, bins: Bins) -> "BinnedEncoding":
        """Bin what an encoding makes."""
        numbers, n_plain = encoding.numbers(), len(encoding.plain)
        ends = n_plain + np.cumsum([group.width for group in encoding.groups], dtype=np.int64)
        values = tuple(
            _columns(bins, range(end - own.shape[1], end)).transform(own)
            for end, own in zip(ends.tolist(), numbers.values, strict=True)
        )
        plain = {
            place: _columns(bins, [encoding.plain_place(encoding.groups[place])]).transform(own[:, np.newaxis])[:, 0]
            for place, own in numbers.plain.items()
        }
        return cls(encoding, _columns(bins, range(n_plain)), Script(values, plain))

    def transform(self, X: AnyArray, *, threads: int) -> tuple[Bytes, AnyArray]:
        """Encode a table: bins of shape (n, n_encoded), and whether a category of a row was not seen in training."""
        numbers = np.asarray(X[:, self.encoding.plain], dtype=np.float64)
        return self.encoding.written(X, self.plain.transform(numbers, threads=threads), self.script)

    def lend(self, X: AnyArray, encoded: Bytes, n_members: int) -> Iterator[Bytes]:
        """Yield the bins of each member's view of rows with unseen categories, see `Encoding.lend`."""
        return self.encoding.lend(X, encoded, n_members, self.script)


def _columns(bins: Bins, places: "range | list[int]") -> Bins:
    return Bins.of_columns([bins.borders_of(place) for place in places])
