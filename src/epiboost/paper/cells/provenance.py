"""Provenance of cells: seed, data, library versions and machine; and which cells an earlier revision produced."""

import hashlib
import os
import platform
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import numpy as np

from epiboost._typing import AnyArray
from epiboost.paper.cells.cell import CellKey, Content

REVISION = 3
"""Revision of methods and protocol; increased whenever results change. The oldest cells have none."""

_DIGITS = 16  # of a checksum; enough to tell files apart


def seed_of(key: CellKey) -> int:
    """Return the seed of a cell; all methods share the seed of a fold, because some reuse the results of others.

    >>> seed_of(CellKey("native", "yacht", 3, "budget")) == seed_of(CellKey("native", "yacht", 3, "sglb"))
    True
    """
    return zlib.crc32(f"{key.dataset}/{key.fold}".encode()) % 2**31


def why_outdated(content: Content) -> str:
    """Return why a cell does not belong to the present revision; an empty text if it does."""
    key = CellKey(*(content[name] for name in ("engine", "dataset", "fold", "method")))
    if content["seed"] != seed_of(key):
        return "another seed"
    revision = content.get("revision")
    return "" if revision == REVISION else f"revision {'unknown' if revision is None else revision}"


def outdated_cell_messages(contents: Iterable[Content]) -> list[str]:
    """Return messages about outdated cells and about datasets whose cells were computed from different data."""
    contents = list(contents)
    reasons = Counter(reason for reason in map(why_outdated, contents) if reason)
    counts = ", ".join(f"{count} with {reason}" for reason, count in sorted(reasons.items()))
    messages = [f"some cells are not of the present revision ({REVISION}): {counts}"] if reasons else []
    checksums: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    for content in contents:
        ood = content["outside"]
        sources = [content.get("data"), ood["sha256"] if isinstance(ood, dict) else None]
        if None not in sources:
            checksums[content["dataset"], content["fold"]].add("/".join(map(str, sources)))
    mixed = dict.fromkeys(dataset for (dataset, _), found in checksums.items() if len(found) > 1)
    return [*messages, *(f"cells of {dataset} use different data or out-of-domain rows" for dataset in mixed)]


def checksum(*arrays: AnyArray) -> str:
    """Return the first digits of the SHA-256 of arrays.

    >>> checksum(np.arange(3.0)) == checksum(np.arange(3.0)), checksum(np.arange(3.0)) == checksum(np.arange(4.0))
    (True, False)
    """
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:_DIGITS]


@cache
def code_checksum() -> str:
    """Return the first digits of the SHA-256 of the package's files, native modules included.

    It is recorded for information; whether a cell is outdated depends on `REVISION` and the seed alone.
    """
    digest = hashlib.sha256()
    with resources.as_file(resources.files("epiboost")) as folder:
        for path in sorted(path for path in folder.rglob("*") if path.suffix in {".py", ".so", ".pyd", ".csv"}):
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:_DIGITS]


def versions(engine: str) -> dict[str, str]:
    """Return the versions of the libraries that results depend on."""
    packages = ["epiboost", "numpy", "scipy", "scikit-learn", *([engine] if engine not in {"native", "forest"} else [])]
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found | {"code": code_checksum()}


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine() -> dict[str, Any]:
    """Return what run times depend on: the processor and the cores this process may use."""
    return {"processor": _processor(), "cores": available_cores()}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
