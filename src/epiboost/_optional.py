"""Imports optional packages."""

import importlib
from types import ModuleType


def require(package: str, *, extra: str, purpose: str) -> ModuleType:
    """Return the module of an optional package; the error says which extra installs it.

    Parameters
    ----------
    package : str
        Name of the module.
    extra : str
        Extra of epiboost that installs the package.
    purpose : str
        What needs the package, for the error.

    >>> require("math", extra="plot", purpose="drawing").sqrt(4.0)
    2.0
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        message = f"{purpose} needs the package {name!r}; install it with: pip install 'epiboost[{extra}]'"
        raise ImportError(message) from error
