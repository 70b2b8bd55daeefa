"""Programs in a process of their own, so that a crash is a failed test and not the end of the tests."""

import subprocess
import sys
import textwrap


def run_python(code, *arguments, timeout=120):
    """Run a program and return its exit status, output and errors."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
