"""Import an optional package, or say which extra installs it."""

import importlib
from types import ModuleType


def require(package: str, *, extra: str, purpose: str) -> ModuleType:
    """Return the package's module, or raise an error that says how to get it.

    >>> require("math", extra="plot", purpose="drawing").sqrt(4.0)
    2.0
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        message = f"{purpose} needs the package {package!r}; install it with: pip install 'epiboost[{extra}]'"
        raise ImportError(message) from error
