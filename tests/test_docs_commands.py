"""Commands in the documentation run, and the targets, options and parameters that it names exist."""

import ast
import gzip
import importlib
import inspect
import re
import shlex
import shutil
import subprocess
import sys
import tomllib

import numpy as np
import pandas as pd
import pytest
import typer

from epiboost._cli.app import app
from tests.support.command_line import SMALL, epiboost
from tests.support.documentation import CURRENT, ROOT, commands_of, inline_code_of

TEXTS = {str(page.relative_to(ROOT)): page.read_text() for page in CURRENT}
SHELL = {name: commands_of(text) for name, text in TEXTS.items()}
EPIBOOST = {name: [line for line in lines if "epiboost " in line] for name, lines in SHELL.items()}
MAKEFILE = (ROOT / "Makefile").read_text()
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
GROUP = typer.main.get_command(app)
COMMANDS = GROUP.commands
LONG = ("reproduce",)  # commands that take hours; tests/paper runs them on small files
MODULES = {"epiboost": "src/epiboost", "fuzz": "fuzz", "pytest": ""}
ELSEWHERE = {"--preload": "gunicorn"}  # options that are not ours
SCRIPTS = ("benchmarks", "docs", "fuzz")  # folders with scripts whose options a page may name


def options_of(command):
    """Return the names of the options of a command."""
    return {"-h", "--help"}.union(*([*param.opts, *param.secondary_opts] for param in command.params))


def check_epiboost(words):
    """Check that a command and its options exist."""
    named = [re.sub("=.*", "", word) for word in words if re.match("--?[a-z]", word)]
    if words and not words[0].startswith("-"):
        assert words[0] in COMMANDS
        assert set(named) <= options_of(COMMANDS[words[0]])
    else:
        assert set(named) <= options_of(GROUP) | {"--install-completion", "--show-completion"}


def check_make(words):
    """Check that targets and variables are in the Makefile."""
    for word in words:
        name, variable, _ = word.partition("=")
        assert re.search(rf"\$\([^)]*\b{name}\b" if variable else rf"(?m)^{name}:", MAKEFILE), word


def check_pip(words):
    """Check that what is installed is this package, and that it has the extras."""
    verb, package = words
    extras = re.fullmatch(r"(?:\.|epiboost|dist/<wheel>)(?:\[(.*)\])?", package)[1]
    assert verb == "install"
    assert set((extras or "all").split(",")) <= set(EXTRAS)


def check_python(words):
    """Check that a script or module exists, and that it knows the options."""
    if words[0] == "-m":
        path, rest = ROOT / MODULES[words[1]], words[2:]
        sources = "".join(file.read_text() for file in path.rglob("*.py")) if MODULES[words[1]] else ""
        assert all((ROOT / word).exists() for word in rest if "/" in word)
    else:
        path, rest = ROOT / words[0], words[1:]
        sources = path.read_text()
    assert path.exists()
    for word in rest:
        assert not word.startswith("-") or f'"{word}"' in sources, word


CHECKS = {
    "epiboost": check_epiboost,
    "make": check_make,
    "pip": check_pip,
    "python": check_python,
    ".venv/bin/python": check_python,
}
OTHERS = ("cd", "git", "head", "zcat")


def check_line(line):
    """Check each program of a line, after settings of the environment."""
    for part in re.split(r"&&|\|", line):
        program, *words = shlex.split(re.sub(r"^\s*([A-Z_]+=\S* )+", "", part))
        assert program in CHECKS or program in OTHERS, f"no check knows {program}"
        if program in CHECKS:
            CHECKS[program](words)


@pytest.mark.parametrize("page", [name for name, lines in SHELL.items() if lines])
def test_every_line_of_a_shell_names_what_exists(page):
    for line in SHELL[page]:
        check_line(line)


@pytest.mark.parametrize("page", TEXTS)
def test_every_command_and_option_in_a_sentence_exists(page):
    known = set().union(*map(options_of, COMMANDS.values()), options_of(GROUP), ELSEWHERE)
    scripts = "".join(file.read_text() for folder in SCRIPTS for file in (ROOT / folder).rglob("*.py"))
    for code in inline_code_of(TEXTS[page]):
        if re.match(r"([A-Z_]+=\S* )*(epiboost|make|pip|python|\.venv/bin/python) [\w.\"'-]", code):
            check_line(code)
        elif option := re.match(r"--[a-z][a-z-]*", code):
            assert option[0] in known or f'"{option[0]}"' in scripts, f"no command has {option[0]}"


def table(rows, *, names):
    """Return flats as CSV, with a column of names if a command uses it."""
    rng = np.random.default_rng(rows)
    flats = pd.DataFrame({"area": rng.gamma(6.0, 12.0, size=rows), "city": rng.choice(["Bern", "Genoa"], size=rows)})
    flats["price"] = 5 * flats["area"] + 20 * rng.normal(size=rows)
    return (flats.assign(name=[f"flat {row}" for row in range(rows)]) if names else flats).to_csv(index=False)


def write_tables(lines, folder):
    """Write the tables that the commands of a page read."""
    written = set(re.findall(r"(?:-o|--json|--plot) (\S+)", " ".join(lines)))
    for rows, name in enumerate(sorted(set(re.findall(r"[\w.]+\.csv(?:\.gz)?", " ".join(lines))) - written)):
        text = table(120 + rows, names=any(name in line and " name" in line for line in lines)).encode()
        (folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)


@pytest.mark.parametrize("page", [name for name, lines in EPIBOOST.items() if lines])
def test_the_command_lines_of_a_page_run(page, tmp_path, monkeypatch):
    for package in ("jinja2", "matplotlib", "shap", "vl_convert"):
        pytest.importorskip(package)
    lines = [line for line in EPIBOOST[page] if not line.startswith(tuple(f"epiboost {one}" for one in LONG))]
    monkeypatch.chdir(tmp_path)
    write_tables(lines, tmp_path)
    if lines and " fit " not in lines[0]:
        (tmp_path / "fitted.csv").write_text(table(150, names=False))
        lines = ["epiboost fit fitted.csv --target price -o model.epib", *lines]
    for line in lines:
        if "|" in line:
            program = f'epiboost() {{ {shlex.quote(sys.executable)} -m epiboost "$@"; }}; set -e; {line}'
            done = subprocess.run([shutil.which("bash"), "-c", program], capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{line}: {done.stderr}"
            assert done.stdout, f"{line} wrote nothing: {done.stderr}"
        else:
            words = shlex.split(line)[1:]
            done = epiboost(*words, *(SMALL if words[0] == "fit" else ()))
            assert done.exit_code == 0, f"{line}: {done.output}"


def public_callables():
    """Return the functions, classes and methods of the public modules by their last name."""
    found = {}
    modules = ("", ".datasets", ".decisions", ".engines", ".explain", ".metrics", ".plots", ".report")
    for module in (importlib.import_module(f"epiboost{name}") for name in modules):
        for name, one in ((name, getattr(module, name)) for name in module.__all__):
            methods = inspect.getmembers(one, inspect.isroutine) if inspect.isclass(one) else ()
            for called, function in ((name, one), *methods):
                if callable(function) and not called.startswith("_"):
                    found.setdefault(called, []).append(function)
    return found


def accepts(function, keyword):
    """Return whether a function has a parameter of this name, or takes any."""
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        return False
    return keyword in parameters or any(one.kind is one.VAR_KEYWORD for one in parameters.values())


@pytest.mark.parametrize("page", TEXTS)
def test_every_parameter_in_a_sentence_exists(page):
    known = public_callables()
    assert "calibrate" in known
    for code in inline_code_of(TEXTS[page]):
        try:
            calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
        except SyntaxError:
            continue  # not Python, or an excerpt
        for call in calls:
            called = getattr(call.func, "attr", getattr(call.func, "id", None))
            for keyword in call.keywords if called in known else ():
                assert any(accepts(one, keyword.arg) for one in known[called]), f"{code}: no {keyword.arg}"
