"""Odd tables, targets and weights through training, prediction, calibration, metrics, the report and the command line.

Oracles are laws. An error is a ValueError or TypeError that is raised by this package, or by scikit-learn's checks, and
not by the insides of another library. A model that could be trained predicts its own training rows: finite numbers of
the right shape, total = data + knowledge, and one row gets what it gets among others.
"""

import contextlib
import io
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from epiboost import EpiBoostClassifier, EpiBoostRegressor, load, metrics
from epiboost._cli.app import app
from epiboost._inputs.user_table import select_rows
from epiboost._typing import Column, LibraryObject, Table
from epiboost.report.collect import collect_facts
from fuzz.campaign import Campaign
from fuzz.odd_columns import Random, draw_table
from fuzz.odd_targets import LABELS, NUMBERS, WEIGHTS

ENGINES = ("native", "lightgbm", "xgboost", "catboost")
SMALL = {"n_members": 2, "n_estimators": 4, "learning_rate": 0.3, "n_jobs": 1, "random_state": 0}
OWN = ("epiboost", "sklearn")
"""Packages whose errors are clear."""
RAW = (
    "argument must be a",
    "setting an array element",
    "has no attribute",
    "unhashable",
    "object is not",
    "numpy.dtype",
)
"""Words of errors that scikit-learn's checks only pass on."""


@dataclass(frozen=True)
class Case:
    """A table, its target and weights, and a model that is not fitted."""

    X: Table
    y: Column
    weight: Column
    model: EpiBoostRegressor | EpiBoostClassifier
    n: int
    text: str

    @classmethod
    def draw(cls, random: Random) -> Self:
        """Draw all of it; two of three targets, and nine of ten weights, are plain."""
        n = int(random.choice([0, 1, 2, 3, 10, 40, 80], p=[0.02, 0.04, 0.04, 0.1, 0.2, 0.3, 0.3]))
        X, text = draw_table(random, n)
        is_regression = bool(random.uniform() < 0.6)
        targets = NUMBERS if is_regression else LABELS
        target = "plain" if random.uniform() < 2 / 3 else str(random.choice(list(targets)))
        weights = "none" if random.uniform() < 0.9 else str(random.choice(list(WEIGHTS)))
        engine = ENGINES[0] if random.uniform() < 0.8 else str(random.choice(ENGINES))
        settings: dict[str, Any] = {**SMALL, "engine": engine, "out_of_fold": int(random.choice([0, 3]))}
        if random.uniform() < 0.1:
            settings["categorical_features"] = [[0], [], ["a"], [99], "none"][int(random.integers(5))]
        model = EpiBoostRegressor(**settings) if is_regression else EpiBoostClassifier(**settings)
        text = f"{text}; {target} target, {weights} weights, {model!r}"
        return cls(X, targets[target](n, random), WEIGHTS[weights](n, random), model, n, text)


def check(random: Random, folder: Path) -> None:
    """Draw a case and check the laws."""
    case = Case.draw(random)
    steps = (_check_predictions, _check_single_rows, _check_file, _check_calibration, _check_metrics, _check_report)
    try:
        with warnings.catch_warnings(), np.errstate(all="warn", under="ignore"):
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            if random.uniform() < 0.05:
                _check_command_line(case, folder)
            try:
                case.model.fit(case.X, case.y, sample_weight=case.weight)
            except Exception as error:  # noqa: BLE001 (it is judged)
                _require_clear(error)
                return
            for step, share in zip(steps, (1.0, 0.5, 0.3, 0.3, 0.3, 0.1), strict=True):
                if random.uniform() < share:
                    step(case, folder)
    except Exception as error:
        error.add_note(case.text)
        raise


def _require_clear(error: Exception) -> None:
    """Raise an error again that is not a clear one of this package, or of scikit-learn's checks."""
    if not isinstance(error, ValueError | TypeError | ImportError):
        raise error
    place = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    is_raw = OWN[0] not in place.parts and any(words in str(error) for words in RAW)
    if len(str(error)) < 20 or is_raw or not set(OWN) & set(place.parts):
        raise error


def _check_predictions(case: Case, _: Path) -> None:
    model, n = case.model, case.n
    uncertainty = model.predict_uncertainty(case.X)
    for name in ("total", "data", "knowledge"):
        values = getattr(uncertainty, name)
        _require(values.shape == (n,), f"{name} uncertainty has the shape {values.shape}")
        _require(np.isfinite(values).all() and (values >= 0.0).all(), f"{name} uncertainty is {values.min()}")
    parts = uncertainty.data + uncertainty.knowledge
    _require(np.allclose(uncertainty.total, parts, rtol=1e-6, atol=0.0), "total is not data plus knowledge")
    predicted = model.predict(case.X)
    _require(predicted.shape == (n,), f"predictions have the shape {predicted.shape}")
    if isinstance(model, EpiBoostClassifier):
        probabilities = model.predict_proba(case.X)
        _require(np.allclose(probabilities.sum(axis=1), 1.0), "probabilities do not sum to one")
        _require(set(predicted.tolist()) <= set(model.classes_.tolist()), "a prediction is no class")
    else:
        _require(np.isfinite(predicted).all(), "a prediction is not finite")
        ends = model.predict_interval(case.X, 0.9)
        _require(np.isfinite(ends).all() and (ends[:, 0] <= ends[:, 1]).all(), "ends of an interval are wrong")


def _check_single_rows(case: Case, _: Path) -> None:
    row = case.n // 2
    among = case.model.predict_posterior(case.X).parameters[:, row]
    alone = case.model.predict_posterior(select_rows(case.X, np.array([row]))).parameters[:, 0]
    _require(np.array_equal(among, alone), f"row {row} gets something else alone: {alone} instead of {among}")


def _check_file(case: Case, folder: Path) -> None:
    try:
        case.model.save(folder / "model.epib")
    except Exception as error:  # noqa: BLE001 (it is judged)
        _require_clear(error)
        return
    same = load(folder / "model.epib").predict_posterior(case.X).parameters
    _require(np.array_equal(same, case.model.predict_posterior(case.X).parameters), "a file changes bits")


def _check_calibration(case: Case, _: Path) -> None:
    try:
        calibrated = case.model.calibrate(case.X, case.y, sample_weight=case.weight)
    except Exception as error:  # noqa: BLE001 (it is judged)
        _require_clear(error)
        return
    _require(np.isfinite(calibrated.predict_uncertainty(case.X).total).all(), "a calibrated uncertainty is not finite")
    if isinstance(case.model, EpiBoostRegressor):
        ends = calibrated.predict_interval(case.X, 0.5)
        _require(not np.isnan(ends).any() and (ends[:, 0] <= ends[:, 1]).all(), "ends of an interval are wrong")


def _check_metrics(case: Case, _: Path) -> None:
    posterior = case.model.predict_posterior(case.X)
    classes = case.model.classes_ if isinstance(case.model, EpiBoostClassifier) else None
    try:
        value = metrics.negative_log_likelihood_loss(case.y, posterior, classes=classes)
        ranked = metrics.prediction_rejection_score(
            errors=1.0 * (np.arange(case.n) % 3), uncertainty=posterior.uncertainty().total
        )
    except Exception as error:  # noqa: BLE001 (it is judged)
        _require_clear(error)
        return
    _require(not np.isnan(value) and not np.isnan(ranked), f"metrics are {value} and {ranked}")


def _check_report(case: Case, _: Path) -> None:
    """Collect the facts of a report; its charts need more address space than a case has."""
    try:
        facts = collect_facts(case.model, case.X, case.y, None, explain=False, title=None, verbose=0)
    except Exception as error:  # noqa: BLE001 (it is judged)
        _require_clear(error)
        return
    _require(facts.quality is not None and np.isfinite(facts.quality.error), f"the error is that of {facts.quality}")


def _check_command_line(case: Case, folder: Path) -> None:
    """Write the table to a file and train on it in this process: a result, or one line of error."""
    path = folder / f"table.{['csv', 'parquet'][case.n % 2]}"
    frame = _with_target(case)
    if frame is None:
        return
    try:
        pq.write_table(frame, path) if path.suffix == ".parquet" else _write_csv(frame, path)
    except Exception:  # noqa: BLE001 (Arrow does not write all types)
        return
    model, options = folder / "model.epib", ["--members", "2", "--trees", "3"]
    if _run(["fit", str(path), "--target", "the target", "-o", str(model), *options]):
        _require(_run(["predict", str(model), str(path), "-o", str(folder / "out.csv")]), "predict fails after fit")


def _with_target(case: Case) -> LibraryObject | None:
    try:
        table = case.X if isinstance(case.X, pa.Table) else pa.Table.from_pandas(pd.DataFrame(case.X))
        return table.append_column("the target", pa.array(list(case.y)))
    except Exception:  # noqa: BLE001 (not every table has rows and columns)
        return None


def _write_csv(table: LibraryObject, path: Path) -> None:
    table.to_pandas().to_csv(path, index=False)


def _run(arguments: list[str]) -> bool:
    """Run a command and return whether it succeeds; anything but a line of error is a finding."""
    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            app(arguments)
    except SystemExit as end:
        code = end.code
    else:
        code = 0
    lines = [line for line in errors.getvalue().splitlines() if not line.startswith("epiboost: warning")]
    _require(code in {0, 2}, f"the exit code is {code}: {errors.getvalue()}")
    _require(code == 0 or bool(lines), f"no error beside exit code {code}")
    return code == 0


def _require(holds: bool | np.bool_, law: str) -> None:
    if not holds:
        raise AssertionError(law)


CAMPAIGN = Campaign(check=check, short=25, usual=600, long=10_000)
