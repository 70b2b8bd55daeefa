"""The source files of the kernels: in the package where it is installed, in ``src/native`` where it is worked on.

>>> "struct Member" in text_of("cuda/chains.cuh")
True
"""

import functools
import hashlib
from pathlib import Path

_INSTALLED = Path(__file__).parents[0] / "native"
_REPOSITORY = Path(__file__).parents[3] / "native"


@functools.cache
def folder() -> Path:
    """Return the folder from which kernels include their files."""
    for candidate in (_INSTALLED, _REPOSITORY):
        if (candidate / "cuda" / "training.cu").is_file():
            return candidate
    message = f"the kernels are missing: neither {_INSTALLED} nor {_REPOSITORY} has them; install epiboost anew"
    raise FileNotFoundError(message)


def text_of(name: str) -> str:
    """Return the text of a source file."""
    return (folder() / name).read_text(encoding="utf-8")


@functools.cache
def fingerprint() -> str:
    """Return a hash of all source files, which names what is compiled from them."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder().rglob("*") if path.suffix in {".cu", ".cuh", ".hpp"}):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
