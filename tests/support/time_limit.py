"""A limit for code that may wait forever, such as that of a cluster."""

import signal
from contextlib import contextmanager
from itertools import count

import pytest

PERIODS, SECONDS = 10, 30.0
"""Five minutes, far more than any of the tests takes. They are counted in periods: while a process is stopped, at most
one of them passes."""


@contextmanager
def time_limit(periods=PERIODS, seconds=SECONDS):
    """Fail the test if the code takes longer; the traceback shows what it waited for. Windows has no such limit."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return
    passed = count(1)

    def fail_in_the_end(_signal, _frame):
        if next(passed) >= periods:
            pytest.fail(f"waited for {periods * seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, fail_in_the_end)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
