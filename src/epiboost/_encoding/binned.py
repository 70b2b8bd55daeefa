"""Tables with categories as bins, without a detour by numbers: what each value becomes is binned once."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._encoding.encoding import Encoding, Script
from epiboost._native import native
from epiboost._typing import AnyArray, Bytes


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
    _writer: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Make the bins ready to be written."""
        object.__setattr__(self, "_writer", _writer_of(self.encoding, self.script))

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
        codes, _ = self.encoding.codes(X)
        table = np.empty((self.encoding.n_encoded, len(X)), dtype=np.uint8)
        numbers = np.asarray(X[:, self.encoding.plain], dtype=np.float64)
        table[: len(self.encoding.plain)] = self.plain.transform(numbers, threads=threads).T
        unseen = np.zeros(len(X), dtype=np.uint8)
        self._writer.write(np.stack(list(codes.values())), threads, table, unseen)
        return table.T, unseen.astype(bool)

    def lend(self, X: AnyArray, encoded: Bytes, n_members: int) -> Iterator[Bytes]:
        """Yield the bins of each member's view of rows with unseen categories, see `Encoding.lend`."""
        return self.encoding.lend(X, encoded, n_members, self.script)


def _writer_of(encoding: Encoding, script: Script) -> Any:  # noqa: ANN401 (a class of the native module)
    """Return what writes codes as bins; a new value of a column that is taken as it is gets that of the most common."""
    writer, end = native().Writer(), len(encoding.plain)
    coded = [*np.flatnonzero(encoding.sizes).tolist(), *encoding.cuts.columns.tolist()]  # as `Encoding.codes` has them
    sizes = encoding.cuts.sizes(encoding.sizes)
    for place, (group, values) in enumerate(zip(encoding.groups, script.values, strict=True)):
        own, begin = values, end
        if not group.width:
            bins = script.plain[place]
            own, begin = np.append(bins, bins[group.rows.argmax()])[:, np.newaxis], encoding.plain_place(group)
        columns = [coded.index(column) for column in group.columns]
        writer.add(
            group.ready, columns, [int(sizes[column]) for column in group.columns], np.ascontiguousarray(own), begin
        )
        end += group.width
    return writer


def _columns(bins: Bins, places: "range | list[int]") -> Bins:
    return Bins.of_columns([bins.borders_of(place) for place in places])
