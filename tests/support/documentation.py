"""Pages of the documentation, and what is in them: blocks, prose, links, commands."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
GENERATED = DOCS / "api" / "command-line.md"
"""Written by `make docs`, from the help of the command line."""
PAGES = sorted({*ROOT.glob("*.md"), *DOCS.glob("*.md"), *DOCS.glob("api/*.md")} - {GENERATED})
CURRENT = [page for page in PAGES if page.name != "CHANGELOG.md"]
"""Pages that say what is; the changelog says what was."""


def blocks_of(language, text):
    """Return the blocks of a page that are in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def prose_of(text):
    """Return a page without its blocks."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def inline_code_of(text):
    """Return what is in backticks in the prose of a page, on one line each."""
    return [" ".join(code.split()) for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose_of(text))]


def commands_of(text):
    """Return the lines of the shell on a page, without comments: those of blocks of bash and indented ones."""
    indented = re.findall(r"(?:\A|\n)\n((?:    .*\n)+)", prose_of(text))
    lines = [line for block in (*blocks_of("bash", text), *indented) for line in block.splitlines()]
    return [line for line in (re.sub(r"(^|\s)#.*", "", line).strip() for line in lines) if line]
