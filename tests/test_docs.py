"""Code in the documentation runs, links lead somewhere, and the reference has every public name."""

import importlib
import inspect
import pkgutil
import re
import runpy
import warnings
from pathlib import Path

import pytest

import epiboost
from epiboost.decisions import TargetNotMetWarning
from epiboost.engines import engine_names, unregister_engine

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
CONTINUED = ("explain", "report")  # continue the session of the quickstart
SMALLER = (  # of the quickstart, before another page continues it
    ("EpiBoostRegressor(random_state=0)", "EpiBoostRegressor(n_members=3, n_estimators=100, random_state=0)"),
    ("9000", "3000"),
    ("train_size=8000", "train_size=2000"),
)
LOCAL_CLUSTER = 'Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")'
SMALL = "n_members=2, n_estimators=20"
REPLACED = {  # what a reader has and a test has not: a cluster, and time
    "README": (("make_heart(", "make_heart(30, "),),
    "dask": (
        ('Client("scheduler:8786")', LOCAL_CLUSTER),
        ('n_jobs="dask"', f'n_jobs="dask", {SMALL}'),
        ('engine="xgboost"', f'engine="xgboost", {SMALL}'),
    ),
    "engines": (
        ('engine="lightgbm"', f'engine="lightgbm", {SMALL}'),
        ('engine="forest"', f'engine="forest", {SMALL}'),
        ('engine="toy"', f'engine="toy", {SMALL}'),
    ),
}
PACKAGES = {  # that a page needs beside those of the tests
    "dask": ("distributed", "xgboost"),
    "engines": ("catboost", "lightgbm", "xgboost"),
    "explain": ("shap",),
    "report": ("shap", "vl_convert"),
}
SLOW = ("dask", "imbalance", "time-series")  # pages that take seconds
NOT_RUN = {  # pages with blocks of `py`, which no test runs, and why
    "coming-from": "the code of other libraries",
    "dask": "Spark; tests/distributed/test_spark.py runs the example where PySpark is installed",
}
CONTRIBUTORS = ("CONTRIBUTING.md", "docs/contributing.md")
FOLDERS = (ROOT, ROOT / "src" / "epiboost", ROOT / "src" / "native", DOCS)  # where a path may start
PAGES = sorted({*DOCS.glob("*.md"), *DOCS.glob("api/*.md"), README, ROOT / "CONTRIBUTING.md"})
CODED = {page.stem: page.read_text() for page in PAGES if "```python\n" in page.read_text()}


def code_of(text):
    """Return the code blocks of a page, one after the other."""
    return "\n\n".join(blocks_of("python", text))


def blocks_of(language, text):
    """Return the blocks of a page that are in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def outputs_of(text):
    """Return what a page shows as printed, block by block: blocks of text after blocks of code."""
    return re.findall(r"^```python\n(?:(?!```).)*```\n\n```text\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def smaller(text, replacements):
    """Return a page after replacements, each of which must apply."""
    for old, new in replacements:
        assert old in text, f"nothing to replace: {old}"
        text = text.replace(old, new)
    return text


def anchors_of(page):
    """Return the anchors of the headings of a page."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", prose, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def links_of(page):
    """Return the relative links of a page, including pictures."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", prose) if not re.match(r"\w+://", link)]


def paths_of(page):
    """Return the paths in backticks of a page: names with a folder or a suffix; NAME and FAMILY are placeholders."""
    names = re.findall(r"`([\w./-]+)`", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL))
    files = [name for name in names if "/" in name or re.search(r"\.(py|md|hpp|cpp|toml|txt)$", name)]
    built = (".venv/", "build/")
    return [name for name in files if not re.search("NAME|FAMILY", name) and not name.startswith(built)]


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory):
    """Run a smaller quickstart, which other pages continue."""
    script = tmp_path_factory.mktemp("quickstart") / "page.py"
    script.write_text(code_of(smaller(CODED["quickstart"], SMALLER)))
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.chdir(script.parent)
        warnings.simplefilter("ignore", TargetNotMetWarning)  # the smaller model may accept no row
        return runpy.run_path(str(script))


@pytest.fixture
def engines():
    """Forget the engines that a page registers."""
    known = engine_names()
    yield
    for name in set(engine_names()) - set(known):
        unregister_engine(name)


@pytest.mark.usefixtures("engines")
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.slow) if page in SLOW else page for page in sorted(CODED)]
)
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(page, tmp_path, monkeypatch, capsys, request):
    for package in PACKAGES.get(page, ()):
        pytest.importorskip(package)
    session = request.getfixturevalue("quickstart") if page in CONTINUED else {}
    text = smaller(CODED[page], REPLACED.get(page, ()))
    script = tmp_path / "page.py"
    script.write_text(code_of(text))
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    runpy.run_path(str(script), init_globals=session)
    printed = " ".join(capsys.readouterr().out.split())
    for shown in outputs_of(text):
        before, words, printed = printed.partition(" ".join(shown.split()))
        assert words, f"not printed: {shown}, but {before}"


def test_every_block_that_is_not_run_has_a_reason():
    not_run = {page.stem for page in (*DOCS.glob("*.md"), README) if blocks_of("py", page.read_text())}
    assert not_run == set(NOT_RUN)
    shown = set().union(*(re.findall(r"^```(\S+)", page.read_text(), flags=re.MULTILINE) for page in PAGES))
    assert shown <= {"bash", "console", "py", "python", "text", "{eval-rst}", "{include}", "{toctree}"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page):
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link}: no such file"
        assert not anchor or anchor in anchors_of(target), f"{link}: no such heading"


@pytest.mark.parametrize("page", CONTRIBUTORS)
def test_every_path_that_contributors_are_shown_exists(page):
    paths = paths_of(ROOT / page)
    assert len(paths) > 20
    assert [path for path in paths if not any((folder / path).exists() for folder in FOLDERS)] == []


def test_the_table_of_rooms_has_every_room():
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) +\|", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.MULTILINE)
    listed = sorted(name for row in rows for name in re.findall(r"\w+", row))
    assert listed == sorted(one.parent.name for one in (ROOT / "src" / "epiboost").glob("*/__init__.py"))


def test_every_page_is_in_a_table_of_contents():
    entries = re.findall(r"^```\{toctree\}\n(.*?)^```", (DOCS / "index.md").read_text(), flags=re.MULTILINE | re.DOTALL)
    listed = {line for block in entries for line in block.split("\n") if line and not line.startswith(":")}
    pages = [page.relative_to(DOCS) for page in DOCS.glob("*.md") if page.name != "index.md"]
    assert [str(page) for page in pages if not any(page.match(f"{entry}.md") for entry in listed)] == []


def test_the_reference_has_every_public_name():
    text = "\n".join(page.read_text() for page in sorted((DOCS / "api").glob("*.md")))
    modules = [importlib.import_module(name) for name in re.findall(r"automodule:: (\S+)\n   :members:", text)]
    single = re.findall(r"auto(?:class|function|exception|data):: (\S+)\.(\w+)\n", text)
    # automodule leaves out type aliases that are defined elsewhere, which have no docstring
    shown = {
        id(one)
        for module in modules
        for name, one in ((name, getattr(module, name)) for name in module.__all__)
        if inspect.isclass(one) or inspect.isroutine(one) or re.search(rf"(?m)^{name}\b.*=", inspect.getsource(module))
    }
    shown |= {id(getattr(importlib.import_module(module), name)) for module, name in single}
    packages = [
        importlib.import_module(one.name) for one in pkgutil.iter_modules(epiboost.__path__, "epiboost.") if one.ispkg
    ]
    public = [epiboost, *(package for package in packages if hasattr(package, "__all__"))]
    names = {f"{package.__name__}.{name}": getattr(package, name) for package in public for name in package.__all__}
    assert len(names) > 50
    assert [name for name, one in names.items() if id(one) not in shown] == []
