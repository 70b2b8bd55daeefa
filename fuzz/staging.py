"""Builds the core with other options, and stages the package beside it, without installing it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from fuzz.runner import ROOT


def build_package(folder: Path, options: Sequence[str]) -> Path:
    """Build the modules in a folder; return the folder that holds the Python files of ``src`` and these modules."""
    configure = ["cmake", "-S", ROOT, "-B", folder / "cmake", "-DCMAKE_BUILD_TYPE=Release"]
    run([*configure, f"-DPython_EXECUTABLE={sys.executable}", *options])
    run(["cmake", "--build", folder / "cmake", "--parallel", "2"])
    package = folder / "package" / "epiboost"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "epiboost", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for module in (folder / "cmake").glob("*.so"):
        shutil.copy(module, package)
    return package.parent


def run(command: Sequence[object], settings: Mapping[str, str] | None = None) -> None:
    """Run a command in the root of the project, with settings added to the environment; it must succeed."""
    environment = {**os.environ, **(settings or {})}
    subprocess.run([str(part) for part in command], env=environment, cwd=ROOT, check=True)  # noqa: S603 (our commands)
