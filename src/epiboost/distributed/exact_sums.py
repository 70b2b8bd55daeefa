"""Exact sums of floats, which do not depend on the order of summation.

A sum is a Python integer, a multiple of a unit that divides every float.
"""

from fractions import Fraction

import numpy as np

from epiboost._typing import Floats

_MANTISSA_BITS = 53
_MIN_EXPONENT = -1073  # of the smallest positive float, as frexp returns it
_LOW_BITS = 26  # mantissas are summed in two halves, so that the sums of 2^26 of them are exact in double precision
_CHUNK_SIZE = 1 << 24  # values per partial sum

UNIT = Fraction(1, 1 << (_MANTISSA_BITS - _MIN_EXPONENT))
"""Unit of the exact sums."""


def exact_sum(values: Floats) -> int:
    """Return the exact sum of finite numbers as a multiple of `UNIT`.

    >>> float(exact_sum(np.array([1e100, 1.0, -1e100])) * UNIT)
    1.0
    """
    return sum(_chunk_sum(values[first : first + _CHUNK_SIZE]) for first in range(0, len(values), _CHUNK_SIZE))


def _chunk_sum(values: Floats) -> int:
    """Sum the mantissas of equal exponents, then the integers that these sums stand for."""
    fractions, exponents = np.frexp(values)
    mantissas = np.ldexp(fractions, _MANTISSA_BITS).astype(np.int64)
    shifts = exponents.astype(np.int64) - _MIN_EXPONENT
    high = np.bincount(shifts, mantissas >> _LOW_BITS)
    low = np.bincount(shifts, mantissas & ((1 << _LOW_BITS) - 1))
    return sum(((int(high[shift]) << _LOW_BITS) + int(low[shift])) << shift for shift in np.unique(shifts).tolist())
