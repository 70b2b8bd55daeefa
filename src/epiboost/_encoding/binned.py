"""Encoding of tables with categories as bins, without the intermediate numbers: each known value is binned once."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._encoding.encoding import EncodedValues, Encoding
from epiboost._native import CategoryEncoder, native
from epiboost._typing import AnyArray, Bytes


@dataclass(frozen=True, slots=True)
class BinnedEncoding:
    """An encoding and the bins of its values.

    Attributes
    ----------
    encoding : Encoding
    passthrough : Bins
        Bins of the passthrough columns.
    values : EncodedValues
        Bins of all known values.
    """

    encoding: Encoding
    passthrough: Bins
    values: EncodedValues
    _encoder: CategoryEncoder = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Build the native encoder."""
        object.__setattr__(self, "_encoder", _native_encoder(self.encoding, self.values))

    @classmethod
    def of(cls, encoding: Encoding, bins: Bins) -> "BinnedEncoding":
        """Bin the values of an encoding."""
        numbers, n_passthrough = encoding.values(), len(encoding.passthrough)
        ends = n_passthrough + np.cumsum([lookup.width for lookup in encoding.lookups], dtype=np.int64)
        encoded = tuple(
            bins.select(range(end - values.shape[1], end)).transform(values)
            for end, values in zip(ends.tolist(), numbers.encoded, strict=True)
        )
        passthrough = {}
        for position, values in numbers.passthrough.items():
            column = encoding.passthrough_position(encoding.lookups[position])
            passthrough[position] = bins.select([column]).transform(values[:, np.newaxis])[:, 0]
        return cls(encoding, bins.select(range(n_passthrough)), EncodedValues(encoded, passthrough))

    def transform(self, X: AnyArray, *, threads: int) -> tuple[Bytes, AnyArray]:
        """Return bins of shape (n, n_encoded), and whether a row has a category that was not seen in training."""
        codes, _ = self.encoding.codes(X)
        columns = self.encoding.passthrough
        table = np.empty((self.encoding.n_encoded, len(X)), dtype=np.uint8)
        numbers = np.asarray(X[:, columns], dtype=np.float64)
        table[: len(columns)] = self.passthrough.transform(numbers, threads=threads).T
        unseen = np.zeros(len(X), dtype=np.uint8)
        self._encoder.encode(np.stack(list(codes.values())), threads, table, unseen)
        return table.T, unseen.astype(bool)

    def impute_unseen(self, X: AnyArray, encoded: Bytes, n_members: int) -> Iterator[Bytes]:
        """Yield the bins of one table per member, see `Encoding.impute_unseen`."""
        return self.encoding.impute_unseen(X, encoded, n_members, self.values)


def _native_encoder(encoding: Encoding, values: EncodedValues) -> CategoryEncoder:
    """Return the native encoder of codes; an unseen value of a passthrough column becomes the most common value."""
    encoder, end = native().CategoryEncoder(), len(encoding.passthrough)
    coded = [*np.flatnonzero(encoding.sizes).tolist(), *encoding.intervals.columns.tolist()]  # as in `Encoding.codes`
    position_of = {column: position for position, column in enumerate(coded)}
    sizes = encoding.intervals.add_sizes(encoding.sizes)
    for position, (lookup, encoded) in enumerate(zip(encoding.lookups, values.encoded, strict=True)):
        bins, first = encoded, end
        if not lookup.width:
            known = values.passthrough[position]
            bins = np.append(known, known[lookup.weights.argmax()])[:, np.newaxis]
            first = encoding.passthrough_position(lookup)
        encoder.add(
            lookup.index,
            [position_of[column] for column in lookup.columns],
            [int(sizes[column]) for column in lookup.columns],
            np.ascontiguousarray(bins),
            first,
        )
        end += lookup.width
    return encoder
