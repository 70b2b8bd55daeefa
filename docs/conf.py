"""How Sphinx builds this site: `make docs`."""

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import NoReturn

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator
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
default_role = "py:obj"  # docstrings put names in single backticks

smartquotes_action = "qe"  # an option's two hyphens are no dash

html_theme = "furo"
html_title = f"EpiBoost {release}".strip()
html_math_renderer = "mathml"  # see below; formulas need no network and no script

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3

# Methods that every estimator inherits from scikit-learn are documented there.
autodoc_default_options = {
    "inherited-members": "BaseEstimator, RegressorMixin, ClassifierMixin, OutlierMixin",
    "exclude-members": "get_metadata_routing, set_fit_request, set_predict_request, set_predict_proba_request, "
    "set_predict_log_proba_request, set_score_request",
}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings give types in words, with shapes
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",  # every example runs
    "ignore_pattern": r"spark_|__init__",  # except the one that needs Spark
    "within_subsection_order": ExplicitOrder(
        ["heart.py", "spiral.py", "abstention.py", "calibrated_intervals.py", "*"]
    ),
    "capture_repr": (),  # show what an example prints, not the value of its last line
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
    text = re.sub(r"^Example: (.*)$", r"**Example**:\n\n```console\n$ \1\n```", text, flags=re.MULTILINE)
    page = Path(app.srcdir) / "api" / "command-line.md"
    if not page.exists() or page.read_text() != text:
        page.write_text(text)


def link_to_gallery(_app: Sphinx, _page: str, text: list[str]) -> None:
    """Let links to the source of an example, which work on a code host, lead to its page of the gallery."""
    text[0] = re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](gallery/\1.rst)", text[0])


def mathml_of(formula: str, display: str) -> str:
    """Return a formula as MathML; bold variants become a style, because browsers ignore the attribute."""
    return convert(formula.strip(), display=display).replace('mathvariant="bold-italic"', 'style="font-weight: bold"')


def write_formula(writer: HTML5Translator, node: nodes.math) -> NoReturn:
    """Write an inline formula."""
    writer.body.append(mathml_of(node.astext(), "inline"))
    raise nodes.SkipNode


def write_block(writer: HTML5Translator, node: nodes.math_block) -> NoReturn:
    """Write a displayed formula."""
    writer.body.append(f'<div class="math">{mathml_of(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def keep_underscores(_app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    """Escape the underscore at the end of fitted attributes, which would otherwise be read as a link."""
    lines[:] = [re.sub(r"^:(ivar|vartype) (\w+)_:", r":\1 \2\\_:", line) for line in lines]


def setup(app: Sphinx) -> None:
    """Register the functions above with Sphinx."""
    app.connect("builder-inited", write_command_line)
    app.connect("source-read", link_to_gallery)
    app.connect("autodoc-process-docstring", keep_underscores, priority=900)  # after Napoleon
    app.add_html_math_renderer("mathml", (write_formula, None), (write_block, None))
