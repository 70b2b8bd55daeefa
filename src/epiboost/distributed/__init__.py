"""Training and prediction beyond one machine, on Dask.

Training members on the workers of a cluster (``n_jobs="dask"``):

- `members`: sends the table to the workers and trains one member per task.
- `cluster`: finds the client, waits for workers, and reports a lost cluster as `ClusterError`.

Training on Dask collections (X, y and sample_weight in partitions):

- `fit`: the entry point of the estimators; reads collections as bins in memory or as rows that stay in place.
- `partitions`: splits collections into partitions, and computes functions of them.
- `stream`: bins a collection into one table in memory, partition by partition.
- `sketch`: weighted quantile sketches, from which `stream` takes bin borders.
- `rows`: rows that stay in their partitions, for XGBoost.
- `checked_partition`: checks and encodes the rows of one partition.
- `borders`: bins of `rows`, independent of the partitioning.
- `summary`: summaries of the target of `rows`, independent of the partitioning.
- `exact_sums`: sums of floats without rounding errors.

Prediction for Dask collections:

- `scoring`: lazy predictions, one partition at a time.

Dask is imported only when one of these is used.
"""

from epiboost.distributed.cluster import ClusterError

__all__ = ["ClusterError"]
