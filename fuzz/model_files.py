"""Model files that a stranger may send: random damage, and forgeries with a right checksum.

The files are of every engine and every kind of model. A file must be refused by a `ModelFileError`, or give a model
that predicts. Anything else is a finding: another error, the end of the process, a hang, or memory that is out of
proportion.
"""

import importlib.util
import resource
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import epiboost
from epiboost import EpiBoostClassifier, EpiBoostRegressor, ModelFileError
from epiboost._files import model_file
from epiboost._typing import AnyArray, Floats
from fuzz.campaign import Campaign
from fuzz.forgeries import LIBRARIES, damage, forge

MAX_MEMORY = 500.0  # MB that a case may take beside what the process had
ENGINES = ("native", "forest", *(name for name in LIBRARIES if importlib.util.find_spec(name)))
KINDS = ("regressor", "classifier", "two classes", "categories", "virtual", "calibrated", "out-of-fold")

_RANDOM = np.random.default_rng(0)
ROWS = _RANDOM.normal(size=(60, 4)).round(2)
ROWS[:, 3] = _RANDOM.integers(0, 5, size=60)
ROWS[_RANDOM.uniform(size=ROWS.shape) < 0.05] = np.nan
TARGET = np.nan_to_num(ROWS[:, 0]) + 0.3 * np.nan_to_num(ROWS[:, 3])


@cache
def genuine(engine: str, kind: str) -> bytes:
    """Return the file of a small model."""
    parameters: dict[str, Any] = {"n_members": 2, "n_estimators": 6, "n_jobs": 1, "random_state": 0, "engine": engine}
    if engine != "forest":
        parameters |= {"max_depth": 3, "learning_rate": 0.3}
    parameters["out_of_fold"] = 3 if kind == "out-of-fold" else 0
    parameters["ensemble"] = "virtual" if kind == "virtual" else "sgb"
    parameters["reference_rows"] = 10
    if kind == "categories":
        parameters["categorical_features"] = [3]
    target: AnyArray = TARGET
    if kind in {"classifier", "two classes"} or (kind == "calibrated" and engine == "forest"):
        target = np.digitize(TARGET, [0.5] if kind == "two classes" else [0.2, 0.9])
    estimator = EpiBoostRegressor if target is TARGET else EpiBoostClassifier
    model: Any = estimator(**parameters).fit(ROWS, target)
    if kind == "calibrated":
        model = model.calibrate(ROWS, target)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.epib"
        model.save(path)
        return path.read_bytes()


def check(random: np.random.Generator, folder: Path) -> None:
    """Damage or forge one file, load it and predict."""
    engine, kind = str(random.choice(ENGINES)), str(random.choice(KINDS))
    path = folder / "model.epib"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = genuine(engine, kind)
        path.write_bytes(content)
        if random.uniform() < 0.1:
            path.write_bytes(damage(content, random))
        else:
            header, arrays = model_file.read(path)
            for _ in range(int(random.choice([1, 1, 2, 5]))):
                forge(engine, header, arrays, random)
            try:
                model_file.write(path, header, arrays)
            except TypeError:  # an array that no file can hold
                return
        before = _peak_memory()
        with np.errstate(all="ignore"):
            _load_and_predict(path)
    if _peak_memory() - before > MAX_MEMORY:
        message = f"took {_peak_memory() - before:.0f} MB for a file of {path.stat().st_size} bytes"
        raise AssertionError(message)


def _load_and_predict(path: Path) -> None:
    try:
        model: Any = epiboost.load(path)
    except ModelFileError:
        return
    columns = model.n_features_in_
    rows: Floats = np.resize(ROWS, (40, columns)) if columns == ROWS.shape[1] else np.zeros((3, columns))
    uses: dict[str, Callable[[], object]] = {
        "predict": lambda: model.predict(rows),
        "predict_uncertainty": lambda: model.predict_uncertainty(rows),
        "predict_interval": lambda: model.predict_interval(rows),
        "feature_importances_": lambda: model.feature_importances_,
        "save": lambda: model.save(path),
    }
    for use in (call for name, call in uses.items() if hasattr(type(model), name)):
        try:
            use()
        except AttributeError:  # the engine of the model has no importances
            if use is not uses["feature_importances_"]:
                raise
        except ValueError as error:  # of columns that have other names or categories now
            if len(str(error)) < 20:
                raise


def _peak_memory() -> float:
    """Return the largest memory that the process has had, in MB."""
    unit = 2**20 if sys.platform == "darwin" else 2**10  # macOS counts bytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


CAMPAIGN = Campaign(check=check, short=20, usual=5_000, long=100_000, seconds=20.0)
