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

    @contextmanager
    def bar(_description, *, enabled):  # noqa: ARG001 (the signature of a progress bar)
        yield report

    with monkeypatch.context() as patched:
        patched.setattr("epiboost._estimators.base.progress_bar", bar)
        yield reports
