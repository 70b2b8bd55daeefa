"""How many threads to use."""

import numbers
import os

import joblib

from epiboost.distributed.members import ON_CLUSTER


def thread_count(n_jobs: int | str | None) -> int:
    """Return a number of threads for scikit-learn's ``n_jobs``: None or -1 is all cores, -2 all but one, and so on.

    All cores are those this process may use; ``OMP_NUM_THREADS`` lowers them further, as it does for scikit-learn. What
    is not done on a cluster, where ``n_jobs="dask"``, is done by all cores too.

    >>> thread_count(3)
    3
    """
    if isinstance(n_jobs, str) and n_jobs == ON_CLUSTER:
        n_jobs = None
    if n_jobs is not None and (not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        message = f"n_jobs must be None or a whole number other than 0, or 'dask'; got {n_jobs!r}"
        raise ValueError(message)
    if n_jobs is not None and n_jobs > 0:
        return int(n_jobs)
    cores = int(joblib.cpu_count())
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if limit.isdigit() and int(limit) > 0:
        cores = min(cores, int(limit))
    return max(1, cores + 1 + int(-1 if n_jobs is None else n_jobs))
