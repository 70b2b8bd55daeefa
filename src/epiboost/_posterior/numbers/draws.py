"""Random draws from a posterior.

Draw j is of one member, the same for all samples: its columns are draws of the whole table, and the sum of a column has
the knowledge uncertainty that its samples share. Every row by itself holds independent draws of the mixture.
"""

import numbers

import numpy as np

from epiboost._boosting.objectives import Distribution
from epiboost._typing import AnyArray, Floats, Integers

RandomState = int | np.random.Generator | np.random.RandomState | None
"""What a user may give as the source of randomness."""


def draw_members(n_members: int, n: int, random: np.random.Generator) -> Integers:
    """Return the member of each draw, shape (n,)."""
    if isinstance(n, bool) or not isinstance(n, numbers.Integral) or n < 1:
        message = f"n must be a whole number of at least 1, got {n!r}"
        raise ValueError(message)
    members: Integers = random.integers(n_members, size=int(n))
    return members


def draw_numbers(
    distribution: Distribution, parameters: Floats, members: Integers, random: np.random.Generator
) -> Floats:
    """Return one number per sample and draw, shape (samples, n).

    >>> from epiboost._boosting.objectives import distribution_named
    >>> normal, random = distribution_named("normal"), np.random.default_rng(0)
    >>> draw_numbers(normal, np.array([[[5.0, 0.0]], [[7.0, 0.0]]]), np.array([0, 1, 1]), random)
    array([[5., 7., 7.]])
    """
    drawn = np.empty((parameters.shape[1], len(members)))
    for member in np.unique(members):
        columns = np.flatnonzero(members == member)
        shape = (parameters.shape[1], len(columns), parameters.shape[2])
        drawn[:, columns] = distribution.sample(np.broadcast_to(parameters[member][:, np.newaxis], shape), random)
    return drawn


def draw_classes(probabilities: Floats, members: Integers, random: np.random.Generator) -> Integers:
    """Return the position of one class per sample and draw, shape (samples, n).

    >>> draw_classes(np.array([[[1.0, 0.0], [0.0, 1.0]]]), np.array([0, 0]), np.random.default_rng(0))
    array([[0, 0],
           [1, 1]])
    """
    uniform = random.uniform(size=(probabilities.shape[1], len(members)))
    codes = np.empty(uniform.shape, dtype=np.int64)
    for draw, member in enumerate(members):
        reached = np.cumsum(probabilities[member], axis=1)
        level = uniform[:, draw] * reached[:, -1]
        codes[:, draw] = (reached <= level[:, np.newaxis]).sum(axis=1)
    return np.asarray(np.minimum(codes, probabilities.shape[2] - 1))


def generator(random_state: RandomState) -> np.random.Generator:
    """Return the generator of a seed, of a generator (which goes on), or of a RandomState of NumPy's older kind.

    >>> generator(0).integers(10) == generator(0).integers(10)
    np.True_
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1, size=4))
    if isinstance(random_state, np.random.Generator) or random_state is None:
        return np.random.default_rng(random_state)
    if isinstance(random_state, bool) or not isinstance(random_state, numbers.Integral) or random_state < 0:
        message = f"random_state must be a whole number of at least 0, a generator or None, got {random_state!r}"
        raise ValueError(message)
    return np.random.default_rng(int(random_state))


def labels_of(codes: Integers, classes: AnyArray | None) -> AnyArray:
    """Return the labels of codes; the codes themselves if the classes have no labels."""
    return codes if classes is None else classes[codes]
