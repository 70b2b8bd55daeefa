"""Jobs that run in new processes: memory and import."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import tables
from clock import import_script, interleaved_scripts, memory_script
from peers import training
from results import Result
from tables import Table

from jobs.comparison import compared_with_catboost
from jobs.effort import Effort
from jobs.models import MEMBERS

MEMORY_TREES = 20
IMPORTS = 7


def memory(effort: Effort) -> list[Result]:
    """Measure the peak memory of training on a large table, above that of the table."""
    data, _ = tables.year()
    installed = training("CatBoost", Table("tiny", data.X[:2], data.y[:2]), 1) is not None
    with TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "X.npy", data.X)
        np.save(folder / "y.npy", data.y)
        trainers = ("ours", "CatBoost") if installed else ("ours",)
        scripts = {trainer: memory_script(trainer, folder, MEMORY_TREES) for trainer in trainers}
        peaks = interleaved_scripts(scripts, effort.repeats)
    what = f"peak memory of training {MEMBERS} members of {MEMORY_TREES} trees, above the table, {data}"
    return [compared_with_catboost(9, what, peaks, bar=1.0, unit="MiB")]


def imports(effort: Effort) -> list[Result]:
    """Measure the import in new interpreters."""
    scripts = {module: import_script(module) for module in ("epiboost", "sklearn.ensemble")}
    times = interleaved_scripts(scripts, max(IMPORTS, effort.repeats))
    peer = "sklearn.ensemble"
    return [Result(job=10, what="import", peer_name=peer, ours=times["epiboost"], peer=times[peer], bar=1.2)]
