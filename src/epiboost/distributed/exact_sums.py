"""Sums that do not depend on the order of what is summed: exact, as whole numbers of a tiny unit."""

from fractions import Fraction

import numpy as np

from epiboost._typing import Floats

_DIGITS = 53  # of a float's mantissa
_SMALLEST = -1073  # the exponent of the smallest float, as frexp gives it
_HALF = 26  # digits summed at a time: those of 2^26 rows fit into a float
_AT_ONCE = 1 << 24
UNIT = Fraction(1, 1 << (_DIGITS - _SMALLEST))
"""What exact sums are counted in."""


def exact_sum(values: Floats) -> int:
    """Return the sum of finite numbers, counted in units of `UNIT`.

    >>> float(exact_sum(np.array([1e100, 1.0, -1e100])) * UNIT)
    1.0
    """
    return sum(_sum(values[first : first + _AT_ONCE]) for first in range(0, len(values), _AT_ONCE))


def _sum(values: Floats) -> int:
    fractions, exponents = np.frexp(values)
    mantissas = np.ldexp(fractions, _DIGITS).astype(np.int64)
    places = exponents.astype(np.int64) - _SMALLEST
    high = np.bincount(places, mantissas >> _HALF)
    low = np.bincount(places, mantissas & ((1 << _HALF) - 1))
    return sum(((int(high[place]) << _HALF) + int(low[place])) << place for place in np.unique(places).tolist())
