"""Tables in files and a model that was trained on one."""

import gzip

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from tests.support import report_tables
from tests.support.command_line import SMALL, epiboost
from tests.support.models import small_classifier, small_regressor


@pytest.fixture
def rows():
    """Return columns of 200 rows."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=200)
    age = rng.integers(0, 4, size=200)
    price = size + (age == 0) + 0.1 * rng.normal(size=200)
    return {
        "name": [f"row {number}" for number in range(200)],
        "age": age,
        "size": size,
        "price": price,
        "grade": np.where(price > 0, "high", "low"),
        "sold": (price > 0).astype(int),
        "rare": price > 1,
        "rooms": np.clip(np.round(price + 3), 0, 5).astype(int),
        "importance": rng.uniform(0.5, 1.5, size=200),
    }


@pytest.fixture
def write(tmp_path):
    """Return a function that writes columns to a file."""

    def _write(name, columns):
        table = pa.table(columns)
        path = tmp_path / name
        if path.suffix == ".csv":
            csv.write_csv(table, path)
        else:
            parquet.write_table(table, path)
        return path

    return _write


@pytest.fixture
def train(rows, write):
    """Return the path of a training table for regression."""
    return write("train.csv", {name: rows[name] for name in ("age", "size", "price")})


@pytest.fixture
def model(train, tmp_path):
    """Return the path of a model that was trained on it."""
    path = tmp_path / "model.epib"
    assert epiboost("fit", train, "--target", "price", "-o", path, *SMALL).exit_code == 0
    return path


@pytest.fixture
def write_text(tmp_path):
    """Return a function that writes text columns as they are, without quotes."""

    def _write(columns, name="train.csv", separator=","):
        lines = [columns, *zip(*columns.values(), strict=True)]
        text = "".join(separator.join(line) + "\n" for line in lines)
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return _write


@pytest.fixture(scope="session")
def report_models():
    """Return models of each kind, with the targets of all rows."""
    return report_tables.train_models()


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory):
    """Return a folder with models that have out-of-fold chains, and a table to read; tests must not write there."""
    folder = tmp_path_factory.mktemp("models")
    frame, part = report_tables.FRAME[["size", "age"]], report_tables.TRAIN
    options = {"n_estimators": 8, "out_of_fold": 3, "keep_folds": True}
    small_regressor(**options).fit(frame[part], report_tables.PRICE[part]).save(folder / "regressor.epib")
    small_classifier(**options).fit(frame[part], report_tables.GRADE[part]).save(folder / "classifier.epib")
    table = frame.assign(code=[f"{row:03}" for row in range(len(frame))], price=report_tables.PRICE)
    table[report_tables.LAST].to_csv(folder / "test.csv", index=False)
    return folder


@pytest.fixture
def model_folder(report_models, tmp_path):
    """Return a folder with models and tables."""
    for kind in ("regressor", "classifier"):
        report_models[kind][0].save(tmp_path / f"{kind}.epib")
    held_out = report_tables.FRAME[report_tables.HELD_OUT]
    held_out.assign(price=report_tables.PRICE[report_tables.HELD_OUT]).to_csv(tmp_path / "test.csv", index=False)
    held_out.to_csv(tmp_path / "rows.csv", index=False)
    report_tables.OTHER.to_csv(tmp_path / "other.csv", index=False)
    return tmp_path
