"""Score a Spark frame with a saved model: ``frame.mapInPandas(scorer(path, columns, keep), schema(keep))``.

Every executor must be able to read the model file. Each task loads it once and predicts its rows in batches of
`spark.sql.execution.arrow.maxRecordsPerBatch`.
"""

from collections.abc import Callable, Iterable, Iterator

import pandas as pd

import epiboost


def schema(keep: str) -> str:
    """Return the schema of the result; ``keep`` is the column that identifies rows and its type: ``"id long"``."""
    return f"{keep}, prediction double, total double, data double, knowledge double"


def scorer(path: str, columns: list[str], keep: str) -> Callable[[Iterable[pd.DataFrame]], Iterator[pd.DataFrame]]:
    """Return the function that Spark calls with the batches of a partition."""

    def score(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        model = epiboost.load(path)
        for rows in batches:
            posterior = model.predict_posterior(rows[columns])
            uncertainty = posterior.uncertainty().to_frame()
            yield pd.concat([rows[[keep.split(maxsplit=1)[0]]], uncertainty], axis=1).assign(prediction=posterior.mean)

    return score
