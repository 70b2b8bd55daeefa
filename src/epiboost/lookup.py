"""Where keys stand in a list of keys: a hash table in NumPy, for many keys at a time.

>>> import numpy as np
>>> lookup(np.array([3, 7, 20])).places(np.array([20, 4, 3])).tolist()
[2, 3, 0]
"""

import numpy as np

from epiboost._typing import AnyArray, Integers

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def lookup(keys: Integers) -> "Lookup | DenseLookup":
    """Return what finds these keys, none of them negative, the fastest."""
    return DenseLookup(keys) if len(keys) and keys.max() < 4 * len(keys) else Lookup(keys)


class DenseLookup:
    """Finds keys that leave few numbers out: each number has a slot of its own."""

    def __init__(self, keys: Integers) -> None:
        self._slots = np.full(int(keys.max()) + 3, len(keys), dtype=np.int64)  # one before the numbers, one after them
        self._slots[keys + 1] = np.arange(len(keys))

    def places(self, wanted: Integers) -> Integers:
        """Return the place of each key; the number of keys for one that is not there."""
        places: Integers = self._slots[np.clip(wanted + 1, 0, len(self._slots) - 1)]
        return places


class Lookup:
    """Finds keys by open addressing: a key lies in the slot of its hash, or in the first free one after it."""

    def __init__(self, keys: Integers) -> None:
        bits = max(4 * len(keys), 2).bit_length()
        self._shift, self._mask = np.uint64(64 - bits), (1 << bits) - 1
        self._keys = np.append(keys, np.iinfo(np.int64).min)  # the last one stands for no key
        self._slots = np.full(1 << bits, len(keys), dtype=np.int64)
        pending, slot = np.arange(len(keys)), self._hash(keys)
        while len(pending):
            free = self._slots[slot] == len(keys)
            self._slots[slot[free]] = pending[free]  # of several, one gets the slot
            rest = self._slots[slot] != pending
            pending, slot = pending[rest], (slot[rest] + 1) & self._mask

    def places(self, wanted: Integers) -> Integers:
        """Return the place of each key; the number of keys for one that is not there."""
        slot = self._hash(wanted)
        places = self._slots[slot]
        none = len(self._keys) - 1
        pending = np.flatnonzero((self._keys[places] != wanted) & (places != none))
        while len(pending):
            slot[pending] = (slot[pending] + 1) & self._mask
            places[pending] = self._slots[slot[pending]]
            missed = (self._keys[places[pending]] != wanted[pending]) & (places[pending] != none)
            pending = pending[missed]
        return places

    def _hash(self, keys: Integers) -> AnyArray:
        return ((keys.astype(np.uint64) * _MULTIPLIER) >> self._shift).astype(np.int64)
