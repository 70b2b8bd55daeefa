"""The Spark example predicts the same as the model here. Spark is not a dependency; without it the test is skipped."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.models import small_regressor

pyspark = pytest.importorskip("pyspark.sql")
pd = pytest.importorskip("pandas")

EXAMPLE = Path(__file__).parents[2] / "examples" / "spark_scoring.py"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # warnings of Spark itself
def test_a_spark_frame_is_predicted_as_a_table_in_memory(tmp_path, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    spec = importlib.util.spec_from_file_location("spark_scoring", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(500, 3)), columns=["a", "b", "c"])
    model = small_regressor().fit(X, X["a"])
    model.save(tmp_path / "model.epib")
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
