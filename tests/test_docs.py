"""Code in the documentation runs, links lead somewhere, and the reference has every public name."""

import importlib
import inspect
import pkgutil
import re
import runpy
import warnings

import matplotlib.pyplot as plt
import pandas as pd
import pytest

import epiboost
from epiboost._boosting.objectives import number_families
from epiboost.decisions import TargetNotMetWarning
from epiboost.engines import engine_names, unregister_engine, unregister_family
from tests.support.documentation import DOCS, PAGES, ROOT, blocks_of, prose_of

CONTINUED = ("docs/explain.md", "docs/report.md")  # continue the session of the quickstart
SMALLER = (  # of the quickstart, before another page continues it
    ("EpiBoostRegressor(random_state=0)", "EpiBoostRegressor(n_members=3, n_estimators=100, random_state=0)"),
    ("9000", "3000"),
    ("train_size=8000", "train_size=2000"),
)
LOCAL_CLUSTER = 'Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")'
SMALL = "n_members=2, n_estimators=20"
REPLACED = {  # what a reader has and a test has not: a cluster, and time
    "README.md": (("make_heart(", "make_heart(30, "),),
    "docs/coming-from.md": (
        ("NGBRegressor()", "NGBRegressor(n_estimators=5, verbose=False)"),
        ("RandomForestRegressor()", "RandomForestRegressor(5)"),
        ("verbose=0)", "verbose=0, iterations=20)"),
    ),
    "docs/dask.md": (
        ('Client("scheduler:8786")', LOCAL_CLUSTER),
        ('n_jobs="dask"', f'n_jobs="dask", {SMALL}'),
        ('engine="xgboost"', f'engine="xgboost", {SMALL}'),
        ("/shared/", ""),
    ),
    "docs/gpu.md": (('n_members=100, device="cuda"', SMALL),),
    "docs/more-members.md": (("n_members=100", "n_members=3"),),
    "docs/engines.md": (
        ('engine="lightgbm"', f'engine="lightgbm", {SMALL}'),
        ('engine="forest"', f'engine="forest", {SMALL}'),
        ('engine="toy"', f'engine="toy", {SMALL}'),
    ),
}
PACKAGES = {  # that a page needs beside those of the tests
    "docs/coming-from.md": ("catboost", "mapie", "ngboost"),
    "docs/contributing.md": ("lightgbm",),
    "docs/dask.md": ("distributed", "xgboost"),
    "docs/engines.md": ("catboost", "lightgbm", "xgboost"),
    "docs/explain.md": ("shap",),
    "docs/report.md": ("shap", "vl_convert"),
    "docs/survival.md": ("lifelines",),
    "docs/tour.md": ("catboost", "shap", "vl_convert"),
}
NOT_CODE = ("text", "{eval-rst}", "{include}", "{toctree}")
RUN = ("python", "bash")  # of which tests/test_docs_commands.py runs bash
CONTRIBUTORS = ("CONTRIBUTING.md", "docs/contributing.md")
FOLDERS = (ROOT, ROOT / "src" / "epiboost", ROOT / "src" / "native", DOCS)  # where a path may start
CODED = {page.relative_to(ROOT).as_posix(): page.read_text() for page in PAGES if "```python\n" in page.read_text()}


def code_of(text):
    """Return the code blocks of a page, one after the other."""
    return "\n\n".join(blocks_of("python", text))


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
    headings = re.findall(r"^#+ (.*)$", prose_of(page.read_text()), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def links_of(page):
    """Return the relative links of a page, including pictures."""
    return [
        link for link in re.findall(r"\]\(([^)\s]+)\)", prose_of(page.read_text())) if not re.match(r"\w+://", link)
    ]


def paths_of(page):
    """Return the paths in backticks of a page: names with a folder or a suffix; NAME and FAMILY are placeholders."""
    names = re.findall(r"`([\w./-]+)`", prose_of(page.read_text()))
    files = [name for name in names if "/" in name or re.search(r"\.(py|md|hpp|cpp|toml|txt)$", name)]
    built = (".venv/", "build/")
    return [name for name in files if not re.search("NAME|FAMILY", name) and not name.startswith(built)]


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory):
    """Run a smaller quickstart, which other pages continue."""
    script = tmp_path_factory.mktemp("quickstart") / "page.py"
    script.write_text(code_of(smaller(CODED["docs/quickstart.md"], SMALLER)))
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.chdir(script.parent)
        warnings.simplefilter("ignore", TargetNotMetWarning)  # the smaller model may accept no row
        return runpy.run_path(str(script))


@pytest.fixture
def engines():
    """Forget the engines and families that a page registers."""
    known, families = engine_names(), number_families()
    yield
    for name in set(engine_names()) - set(known):
        unregister_engine(name)
    for name in set(number_families()) - set(families):
        unregister_family(name)


class SparkFrame:
    """As much of a frame of Spark as a page needs."""

    def mapInPandas(self, function, _schema):  # noqa: N802 (Spark's name)
        rows = pd.DataFrame({"id": [1, 2], "area": [50.0, 90.0], "rooms": [2, 3]})
        return pd.concat(function(iter([rows[:1], rows[1:]])))


@pytest.fixture
def figures(monkeypatch):
    """Return a function that counts the figures that a page has drawn."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    plt.switch_backend("agg")
    plt.close("all")
    yield lambda: len(plt.get_fignums())
    plt.close("all")


@pytest.mark.usefixtures("engines")
@pytest.mark.parametrize("page", sorted(CODED))
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(page, figures, tmp_path, monkeypatch, capsys, request):
    for package in PACKAGES.get(page, ()):
        pytest.importorskip(package)
    session = request.getfixturevalue("quickstart") if page in CONTINUED else {"spark_frame": SparkFrame()}
    text = smaller(CODED[page], REPLACED.get(page, ()))
    script = tmp_path / "page.py"
    script.write_text(code_of(text))
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    runpy.run_path(str(script), init_globals=session)
    printed = " ".join(capsys.readouterr().out.split())
    for shown in outputs_of(text):
        before, words, printed = printed.partition(" ".join(shown.split()))
        assert words, f"not printed: {shown}, but {before}"
    drawn = set(re.findall(r"\]\((tour_\w+\.png)\)", text)) - {"tour_report.png"}
    assert page != "docs/tour.md" or figures() == len(drawn) > 0, "the tour has the pictures that its code draws"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_is_in_a_language_that_is_run(page):
    opened = re.findall(r"^ *(?:```|~~~)(.*)$", page.read_text(), flags=re.MULTILINE)[::2]
    assert {(block.split() or ["no language"])[0] for block in opened} <= {*RUN, *NOT_CODE}


@pytest.mark.slow
def test_a_script_draws_the_pictures_of_the_pages(tmp_path):
    for package in (*PACKAGES["docs/tour.md"], "lifelines"):
        pytest.importorskip(package)
    script = runpy.run_path(str(DOCS / "pictures.py"))
    for draw in (
        "tour_pictures",
        "spiral_pictures",
        "domain_pictures",
        "calibration_picture",
        "explain_picture",
        "survival_picture",
    ):
        script[draw](tmp_path)
    drawn = {picture.name for picture in tmp_path.iterdir()}
    assert drawn | {"tour_report.png"} >= {picture.name for picture in DOCS.glob("tour_*.png")}
    assert drawn <= {picture.name for picture in DOCS.glob("*.png")}


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
