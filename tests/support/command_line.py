"""Run the command line in this process or in one of its own."""

import subprocess
import sys

from typer.testing import CliRunner

from epiboost._cli.app import app

SMALL = ("--members", "3", "--trees", "8", "--seed", "0")
FOR_MINUTES = ("--members", "10", "--trees", "20000")


def epiboost(*arguments, stdin=None):
    """Run a command, with bytes on standard input, and return its result; an error that is not known is raised."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, catch_exceptions=False)


def start_epiboost(*arguments, **options):
    """Start a command in a process of its own."""
    command = (sys.executable, "-c", "from epiboost._cli.main import main; main()")
    return subprocess.Popen([*command, *map(str, arguments)], text=True, **options)


def assert_one_line(result, *words):
    """Check that a command failed with one line that holds these words."""
    assert result.exit_code == 2
    assert result.stderr.startswith("epiboost: ")
    assert result.stderr.count("\n") == 1
    assert result.stderr.endswith("\n")
    for word in words:
        assert word in result.stderr
