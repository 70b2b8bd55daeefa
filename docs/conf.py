"""How Sphinx builds this site: `make docs`."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

from sphinx.application import Sphinx

project = "EpiBoost"
author = "the EpiBoost authors"
copyright = "the EpiBoost authors, Apache License 2.0"  # noqa: A001 (Sphinx wants this name)
try:
    release = metadata.version("epiboost")
except metadata.PackageNotFoundError:
    release = "from source"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["results"]
default_role = "py:obj"  # docstrings name things in single backticks

html_theme = "furo"
html_title = f"EpiBoost {release}"
html_static_path: list[str] = []

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3

# What scikit-learn gives every estimator is told in its own documentation.
autodoc_default_options = {
    "inherited-members": "BaseEstimator, RegressorMixin, ClassifierMixin, OutlierMixin",
    "exclude-members": "get_metadata_routing, set_fit_request, set_predict_request, set_score_request",
}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say types, in words and with shapes
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",  # every example runs
    "within_subsection_order": "ExampleTitleSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 5,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
}


def write_command_line(app: Sphinx) -> None:
    """Write the page of the command line: what its --help says, as Typer tells it in Markdown."""
    command = [sys.executable, "-m", "typer", "epiboost.commands", "utils", "docs", "--name", "epiboost"]
    text = subprocess.run([*command, "--title", "Command line"], check=True, capture_output=True, text=True).stdout  # noqa: S603
    page = Path(app.srcdir) / "api" / "command-line.md"
    if not page.exists() or page.read_text() != text:
        page.write_text(text)


def setup(app: Sphinx) -> None:
    """Have the page written before pages are read."""
    app.connect("builder-inited", write_command_line)
