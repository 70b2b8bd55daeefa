"""Help and completion: every command shows an example that its options accept."""

import shlex

import pytest
import typer
from typer.testing import CliRunner

from epiboost._cli.app import app
from tests.support.command_line import epiboost

COMMANDS = typer.main.get_command(app).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_that_it_accepts(name):
    shown = " ".join(epiboost(name, "--help").stdout.split())
    example = " ".join(COMMANDS[name].help.partition("Example: ")[2].split())
    assert f"Example: {example}" in shown
    program, command, *arguments = shlex.split(example)
    assert (program, command) == ("epiboost", name)
    COMMANDS[name].make_context(name, arguments)  # an unknown option or a missing argument is an error


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed_for_each_shell(shell):
    result = completion(f"source_{shell}")
    assert "_EPIBOOST_COMPLETE=complete_" + shell in result


def test_commands_and_options_are_completed():
    words = {"COMP_WORDS": "epiboost fit --max-l", "COMP_CWORD": "2"}
    assert completion("complete_bash", **words).split() == ["--max-leaves"]


def test_completion_can_be_installed():
    shown = epiboost("--help").stdout
    assert "--install-completion" in shown


def completion(instruction, **words):
    """Return what the command prints to a shell that asks for completion."""
    environment = {"_EPIBOOST_COMPLETE": instruction, **words}
    result = CliRunner().invoke(app, [], prog_name="epiboost", env=environment, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return result.stdout
