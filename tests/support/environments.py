"""Environments that hold the package with chosen extras and nothing else, made of what is installed already."""

import os
import subprocess
import sys
from importlib.metadata import Distribution, distribution, requires
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]


def names_needed(name="epiboost", extras=(), found=frozenset()):
    """Return the names of all packages that a package needs with these extras, as far as they are installed."""
    for text in requires(name) or ():
        needed = Requirement(text)
        wanted = needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *extras))
        if not wanted:
            continue
        if needed.name == name:  # an extra of the package that holds others
            found = names_needed(name, needed.extras, found) if set(needed.extras) - set(extras) else found
        elif needed.name not in found and any(Distribution.discover(name=needed.name)):
            found = names_needed(needed.name, needed.extras, found | {needed.name})
    return found


def link_packages(folder, names):
    """Fill a folder with links to these installed packages, so that it can be a path of imports."""
    folder.mkdir()
    for name in names:
        installed = distribution(name)
        for top in {file.parts[0] for file in installed.files} - {"..", "__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(installed.locate_file(top))
    return folder


def run_in(folder, *arguments, python=sys.executable, path=""):
    """Run Python with no packages but those of a folder and, on the path of programs, nothing but what is given."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "EPIBOOST"))}
    environment |= {"PATH": str(path), "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [python, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env=environment, cwd=folder.parent
    )
