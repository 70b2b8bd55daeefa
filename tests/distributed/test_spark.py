"""The recipe for Spark gives what the model says here. Spark is no dependency: without it, nothing is tested."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from epiboost import EpiBoostRegressor

pyspark = pytest.importorskip("pyspark.sql")
pd = pytest.importorskip("pandas")

RECIPE = Path(__file__).parents[2] / "examples" / "spark_scoring.py"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Spark's own
def test_a_spark_frame_is_scored_as_a_table_in_memory(tmp_path, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    spec = importlib.util.spec_from_file_location("spark_scoring", RECIPE)
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(500, 3)), columns=["a", "b", "c"])
    model = EpiBoostRegressor(n_members=3, n_estimators=20, random_state=0).fit(X, X["a"])
    model.save(tmp_path / "model.epib")
    spark = pyspark.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "150")
        frame = spark.createDataFrame(X.assign(row=np.arange(len(X))))
        score = recipe.scorer(str(tmp_path / "model.epib"), ["a", "b", "c"], "row long")
        scored = frame.mapInPandas(score, recipe.schema("row long")).toPandas().sort_values("row")
    finally:
        spark.stop()
    np.testing.assert_array_equal(scored["prediction"], model.predict(X))
    np.testing.assert_array_equal(scored["knowledge"], model.predict_uncertainty(X).knowledge)
