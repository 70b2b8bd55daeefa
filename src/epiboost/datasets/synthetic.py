"""Two generated tables with known uncertainty: the heart and the spiral.

Both come from the section on synthetic data of "Uncertainty in Gradient Boosting via Ensembles" (ICLR 2021). The paper
shows some of their numbers only as pictures; the docstrings say which numbers are used here.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy import ndimage

from epiboost._typing import AnyArray, Floats, Integers

Seed: TypeAlias = int | np.random.Generator | None

N_LEVELS = 9
"""Number of values of each of the two features of the heart."""

_HEART = (
    ".........",
    "..##.##..",
    ".#######.",
    ".#######.",
    ".#######.",
    "..#####..",
    "...###...",
    "....#....",
    ".........",
)
_SMALLEST_VARIANCE, _LARGEST_VARIANCE, _EDGE_VARIANCE = 0.01, 0.04, 0.09

N_ARMS = 3
"""Number of arms of the spiral, which are its classes."""

_FIRST_RADIUS, _LAST_RADIUS = 0.1, 1.0
_TURNS_PER_ARM = 0.75
_AXES_ROTATION = np.pi / 4.0


@dataclass(frozen=True, slots=True)
class HeartCells:
    """True mean and variance of each of the 81 cells of the heart.

    Arrays of shape (9, 9) have the values of the first feature as rows and those of the second as columns. A prediction
    for ``X`` gets this shape by ``.reshape(9, 9)``.

    Attributes
    ----------
    X : array of shape (81, 2)
        Each cell once, row by row.
    inside : array of bool, of shape (9, 9)
        Cells inside the heart, which have no rows.
    mean : array of shape (9, 9)
        Mean of the target; NaN inside the heart.
    data_uncertainty : array of shape (9, 9)
        Variance of the target; NaN inside the heart.
    """

    X: Integers
    inside: AnyArray
    mean: Floats
    data_uncertainty: Floats


@dataclass(frozen=True, slots=True)
class Heart:
    """A regression table with a heart-shaped hole.

    Attributes
    ----------
    X : array of shape (n_samples, 2)
        Two categorical features with the codes 0 to 8.
    y : array of shape (n_samples,)
        The target.
    cells : HeartCells
        True mean and variance of each cell.
    """

    X: Integers
    y: Floats
    cells: HeartCells


@dataclass(frozen=True, slots=True)
class Spiral:
    """A classification table of three interleaved spiral arms.

    Attributes
    ----------
    X : array of shape (n_samples, 5)
        Features, computed from ``points`` by `spiral_features`.
    y : array of shape (n_samples,)
        The arm of each row: 0, 1 or 2.
    points : array of shape (n_samples, 2)
        Coordinates of each row in the plane.
    """

    X: Floats
    y: Integers
    points: Floats


def make_heart(n_per_cell: int = 1000, *, random_state: Seed = None) -> Heart:
    """Generate a regression table with a heart-shaped hole.

    Two categorical features with nine values each make 81 cells. In a cell outside the heart the target is
    ``y ~ Normal(a, b)`` with a mean ``a``, drawn uniformly from [0, 1] for each cell, and variance ``b``. Inside the
    heart there are no rows. A good model has the data uncertainty ``b`` outside the heart, and high knowledge
    uncertainty inside.

    The paper shows ``b`` as a picture. Here it is 0.09 in the cells that share an edge with the heart, so that the
    outline of the heart is visible in the noise; elsewhere it increases from 0.01 in the first column to 0.04 in the
    last.

    Parameters
    ----------
    n_per_cell : int, default=1000
        Number of rows in each cell outside the heart.
    random_state : int, numpy.random.Generator or None, default=None
        Seed; the same int gives the same table.

    Returns
    -------
    Heart
        The rows, in random order, and the true mean and variance of each cell.

    Examples
    --------
    >>> heart = make_heart(n_per_cell=10, random_state=0)
    >>> heart.X.shape, heart.y.shape
    ((470, 2), (470,))
    >>> int(heart.cells.inside.sum())
    34
    """
    _check_count("n_per_cell", n_per_cell, minimum=1)
    rng = np.random.default_rng(random_state)
    cells = _heart_cells(rng)
    outside = np.flatnonzero(~cells.inside)
    cell = rng.permutation(np.repeat(outside, n_per_cell))
    mean, variance = cells.mean.ravel()[cell], cells.data_uncertainty.ravel()[cell]
    return Heart(X=cells.X[cell], y=rng.normal(mean, np.sqrt(variance)), cells=cells)


def make_spiral(n_samples: int = 3000, *, noise: float = 0.04, random_state: Seed = None) -> Spiral:
    """Generate three interleaved spiral arms, one per class.

    The arms start near the origin and end at radius 1 after three quarters of a turn. The paper shows the table as a
    picture; the length of the arms and the noise are chosen here.

    Parameters
    ----------
    n_samples : int, default=3000
        Number of rows. The sizes of the arms differ by at most one row.
    noise : float, default=0.04
        Standard deviation of the Normal noise of both coordinates.
    random_state : int, numpy.random.Generator or None, default=None
        Seed; the same int gives the same table.

    Returns
    -------
    Spiral
        The rows, in random order.

    Examples
    --------
    >>> spiral = make_spiral(n_samples=300, random_state=0)
    >>> spiral.X.shape
    (300, 5)
    >>> np.bincount(spiral.y).tolist()
    [100, 100, 100]
    """
    _check_count("n_samples", n_samples, minimum=N_ARMS)
    if not noise >= 0.0:
        message = f"noise must be a standard deviation of at least 0; got {noise!r}"
        raise ValueError(message)
    rng = np.random.default_rng(random_state)
    arm = rng.permutation(np.arange(n_samples) % N_ARMS)
    # The square root makes the rows uniform over area, not over radius.
    position = np.sqrt(rng.uniform(size=n_samples))
    radius = _FIRST_RADIUS + (_LAST_RADIUS - _FIRST_RADIUS) * position
    angle = 2.0 * np.pi * (arm / N_ARMS + _TURNS_PER_ARM * position)
    points = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    points += rng.normal(scale=noise, size=points.shape)
    return Spiral(X=spiral_features(points), y=arm.astype(np.int64), points=points)


def spiral_features(points: Floats) -> Floats:
    """Return features of points in the plane with which trees can follow a spiral.

    Trees split along axes. As in the paper, the coordinates in rotated axes (here by an eighth of a turn) and the
    radius are added.

    Parameters
    ----------
    points : array of shape (n, 2)
        Coordinates.

    Returns
    -------
    array of shape (n, 5)
        Both coordinates, both coordinates in the rotated axes, and the radius.

    Examples
    --------
    >>> spiral_features(np.array([[1.0, 1.0]])).round(2).tolist()
    [[1.0, 1.0, 1.41, 0.0, 1.41]]
    """
    points = np.asarray(points, dtype=np.float64)
    cosine, sine = np.cos(_AXES_ROTATION), np.sin(_AXES_ROTATION)
    rotated = points @ np.array([[cosine, -sine], [sine, cosine]])
    return np.column_stack([points, rotated, np.hypot(points[:, 0], points[:, 1])])


def _heart_cells(rng: np.random.Generator) -> HeartCells:
    inside = np.array([[mark == "#" for mark in row] for row in _HEART])
    edge = ndimage.binary_dilation(inside) & ~inside
    slope = np.linspace(_SMALLEST_VARIANCE, _LARGEST_VARIANCE, N_LEVELS)
    variance = np.where(edge, _EDGE_VARIANCE, np.tile(slope, (N_LEVELS, 1)))
    mean = rng.uniform(size=inside.shape)
    return HeartCells(
        X=np.argwhere(np.ones_like(inside)).astype(np.int64),
        inside=inside,
        mean=np.where(inside, np.nan, mean),
        data_uncertainty=np.where(inside, np.nan, variance),
    )


def _check_count(name: str, value: int, *, minimum: int) -> None:
    if not isinstance(value, int | np.integer) or value < minimum:
        message = f"{name} must be an integer of at least {minimum}; got {value!r}"
        raise ValueError(message)
