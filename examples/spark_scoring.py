"""Score a Spark frame with a saved model: ``frame.mapInPandas(scorer(path, columns, keep), schema(keep))``.

The model file must be where every executor can read it. Each task loads it once and then goes through its rows batch by
batch, as `spark.sql.execution.arrow.maxRecordsPerBatch` cuts them.
"""

from collections.abc import Callable, Iterable, Iterator

import pandas as pd

from epiboost import EpiBoostRegressor


def schema(keep: str) -> str:
    """Return the columns of the result; ``keep`` is one that tells rows apart, as Spark writes it: ``"id long"``."""
    return f"{keep}, prediction double, total double, data double, knowledge double"


def scorer(path: str, columns: list[str], keep: str) -> Callable[[Iterable[pd.DataFrame]], Iterator[pd.DataFrame]]:
    """Return the function that Spark calls with the batches of a partition."""

    def score(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        model = EpiBoostRegressor.load(path)
        for rows in batches:
            posterior = model.predict_posterior(rows[columns])
            uncertainty = posterior.uncertainty().to_frame().set_axis(rows.index)
            yield pd.concat([rows[[keep.split(maxsplit=1)[0]]], uncertainty], axis=1).assign(prediction=posterior.mean)

    return score
