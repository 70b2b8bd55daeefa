"""Programs that run in another process, where a crash fails one test and does not end the test run."""

import subprocess
import sys
import textwrap


def run_python(code, *arguments, timeout=120):
    """Run a program and return its exit status, output and errors."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
