"""Prints what the package and other libraries take on disk, with all that they need: ``make size``.

Counted are the files of what is installed, without compiled bytecode.
"""

from importlib.metadata import distribution
from pathlib import Path

from tests.support.environments import names_needed

LIBRARIES = ("epiboost", "lightgbm", "catboost", "xgboost")
MEGABYTE = 1e6


def size_of(name: str) -> int:
    """Return the bytes of the files of an installed package."""
    files = [Path(str(file.locate())) for file in distribution(name).files or () if file.suffix != ".pyc"]
    return sum(file.stat().st_size for file in files if file.is_file())


def main() -> None:
    """Print one line per library: its own size, and that with what it needs."""
    print("library     own    with what it needs")
    for library in LIBRARIES:
        needed = sorted((size_of(name), name) for name in names_needed(library))[::-1]
        own = size_of(library)
        total = own + sum(size for size, _ in needed)
        parts = ", ".join(f"{name} {size / MEGABYTE:.0f}" for size, name in needed if size >= MEGABYTE)
        print(f"{library:9} {own / MEGABYTE:5.1f} MB  {total / MEGABYTE:5.1f} MB ({parts})")


if __name__ == "__main__":
    main()
