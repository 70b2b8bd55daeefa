"""The Spark example predicts the same as the model here. Spark is not a dependency; a test that needs it is skipped."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.models import small_regressor

pd = pytest.importorskip("pandas")

EXAMPLE = Path(__file__).parents[2] / "examples" / "spark_scoring.py"
X = pd.DataFrame(np.random.default_rng(0).normal(size=(500, 3)), columns=["a", "b", "c"])


@pytest.fixture
def example():
    """Return the example as a module."""
    spec = importlib.util.spec_from_file_location("spark_scoring", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def model(tmp_path):
    """Return a model that is saved as model.epib."""
    model = small_regressor().fit(X, X["a"])
    model.save(tmp_path / "model.epib")
    return model


def test_batches_of_rows_are_predicted_as_a_table_in_memory(example, model, tmp_path):
    score = example.scorer(str(tmp_path / "model.epib"), ["a", "b", "c"], "row long")
    rows = X.assign(row=np.arange(len(X)))
    scored = pd.concat(score(iter([rows[:150], rows[150:]])))
    assert set(scored) == {column.split()[0] for column in example.schema("row long").split(", ")}
    np.testing.assert_array_equal(scored["row"], rows["row"])
    np.testing.assert_array_equal(scored["prediction"], model.predict(X))
    np.testing.assert_array_equal(scored["knowledge"], model.predict_uncertainty(X).knowledge)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # warnings of Spark itself
def test_a_spark_frame_is_predicted_as_a_table_in_memory(example, model, tmp_path, monkeypatch):
    pyspark = pytest.importorskip("pyspark.sql")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    spark = pyspark.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "150")
        frame = spark.createDataFrame(X.assign(row=np.arange(len(X))))
        score = example.scorer(str(tmp_path / "model.epib"), ["a", "b", "c"], "row long")
        scored = frame.mapInPandas(score, example.schema("row long")).toPandas().sort_values("row")
    finally:
        spark.stop()
    np.testing.assert_array_equal(scored["prediction"], model.predict(X))
    np.testing.assert_array_equal(scored["knowledge"], model.predict_uncertainty(X).knowledge)
