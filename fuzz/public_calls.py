"""Random sequences of public calls on one estimator. Oracles are laws that hold after any history of calls.

A file and a pickle keep all bits, the number of threads changes none, a clone is not fitted, total = data + knowledge,
stages end with the prediction, and a fit that fails leaves a model that is not fitted, or with ``warm_start`` the model
as it was.
"""

import pickle
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from epiboost import EpiBoostClassifier, EpiBoostRegressor, load
from epiboost._typing import AnyArray, Floats
from epiboost.explain import attribute
from fuzz.campaign import Campaign

STEPS = 15
SEQUENCES = 4  # per case; Hypothesis begins with the simplest one
ROWS = np.random.default_rng(0).normal(size=(40, 3))
OTHER_ROWS = np.random.default_rng(1).normal(size=(25, 3))
PARAMETERS: dict[str, list[Any]] = {
    "n_members": [2, 3],
    "n_estimators": [3, 6],
    "learning_rate": [0.1, 0.5],
    "max_depth": [2, 4],
    "random_state": [0, 1],
    "subsample": [0.5, 1.0],
    "n_jobs": [1, 3],
    "out_of_fold": [0, 3],
    "keep_folds": [False, True],
    "reference_rows": [0, 20],
    "ensemble": ["sglb", "sgb", "virtual"],
    "warm_start": [False, True],
}
WRONG: list[dict[str, Any] | str] = [
    "missing target", "infinity", "other length", {"n_estimators": 0}, {"ensemble": "none"}, {"engine": "none"},
    {"learning_rate": float("nan")},
]  # fmt: skip


class PublicCalls(RuleBasedStateMachine):
    """An estimator, and what it predicted when it was last fitted."""

    def __init__(self) -> None:
        super().__init__()
        self.predicted: Floats | None = None

    @initialize(is_regression=st.booleans(), engine=st.sampled_from(["native", "native", "lightgbm", "xgboost"]))
    def create(self, *, is_regression: bool, engine: str) -> None:
        """Begin with a fitted estimator."""
        self.is_regression = is_regression
        made = EpiBoostRegressor if is_regression else EpiBoostClassifier
        self.estimator: Any = made(engine=engine, n_members=2, n_estimators=3, max_depth=2, n_jobs=1, random_state=0)
        self._fit_with(ROWS, self.target(ROWS), None)

    def target(self, rows: AnyArray) -> AnyArray:
        """Return numbers or labels of rows."""
        signal = rows[:, 0] + 0.1 * rows[:, 1]
        return signal if self.is_regression else np.where(signal > 0.0, "high", "low")

    @property
    def is_fitted(self) -> bool:
        """Return whether a fit has succeeded and none failed since."""
        return self.predicted is not None

    def posterior(self, estimator: Any = None) -> Floats:  # noqa: ANN401 (the estimator or a copy)
        """Return the predicted distributions."""
        found: Floats = (estimator or self.estimator).predict_posterior(ROWS).parameters
        return found

    @rule(name=st.sampled_from(sorted(PARAMETERS)), place=st.integers(0, 2))
    def set_parameter(self, name: str, place: int) -> None:
        """Set a parameter; a fitted model stays as it is."""
        values = PARAMETERS[name]
        self.estimator.set_params(**{name: values[place % len(values)]})

    @rule(other=st.booleans(), is_weighted=st.booleans())
    def fit(self, *, other: bool, is_weighted: bool) -> None:
        """Fit; with warm_start it may refuse, and then the model stays as it was."""
        rows = OTHER_ROWS if other else ROWS
        weight = np.arange(len(rows)) % 3 if is_weighted else None
        self._fit_with(rows, self.target(rows), weight)

    @rule(wrong=st.sampled_from(WRONG), continues=st.booleans())
    def fit_in_vain(self, wrong: dict[str, Any] | str, *, continues: bool) -> None:
        """Fit with a parameter or with rows that are refused, and set the parameters back."""
        rows, y = ROWS.copy(), self.target(ROWS).astype(object)
        changes = {"warm_start": continues, **(wrong if isinstance(wrong, dict) else {})}
        if wrong == "missing target":
            y[3] = None
        elif wrong == "infinity":
            rows[3, 1] = np.inf
        elif wrong == "other length":
            y = y[:-1]
        before = {name: self.estimator.get_params()[name] for name in changes}
        self.estimator.set_params(**changes)
        try:
            failed = self._fit_with(rows, y, None)
        finally:
            self.estimator.set_params(**before)
        _require(failed, f"{wrong} is not refused")

    @precondition(lambda self: self.is_fitted and self.estimator.engine == "native")
    @rule(more=st.integers(0, 4))
    def continue_training(self, more: int) -> None:
        """Add trees; on other rows, or with other parameters than before, that may be refused."""
        before = self.estimator.get_params()
        trees = int(np.max(self.estimator.forest_.n_trees)) + more
        self.estimator.set_params(warm_start=True, n_estimators=trees)
        self._fit_with(ROWS, self.target(ROWS), None)
        self.estimator.set_params(warm_start=before["warm_start"], n_estimators=before["n_estimators"])

    def _fit_with(self, rows: AnyArray, y: AnyArray, weight: AnyArray | None) -> bool:
        """Fit and return whether it failed."""
        try:
            self.estimator.fit(rows, y, sample_weight=weight)
        except ValueError as error:
            _require(len(str(error)) > 20, f"the error is {error!r}")
            if not self.estimator.warm_start:
                self.predicted = None
            return True
        self.predicted = self.posterior()
        return False

    @precondition(lambda self: self.is_fitted)
    @rule()
    def save_and_load(self) -> None:
        """Go on with the model of a file; a model whose parameters were changed may refuse to be saved."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                self.estimator.save(Path(folder) / "model.epib")
            except ValueError as error:
                _require("changed after fit" in str(error), str(error))
                return
            self.estimator = load(Path(folder) / "model.epib")

    @precondition(lambda self: self.is_fitted)
    @rule()
    def pickle_and_unpickle(self) -> None:
        """Go on with the model of a pickle."""
        self.estimator = pickle.loads(pickle.dumps(self.estimator))  # noqa: S301 (our own bytes)

    @rule()
    def clone_is_not_fitted(self) -> None:
        """Compare a clone: it has the parameters and is not fitted."""
        copy = clone(self.estimator)
        _require(repr(copy.get_params()) == repr(self.estimator.get_params()), "a clone has other parameters")
        try:
            check_is_fitted(copy)
        except NotFittedError:
            return
        _require(False, "a clone is fitted")  # noqa: FBT003 (it always fails)

    @precondition(lambda self: self.is_fitted)
    @rule(n_jobs=st.sampled_from([1, 2, None]))
    def predict_with_other_threads(self, n_jobs: int | None) -> None:
        """Predict with a copy that has another number of threads."""
        copy = pickle.loads(pickle.dumps(self.estimator))  # noqa: S301 (our own bytes)
        copy.set_params(n_jobs=n_jobs)
        _require(np.array_equal(self.posterior(copy), self.posterior()), "the number of threads changes bits")

    @precondition(lambda self: self.is_fitted)
    @rule()
    def uncertainty_adds_up(self) -> None:
        """Compare total with data and knowledge uncertainty."""
        found = self.estimator.predict_uncertainty(ROWS)
        _require(np.allclose(found.total, found.data + found.knowledge, rtol=1e-9, atol=0.0), "total is another sum")
        _require(bool((found.knowledge >= 0.0).all() and (found.data >= 0.0).all()), "an uncertainty is negative")

    @precondition(lambda self: self.is_fitted)
    @rule()
    def stages_end_with_the_prediction(self) -> None:
        """Compare the last stage with the prediction."""
        *_, last = self.estimator.staged_predict(ROWS)
        expected = self.estimator.predict(ROWS)
        same = np.allclose(last, expected, rtol=1e-6) if self.is_regression else np.array_equal(last, expected)
        _require(same, "the last stage is not the prediction")

    @precondition(lambda self: self.is_fitted)
    @rule()
    def importances_are_shares(self) -> None:
        """Add up importances: the sum is one, or all are zero."""
        try:
            shares = self.estimator.feature_importances_
        except AttributeError as error:  # they need kept rows
            _require("reference_rows" in str(error), str(error))
            return
        _require(shares.shape == (3,) and bool((shares >= 0.0).all()), f"importances are {shares}")
        _require(bool(np.isclose(shares.sum(), 1.0) or not shares.any()), f"importances sum to {shares.sum()}")

    @precondition(lambda self: self.is_fitted)
    @rule()
    def calibrate(self) -> None:
        """Calibrate a copy: it keeps the model, and its files keep bits."""
        calibrated = self.estimator.calibrate(OTHER_ROWS, self.target(OTHER_ROWS))
        total = calibrated.predict_uncertainty(ROWS).total
        with tempfile.TemporaryDirectory() as folder:
            try:
                calibrated.save(Path(folder) / "calibrated.epib")
            except ValueError as error:
                _require("changed after fit" in str(error), str(error))
                return
            again = load(Path(folder) / "calibrated.epib")
        _require(
            np.array_equal(again.predict_uncertainty(ROWS).total, total), "a file of a calibrated model changes bits"
        )

    @precondition(lambda self: self.is_fitted)
    @rule()
    def explain(self) -> None:
        """Attributions add up to the explained uncertainty."""
        try:
            found = attribute(self.estimator, ROWS[:3], "knowledge", background=ROWS[10:20])
        except ImportError:  # shap is optional
            return
        sums = found.base_values + found.values.sum(axis=1)
        _require(np.allclose(sums, found.output, rtol=1e-4, atol=1e-8), "attributions do not add up")

    @invariant()
    def a_fitted_model_predicts_as_it_did(self) -> None:
        """No call but fit changes what a model predicts."""
        if not hasattr(self, "estimator"):
            return
        if self.predicted is not None:
            _require(np.array_equal(self.posterior(), self.predicted), "a call has changed the model")
            return
        try:
            self.estimator.predict(ROWS)
        except NotFittedError:
            return
        _require(False, "a model that is not fitted predicts")  # noqa: FBT003 (it always fails)


def check(random: np.random.Generator, folder: Path) -> None:  # noqa: ARG001 (files are in folders of their own)
    """Run some random sequences of calls."""
    case = seed(int(random.integers(2**62)))(type("Case", (PublicCalls,), {}))
    run_machine(case, examples=SEQUENCES)


def run_machine(machine: type[PublicCalls], examples: int) -> None:
    """Run random sequences of calls of a machine; the first that breaks a law raises."""
    options = settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_state_machine_as_test(machine, settings=options)


def _require(holds: bool | np.bool_, law: str) -> None:
    if not holds:
        raise AssertionError(law)


CAMPAIGN = Campaign(check=check, short=1, usual=200, long=3_000)
