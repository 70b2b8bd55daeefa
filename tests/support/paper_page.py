"""The scripts that build the paper's page."""

import importlib
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def load_script(name):
    """Import a script of the documentation, which finds its neighbours as if it were run."""
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(DOCS))
