"""How a model was trained: duration, number of rows, versions.

>>> Provenance.from_header(Provenance(1.5, 100, (("epiboost", "0.1.0"),)).to_header()).seconds
1.5
"""

import platform
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np


def package_version(package: str) -> str:
    """Return the version of an installed package; "unknown" if it is used without being installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"


VERSIONS = (
    ("epiboost", package_version("epiboost")),
    ("Python", platform.python_version()),
    ("NumPy", np.__version__),
)
"""The versions in use."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a model was trained.

    Attributes
    ----------
    seconds : float
        Wall-clock time of the training.
    n_rows : int
        Number of training rows of positive weight.
    versions : tuple of (str, str)
        Packages and their versions.
    """

    seconds: float
    n_rows: int
    versions: tuple[tuple[str, str], ...] = VERSIONS

    def to_header(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"seconds": self.seconds, "n_rows": self.n_rows, "versions": dict(self.versions)}

    @classmethod
    def from_header(cls, header: dict[str, Any] | None) -> "Provenance | None":
        """Return what `to_header` gave; None for a file that has none."""
        if header is None:
            return None
        versions = tuple((str(name), str(version)) for name, version in header["versions"].items())
        return cls(float(header["seconds"]), int(header["n_rows"]), versions)
