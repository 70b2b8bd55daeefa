"""Extreme targets, weights and scales. Oracles are laws: a clear error, or a model for which all of them hold.

Predictions are finite, total = data + knowledge, no mean is far outside the range of the target, a target in other
units gives the same model in other units, and the same bits come from every thread count and every instruction set.
"""

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._native import VARIABLE, available_instruction_sets, native
from epiboost._typing import AnyArray, Floats
from fuzz.campaign import Campaign

MAX_OUTSIDE = 3.0  # how far a mean may be outside the range of the target, in ranges: noise and first steps


@dataclass(frozen=True)
class Case:
    """A table and the parameters of a model."""

    X: Floats
    y: AnyArray
    weight: Floats | None
    parameters: dict[str, Any]
    is_regression: bool

    @classmethod
    def draw(cls, random: np.random.Generator) -> Self:
        """Draw a table with something extreme in it."""
        n, columns = int(random.integers(2, 400)), int(random.integers(1, 5))
        X = random.normal(size=(n, columns))
        kind = random.choice(["plain", "rounded", "spread", "constant", "missing", "outlier"])
        if kind == "rounded":
            X = X.round()
        elif kind == "spread":
            X = np.sign(X) * 10.0 ** (X * random.choice([10.0, 60.0]))
        elif kind == "constant":
            X[:, 0] = random.choice([0.0, 1e300, -5e-324])
        elif kind == "missing":
            X[random.uniform(size=X.shape) < random.uniform()] = np.nan
        elif kind == "outlier":
            X[0, 0] = random.choice([1e308, -1e308, 1e-308])
        signal = np.nan_to_num(np.tanh(X[:, 0])) + random.choice([0.0, 0.1, 1.0]) * random.normal(size=n)
        is_regression = bool(random.uniform() < 0.7)
        y: AnyArray = _numbers(signal, random) if is_regression else _labels(signal, random)
        return cls(X, y, _weights(n, random), _parameters(random), is_regression)

    def model(self, **changes: object) -> EpiBoostRegressor | EpiBoostClassifier:
        """Return a model that is not fitted."""
        parameters: dict[str, Any] = {**self.parameters, **changes}
        return EpiBoostRegressor(**parameters) if self.is_regression else EpiBoostClassifier(**parameters)

    def parameters_of_rows(self, **changes: object) -> Floats:
        """Return the predicted distributions of the training rows, shape (members, n, outputs)."""
        model = self.model(**changes).fit(self.X, self.y, sample_weight=self.weight)
        parameters: Floats = model.predict_posterior(self.X).parameters
        return parameters


def _numbers(signal: Floats, random: np.random.Generator) -> Floats:
    y: Floats = 10.0 ** random.choice([0, 0, random.uniform(-150, 150)]) * signal
    match random.choice(["plain", "offset", "outlier", "constant", "heavy"]):
        case "offset":
            y = y + random.choice([1e3, -1e8, 1e15]) * np.abs(y).max()
        case "outlier":
            y[-1] *= 10.0 ** random.uniform(1, 14)
        case "constant":
            y = np.full_like(y, y[0])
        case "heavy":
            y = y / np.maximum(np.abs(random.normal(size=len(y))), 1e-6)
    return y


def _labels(signal: Floats, random: np.random.Generator) -> AnyArray:
    n_classes = int(random.integers(2, 5))
    y: AnyArray = np.digitize(signal, np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1]))
    if random.uniform() < 0.2:  # one row of a class
        y[0] = n_classes + 1
    return y


def _weights(n: int, random: np.random.Generator) -> Floats | None:
    weight = np.ones(n)
    match random.choice(["none", "one heavy", "spread", "zeros", "tiny", "large", "fractions"]):
        case "none":
            return None
        case "one heavy":
            weight[random.integers(n)] = 10.0 ** random.uniform(2, 14)
        case "spread":
            weight = 10.0 ** random.uniform(-12, 6, size=n)
        case "zeros":
            weight[random.uniform(size=n) < random.uniform()] = 0.0
        case "tiny":
            weight *= 10.0 ** random.uniform(-300, -3)
        case "large":
            weight *= 10.0 ** random.uniform(3, 16)
        case "fractions":
            weight = random.uniform(size=n)
    return weight


def _parameters(random: np.random.Generator) -> dict[str, Any]:
    leaves = {"max_leaves": int(random.choice([2, 8, 64]))} if random.uniform() < 0.4 else {"max_depth": 4}
    ensemble = str(random.choice(["sgb", "sglb", "virtual", "single"]))
    members = {} if ensemble == "single" else {"n_members": 2 if ensemble != "virtual" else 3}
    return {
        "ensemble": ensemble,
        "n_estimators": int(random.choice([1, 10, 40])),
        "learning_rate": float(random.choice([0.03, 0.3, 1.0])),
        "l2": float(random.choice([0.0, 1e-6, 3.0])),
        "random_state": int(random.integers(100)),
        "out_of_fold": random.choice(["auto", "0"]).replace("0", "") or 0,
        **leaves,
        **members,
    }


def check(random: np.random.Generator, folder: Path) -> None:  # noqa: ARG001 (nothing is written)
    """Draw a table and check the laws; a ValueError of `fit` is an answer, too."""
    case = Case.draw(random)
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            model = case.model().fit(case.X, case.y, sample_weight=case.weight)
        except ValueError as error:
            if len(str(error)) < 20:
                raise
            return
        _check_predictions(case, model)
        _check_bits(case)
        if case.is_regression:
            _check_units(case, int(random.integers(-30, 30)))


def _check_predictions(case: Case, model: EpiBoostRegressor | EpiBoostClassifier) -> None:
    rows = np.concatenate([case.X, 3.0 * np.clip(case.X, -1e300, 1e300)])
    uncertainty = model.predict_uncertainty(rows)
    _require(np.isfinite(uncertainty.total).all(), "total uncertainty is not finite")
    parts = uncertainty.data + uncertainty.knowledge
    _require(np.allclose(uncertainty.total, parts, rtol=1e-6, atol=1e-12), "total is not data plus knowledge")
    _require(min(uncertainty.data.min(), uncertainty.knowledge.min()) >= 0.0, "an uncertainty is negative")
    if not case.is_regression:
        probabilities = model.predict_proba(rows)
        _require(np.allclose(probabilities.sum(axis=1), 1.0), "probabilities do not sum to one")
        return
    if case.parameters["l2"] < 1.0:  # the noise of SGLB in a leaf of one row has no bound but l2
        return
    used = case.y if case.weight is None else case.y[case.weight > 0.0]
    spread = np.ptp(used) + 1e-6 * (np.abs(used).max() or 1.0) + np.finfo(np.float64).tiny
    outside = np.maximum(model.predict(rows) - used.max(), used.min() - model.predict(rows)).max()
    _require(outside <= MAX_OUTSIDE * spread, f"a mean is {outside:.3g} outside the target's range of {spread:.3g}")


def _check_bits(case: Case) -> None:
    one = case.parameters_of_rows(n_jobs=1)
    _require(np.array_equal(one, case.parameters_of_rows(n_jobs=3)), "the number of threads changes bits")
    for instructions in available_instruction_sets()[1:]:
        other = _with_instructions(instructions, lambda: case.parameters_of_rows(n_jobs=1))
        _require(np.array_equal(one, other), f"{instructions} has other bits")


def _with_instructions(instructions: str, run: Callable[[], Floats]) -> Floats:
    before = os.environ.get(VARIABLE)
    try:
        os.environ[VARIABLE] = instructions
        native.cache_clear()
        return run()
    finally:
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before
        native.cache_clear()


def _check_units(case: Case, exponent: int) -> None:
    factor = 2.0**exponent
    size = np.abs(case.y[case.y != 0.0])
    if not len(size) or not (size.min() / 1e15 > 1e-100 and size.max() < 1e100):  # zero has no unit
        return
    plain, scaled = case.parameters_of_rows(), replace(case, y=factor * case.y).parameters_of_rows()
    _require(np.array_equal(scaled[..., 0], factor * plain[..., 0]), f"means do not scale by {factor}")


def _require(holds: bool | np.bool_, law: str) -> None:
    if not holds:
        raise AssertionError(law)


CAMPAIGN = Campaign(check=check, short=12, usual=1_000, long=20_000)
