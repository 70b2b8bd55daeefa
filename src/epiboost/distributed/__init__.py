"""Training and prediction beyond one machine, on Dask.

Nothing here has to be called. The estimators use it (and need the extra ``dask``) in three cases:

- ``EpiBoostRegressor(n_jobs="dask")`` trains the members on the workers of the active Dask cluster.
- ``fit`` takes Dask arrays and frames, which may be larger than memory.
- ``predict``, ``predict_uncertainty`` and the like take Dask arrays and frames, and are lazy.

The one public name is `ClusterError`, raised if the cluster is lost. The rest of this page is for contributors.

Training members on the workers of a cluster (``n_jobs="dask"``):

- ``members.py``: sends the table to the workers and trains one member per task.
- ``cluster.py``: finds the client, waits for workers, and reports a lost cluster as `ClusterError`.

Training on Dask collections (X, y and sample_weight in partitions):

- ``fit.py``: the entry point of the estimators; reads collections as bins in memory or as rows that stay in place.
- ``partitions.py``: splits collections into partitions, and computes functions of them.
- ``stream.py``: bins a collection into one table in memory, partition by partition.
- ``sketch.py``: weighted quantile sketches, from which ``stream.py`` takes bin borders.
- ``rows.py``: rows that stay in their partitions, for XGBoost.
- ``checked_partition.py``: checks and encodes the rows of one partition.
- ``borders.py``: bins of the rows, independent of the partitioning.
- ``summary.py``: summaries of the target, independent of the partitioning.
- ``exact_sums.py``: sums of floats without rounding errors.

Prediction for Dask collections:

- ``scoring.py``: lazy predictions, one partition at a time.

Dask is imported only when one of these is used.
"""

from epiboost.distributed.cluster import ClusterError

__all__ = ["ClusterError"]
