"""Fits the recalibration of numbers, see `NumberRecalibration`, to targets that chains have not seen."""

from dataclasses import dataclass, replace

import numpy as np

from epiboost._boosting.objectives import Distribution, distribution_of, log_likelihood
from epiboost._estimators.out_of_fold.disagreement import Disagreement
from epiboost._estimators.out_of_fold.numbers import NumberRecalibration
from epiboost._typing import Floats, Integers

_PRIOR_ROWS = 10.0  # weight of the prior that keeps the power near one
_MAX_SHIFT = 6.0
_MAX_MOVE = 2.0  # standard deviations
_MAX_POWER = 2.0
_MAX_KNOWLEDGE_SHARE = 0.5  # of the variance on the scale of the link, on average over rows
_MAX_EXCESS_SHARE = 0.5
_KNOWN_SHARE = 0.75  # of knowledge: it is known up to a factor of two, and intervals should rather be too wide
_ENOUGH_ROWS = 50_000  # more change the third digit
_STEP = 0.2  # of a derivative of the loss, in standard deviations
_LARGE = 1e6  # a loss that no row exceeds, so that one row does not decide
_NO_LIMIT = 1e300
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True, eq=False)
class UnseenTargets:
    """Targets, and what chains that have not seen them predict.

    Attributes
    ----------
    objective : str
    settings : tuple of float
        Of the distribution.
    y : array of shape (n,), or (n, 2) of bounds
    weight : array of shape (n,)
    predicted : array of shape (n, outputs)
    """

    objective: str
    settings: tuple[float, ...]
    y: Floats
    weight: Floats
    predicted: Floats

    @property
    def distribution(self) -> Distribution:
        """The distribution whose parameters are predicted."""
        return distribution_of(self.objective, self.settings)

    def log_likelihood(self, parameters: Floats) -> Floats:
        """Return the log-likelihood of each target by these parameters, shape (n,)."""
        return log_likelihood(self.objective, self.distribution, parameters, self.y)

    def some(self) -> "UnseenTargets":
        """Return enough of the rows to fit a few numbers."""
        return self.take(np.linspace(0, len(self.y) - 1, min(len(self.y), _ENOUGH_ROWS)).astype(np.int64))

    def take(self, rows: Integers) -> "UnseenTargets":
        """Return some of the rows."""
        return replace(self, y=self.y[rows], weight=self.weight[rows], predicted=self.predicted[rows])

    def recalibration(
        self, shape: float | None, reference: float = 0.0, *, move: float = 0.0, shift: float = 0.0, power: float = 1.0
    ) -> NumberRecalibration:
        """Return a recalibration that leaves knowledge as it is."""
        return NumberRecalibration(
            family=self.distribution.name,
            settings=self.settings,
            reference=reference,
            shift=shift,
            power=power,
            move=move,
            shape=shape,
            knowledge=1.0,
            limit=_NO_LIMIT,
        )


def fit_numbers(unseen: UnseenTargets, share: float, disagreement: Disagreement) -> tuple[NumberRecalibration, Floats]:
    """Return the recalibration of the members, and the recalibrated parameters of the given chains.

    Parameters
    ----------
    unseen : UnseenTargets
    share : float
        Of the rows that a chain has seen, on average.
    disagreement : Disagreement
        Of locations.
    """
    distribution, weight = unseen.distribution, unseen.weight
    own = most_likely(unseen.some())
    of_chains = own.of_chain(unseen.predicted, own.shift)
    link = distribution.link(of_chains)
    if link.shape[-1] == 0:
        return own, of_chains
    noise = max(float(np.average(distribution.link_variance(of_chains), weights=weight)), _TINY)
    without_excess = 1.0 - min(disagreement.excess(share) / noise, _MAX_EXCESS_SHARE)
    factor = disagreement.knowledge_factor
    if disagreement.seeds > 0.0:
        factor = min(factor, _MAX_KNOWLEDGE_SHARE * without_excess * noise / disagreement.seeds)
    kept = without_excess - _KNOWN_SHARE * factor * disagreement.seeds / noise
    spread = float(np.average(np.square(link[:, 0] - np.average(link[:, 0], weights=weight)), weights=weight))
    shift = own.shift + 0.5 * float(np.log(kept))
    move = _move_of_ensemble(unseen.some(), own, min(disagreement.excess(share), _MAX_EXCESS_SHARE * noise))
    limit = max(spread + noise, _TINY)
    return replace(own, move=move, shift=shift, knowledge=factor, limit=limit), of_chains


def _move_of_ensemble(unseen: UnseenTargets, own: NumberRecalibration, excess: float) -> float:
    """Return what an ensemble must be moved by, whose location has less variance than that of a chain, by the excess.

    Where the loss L is not symmetric in the location, an error of variance v moves the best location by −v L‴ / 2 L″.
    """
    distribution, weight = unseen.distribution, unseen.weight
    chains = own.of_chain(unseen.predicted, own.shift)
    link = distribution.link(chains)
    step = _STEP * float(np.sqrt(np.average(distribution.link_variance(chains), weights=weight)))

    def loss(steps: int) -> float:
        moved = link.copy()
        moved[:, 0] += steps * step
        with np.errstate(all="ignore"):
            return _total(-unseen.log_likelihood(distribution.from_link(moved, chains)), weight)

    below, lower, here, upper, above = (loss(steps) for steps in (-2, -1, 0, 1, 2))
    second = (upper - 2.0 * here + lower) / step**2
    third = (above - 2.0 * upper + 2.0 * lower - below) / (2.0 * step**3)
    if not (second > 0.0 and np.isfinite(third)):
        return own.move
    move = own.move + 0.5 * excess * third / second
    return float(np.clip(move, min(own.move, 0.0), max(own.move, 0.0)))


def most_likely(unseen: UnseenTargets) -> NumberRecalibration:
    """Return the most likely dispersions and shape of the given chains, without knowledge."""
    own, _ = min((_fit(unseen, shape) for shape in unseen.distribution.shapes or (None,)), key=lambda fit: fit[1])
    return own


def _fit(unseen: UnseenTargets, shape: float | None) -> tuple[NumberRecalibration, float]:
    """Return move, shift and power of the most likely parameters with a shape, without knowledge, and their loss."""
    from scipy.optimize import minimize  # noqa: PLC0415 (slow to import)

    distribution, weight = unseen.distribution, unseen.weight
    shaped = unseen.predicted if shape is None else distribution.with_shape(unseen.predicted, shape)
    link = distribution.link(shaped)
    if link.shape[-1] == 0:
        return unseen.recalibration(shape), _total(-unseen.log_likelihood(shaped), weight)
    has_dispersion = link.shape[-1] > 1
    reference = float(np.average(link[:, 1], weights=weight)) if has_dispersion else 0.0
    unit = float(np.sqrt(np.average(distribution.link_variance(shaped), weights=weight)))
    unit = unit if 0.0 < unit < _LARGE else 1.0
    low, high = np.array([-_MAX_MOVE, -_MAX_SHIFT, 0.0]), np.array([_MAX_MOVE, _MAX_SHIFT, _MAX_POWER])
    start = np.array([0.0, 0.0, 1.0])
    steps = np.array([[0.1, 0.0, 0.0], [0.0, 0.3, 0.0], [0.0, 0.0, -0.3]])
    used = slice(None) if has_dispersion else slice(0, 1)

    def loss(tried: Floats) -> float:
        asked = start.copy()
        asked[used] = tried
        move, shift, power = bounded = np.clip(asked, low, high)
        changed = link.copy()
        changed[:, 0] += unit * move
        if has_dispersion:
            changed[:, 1] = reference + shift + power * (link[:, 1] - reference)
        with np.errstate(all="ignore"):
            losses = -unseen.log_likelihood(distribution.from_link(changed, shaped))
        outside = float(np.square(asked - bounded).sum())
        prior = 0.5 * _PRIOR_ROWS * float(power - 1.0) ** 2
        return _total(losses, weight) + prior + float(weight.sum()) * outside

    simplex = np.concatenate([[start[used]], (start + steps)[used, used]])
    options = {"initial_simplex": simplex, "xatol": 1e-3, "fatol": 1e-3}
    found = minimize(loss, start[used], method="Nelder-Mead", options=options)
    best = start.copy()
    best[used] = found.x
    move, shift, power = (float(value) for value in np.clip(best, low, high))
    return unseen.recalibration(shape, reference, move=unit * move, shift=shift, power=power), float(found.fun)


def _total(losses: Floats, weight: Floats) -> float:
    """Return the weighted sum of losses, of which no row decides."""
    return float((weight * np.minimum(np.nan_to_num(losses, nan=_LARGE, posinf=_LARGE), _LARGE)).sum())


def mean_square_slope(distribution: Distribution, parameters: Floats, weight: Floats) -> float:
    """Return the mean of the squared slope of the distributions' means by their locations; 1 without a location."""
    if distribution.link(parameters[:1]).shape[-1] == 0:
        return 1.0
    return float(np.average(distribution.square_slope(parameters), weights=weight))
