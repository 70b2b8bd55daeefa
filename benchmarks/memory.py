"""Print the peak memory of training, in MiB above the memory of the loaded table and the imported library.

python benchmarks/memory.py ours|CatBoost folder trees   where folder holds X.npy and y.npy

It runs in a new process. The peak is read from /proc, because ru_maxrss of a new process starts at its parent's.
"""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
from peers import training
from tables import Table

from epiboost import EpiBoostRegressor


def main(trainer: str, folder: Path, trees: int) -> None:
    """Train, and print by how much memory increased."""
    table = Table("saved", np.load(folder / "X.npy"), np.load(folder / "y.npy"))
    if trainer != "ours":
        import_module(trainer.lower())
    before = _kibibytes("VmRSS")
    if trainer == "ours":
        size = {"n_estimators": trees, "learning_rate": 0.1, "max_depth": 6}
        EpiBoostRegressor(n_members=10, n_jobs=2, random_state=0, out_of_fold=0, **size).fit(table.X, table.y)
    else:
        prepared = training(trainer, table, trees)
        if prepared is None:
            message = f"{trainer} is not installed"
            raise SystemExit(message)
        prepared.run()
    print((_kibibytes("VmHWM") - before) / 1024)


def _kibibytes(field: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
