"""What a cell rests on: methods, libraries, data and the machine; and which cells are older than the present ones."""

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
from epiboost.paper.cells.cell import Content, Key

REVISION = 2
"""Of the methods and the protocol; it is raised when figures change. Cells before it was recorded have none."""

_DIGITS = 16  # of a checksum, enough to tell files apart


def seed_of(key: Key) -> int:
    """Return the seed of a cell; methods of a fold that build on each other have the same.

    >>> seed_of(Key("native", "yacht", 3, "budget")) == seed_of(Key("native", "yacht", 3, "sglb"))
    True
    """
    return zlib.crc32(f"{key.dataset}/{key.fold}".encode()) % 2**31


def why_older(content: Content) -> str:
    """Return why a cell is not of the present methods; an empty text if it is."""
    key = Key(*(content[name] for name in ("engine", "dataset", "fold", "method")))
    if content["seed"] != seed_of(key):
        return "another seed"
    found = content.get("revision")
    return "" if found == REVISION else f"revision {'unknown' if found is None else found}"


def notes_on(contents: Iterable[Content]) -> list[str]:
    """Say which cells are older, and of which datasets cells rest on different data."""
    contents = list(contents)
    reasons = Counter(reason for reason in map(why_older, contents) if reason)
    listed = ", ".join(f"{count} of {reason}" for reason, count in sorted(reasons.items()))
    notes = [f"some cells are not of the present methods (revision {REVISION}): {listed}"] if reasons else []
    data: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    for content in contents:
        outside = content["outside"]
        rests_on = [content.get("data"), outside["sha256"] if isinstance(outside, dict) else None]
        if None not in rests_on:
            data[content["dataset"], content["fold"]].add("/".join(map(str, rests_on)))
    mixed = dict.fromkeys(dataset for (dataset, _), found in data.items() if len(found) > 1)
    return [*notes, *(f"cells of {dataset} rest on different data or foreign rows" for dataset in mixed)]


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
def code() -> str:
    """Return the first digits of the SHA-256 of the package's own files, native modules among them."""
    digest = hashlib.sha256()
    with resources.as_file(resources.files("epiboost")) as folder:
        for path in sorted(path for path in folder.rglob("*") if path.suffix in {".py", ".so", ".pyd", ".csv"}):
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:_DIGITS]


def versions(engine: str) -> dict[str, str]:
    """Return the versions of what figures rest on."""
    packages = ["epiboost", "numpy", "scipy", "scikit-learn", *([engine] if engine not in {"native", "forest"} else [])]
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found | {"code": code()}


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine() -> dict[str, Any]:
    """Return what the times rest on: the processor and the cores this process may use."""
    return {"processor": _processor(), "cores": cores()}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
