"""Past one machine, on Dask: members on its workers, tables in its partitions, lazy predictions.

Nothing here imports Dask before it is asked for.
"""

from epiboost.distributed.cluster import ClusterError

__all__ = ["ClusterError"]
