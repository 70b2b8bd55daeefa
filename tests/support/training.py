"""Hooks into the training of a model."""

from contextlib import contextmanager


@contextmanager
def at_the_first_report(monkeypatch, happen):
    """Call a function when training reports progress for the first time; yield the list of reports."""
    reports = []

    def report(done, total, /):
        reports.append((done, total))
        if len(reports) == 1:
            happen()

    with monkeypatch.context() as patched:
        patched.setattr("epiboost._progress.no_progress", report)
        yield reports
