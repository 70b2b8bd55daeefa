"""How Sphinx builds this site: `make docs`."""

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx_gallery.sorting import ExplicitOrder

project = "EpiBoost"
author = "the EpiBoost authors"
copyright = "the EpiBoost authors, Apache License 2.0"  # noqa: A001 (Sphinx wants this name)
try:
    release = metadata.version("epiboost")
except metadata.PackageNotFoundError:
    release = ""

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["results"]
default_role = "py:obj"  # docstrings name things in single backticks

html_theme = "furo"
html_title = f"EpiBoost {release}".strip()
html_math_renderer = "mathml"  # below: formulas need neither a network nor a script

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
    "ignore_pattern": r"spark_|__init__",  # but for one that needs Spark
    "within_subsection_order": ExplicitOrder(
        ["heart.py", "spiral.py", "abstention.py", "calibrated_intervals.py", "*"]
    ),
    "capture_repr": (),  # what an example prints is its output, and not what its last line returns
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
}


def write_command_line(app: Sphinx) -> None:
    """Write the page of the command line: what its --help says, as Typer tells it in Markdown."""
    command = [sys.executable, "-m", "typer", "epiboost._cli.app", "utils", "docs", "--name", "epiboost"]
    text = subprocess.run([*command, "--title", "Command line"], check=True, capture_output=True, text=True).stdout  # noqa: S603
    page = Path(app.srcdir) / "api" / "command-line.md"
    if not page.exists() or page.read_text() != text:
        page.write_text(text)


def mathml_of(formula: str, display: str) -> str:
    """Return a formula as browsers draw it by themselves; of variants they know bold letters by their style only."""
    return convert(formula.strip(), display=display).replace('mathvariant="bold-italic"', 'style="font-weight: bold"')


def write_formula(writer: Any, node: nodes.math) -> NoReturn:  # noqa: ANN401 (Sphinx's HTML writer)
    """Write a formula within a line."""
    writer.body.append(mathml_of(node.astext(), "inline"))
    raise nodes.SkipNode


def write_block(writer: Any, node: nodes.math_block) -> NoReturn:  # noqa: ANN401 (Sphinx's HTML writer)
    """Write a formula that stands alone."""
    writer.body.append(f'<div class="math">{mathml_of(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def keep_underscores(_app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    """Keep the underscore that fitted attributes end in, which would else be read as a mark of a link."""
    lines[:] = [re.sub(r"^:(ivar|vartype) (\w+)_:", r":\1 \2\\_:", line) for line in lines]


def setup(app: Sphinx) -> None:
    """Say when the functions above are called."""
    app.connect("builder-inited", write_command_line)
    app.connect("autodoc-process-docstring", keep_underscores, priority=900)  # after Napoleon
    app.add_html_math_renderer("mathml", (write_formula, None), (write_block, None))
