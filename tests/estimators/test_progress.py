"""Progress is a bar on a terminal and in a notebook, and lines of a log elsewhere."""

import io
import logging
import sys
from contextlib import redirect_stderr
from types import SimpleNamespace

import pytest

from epiboost._progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return Terminal()


def draw_all(stream, description="Training", **options):
    # pytest replaces standard error in each phase of a test, so a fixture cannot.
    with redirect_stderr(stream), progress_bar(description, **options) as report:
        for done in range(0, 101, 10):
            report(done, 100)


def test_a_terminal_shows_the_description_and_the_count(terminal):
    draw_all(terminal)
    assert "Training" in terminal.getvalue()
    assert "100/100" in terminal.getvalue()


def test_a_terminal_without_rich_shows_one_line_that_is_rewritten(terminal, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    draw_all(terminal)
    shown = terminal.getvalue()
    assert shown.count("\n") == 1
    assert shown.endswith("\rTraining 100/100 trees\n")


def test_brackets_in_the_description_are_not_markup(terminal):
    draw_all(terminal, "Training [sglb]")
    assert "[sglb]" in terminal.getvalue()


def test_a_disabled_progress_bar_draws_nothing(terminal):
    draw_all(terminal, enabled=False)
    assert terminal.getvalue() == ""


def test_lines_are_logged_if_asked_for_when_standard_error_is_not_a_terminal(caplog):
    stream = io.StringIO()
    with caplog.at_level(logging.INFO, logger="epiboost"):
        draw_all(stream)
        assert not caplog.records
        draw_all(stream, lines=True)
    assert stream.getvalue() == ""
    assert len(caplog.records) == 10
    assert caplog.records[-1].getMessage().startswith("Training: 100 of 100 trees, ")


def test_lines_go_to_standard_error_in_a_program_without_logging(monkeypatch):
    monkeypatch.setattr(logging.Logger, "hasHandlers", lambda _self: False)
    stream = io.StringIO()
    draw_all(stream, lines=True)
    assert stream.getvalue().count("\n") == 10


def test_a_process_without_standard_error_draws_nothing(monkeypatch):
    monkeypatch.setattr(logging.Logger, "hasHandlers", lambda _self: False)
    with redirect_stderr(None), progress_bar("Training", lines=True) as report:
        report(1, 1)


def test_a_notebook_shows_a_bar_that_is_updated(monkeypatch):
    shown = []
    handle = SimpleNamespace(update=shown.append)
    display = SimpleNamespace(HTML=str, display=lambda _html, **_options: handle)
    shell = type("ZMQInteractiveShell", (), {})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=shell, display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    draw_all(io.StringIO())
    assert shown[-1].startswith("<progress value='100' max='100'></progress> Training 100 of 100 trees")


@pytest.mark.parametrize("hidden", [None, "rich.progress"])
def test_an_error_ends_the_line_and_is_raised(terminal, monkeypatch, hidden):
    if hidden is not None:
        monkeypatch.setitem(sys.modules, hidden, None)

    def fail():
        with redirect_stderr(terminal), progress_bar("Training") as report:
            report(1, 2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert "\n" in terminal.getvalue()
