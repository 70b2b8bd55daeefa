"""What is to be remembered of a training: how long it took, on how many rows, with what.

>>> Training.from_header(Training(1.5, 100, (("epiboost", "0.1.0"),)).to_header()).seconds
1.5
"""

import platform
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Training:
    """How a model came about.

    Attributes
    ----------
    seconds : float
        Wall-clock time.
    n_rows : int
        Rows that counted.
    versions : tuple of (str, str)
        Packages and their versions.
    """

    seconds: float
    n_rows: int
    versions: tuple[tuple[str, str], ...]

    @classmethod
    def now(cls, seconds: float, n_rows: int) -> "Training":
        """Return a training that has just ended."""
        versions = (("epiboost", version_of("epiboost")), ("Python", platform.python_version()))
        return cls(seconds, n_rows, (*versions, ("NumPy", np.__version__)))

    def to_header(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"seconds": self.seconds, "n_rows": self.n_rows, "versions": dict(self.versions)}

    @classmethod
    def from_header(cls, header: Any) -> "Training | None":  # noqa: ANN401 (anything that JSON holds)
        """Return what `to_header` gave; None for a file that does not tell."""
        if header is None:
            return None
        versions = tuple((str(name), str(version)) for name, version in header["versions"].items())
        return cls(float(header["seconds"]), int(header["n_rows"]), versions)


def version_of(package: str) -> str:
    """Return the version of an installed package; "unknown" if it runs without being installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"
