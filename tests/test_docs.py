"""Code in the documentation runs, links lead somewhere, and the reference has every public name."""

import importlib
import inspect
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import epiboost

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RUNNABLE = ("quickstart", "which-ensemble", "three-numbers", "larger-tables", "saving-and-serving", "reproducibility")
GENERATED = ("gallery/", "api/command-line.md")  # written by `make docs`
CONTRIBUTORS = ("CONTRIBUTING.md", "docs/contributing.md")
FOLDERS = (ROOT, ROOT / "src" / "epiboost", ROOT / "src" / "native", DOCS)  # where a path may start
PAGES = sorted({*DOCS.glob("*.md"), *DOCS.glob("api/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"})


def code_of(text):
    """Return the code blocks of a page, one after the other."""
    return "\n\n".join(re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL))


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


@pytest.mark.parametrize("page", RUNNABLE)
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(page, tmp_path, monkeypatch, capsys):
    text = (DOCS / f"{page}.md").read_text()
    script = tmp_path / "page.py"
    script.write_text(code_of(text))
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))
    printed = capsys.readouterr().out.split()
    assert printed
    if page == "quickstart":
        shown = " ".join(re.findall(r"^    ( *(?:\[|total|\d).*)$", text, flags=re.MULTILINE))
        assert shown
        assert " ".join(shown.split()) in " ".join(printed)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page):
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if target.is_relative_to(DOCS) and str(target.relative_to(DOCS)).startswith(GENERATED):
            source = ROOT / "examples" / f"{target.stem}.py"
            assert source.exists() or target.suffix == ".md", f"{link}: no example makes this page"
            continue
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


@pytest.mark.filterwarnings("ignore::epiboost.decisions.TargetNotMetWarning")  # the model is too small for it
def test_pages_that_continue_the_quickstart_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
    pytest.importorskip("shap", reason="reports need shap")
    pages = [(DOCS / f"{page}.md").read_text() for page in ("quickstart", "report", "explain")]
    smaller = "EpiBoostRegressor(n_members=3, n_estimators=100, random_state=0)"
    quick = code_of(pages[0]).replace("EpiBoostRegressor(random_state=0)", smaller)
    script = tmp_path / "page.py"
    script.write_text("\n".join([quick, *map(code_of, pages[1:])]))
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))
    assert (tmp_path / "report.html").exists()
    assert "['city']" in capsys.readouterr().out


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
