"""Runs cases in worker processes, so that a case that ends or blocks its process is a finding like another."""

import json
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from fuzz.campaign import load_campaign

ROOT = Path(__file__).parent.parent

# Importing the libraries, and what a campaign builds once for all its cases.
START_SECONDS = 120.0


@dataclass(frozen=True)
class Outcome:
    """The end of one case.

    Attributes
    ----------
    case
        Its number.
    fault
        None, or the traceback, the exit status of the process or the time limit.
    """

    case: int
    fault: str | None


class Worker:
    """One worker process, which is started again after a case has ended it.

    Parameters
    ----------
    module
        Module of the campaign.
    seed
        Seed of all cases.
    """

    def __init__(self, module: str, seed: int) -> None:
        self._command = [sys.executable, "-X", "faulthandler", "-m", "fuzz.worker", module, str(seed)]
        self._seconds = load_campaign(module).seconds
        self._process: _Process | None = None

    def run(self, case: int) -> Outcome:
        """Run one case."""
        if self._process is None:
            self._process = _Process(self._command)
        try:
            answer = self._process.ask(f"{case}\n", self._seconds)
        except queue.Empty:
            self.close()
            return Outcome(case, f"took more than {self._seconds:g} seconds")
        if not answer:
            end = self._process.end()
            self.close()
            return Outcome(case, end)
        return Outcome(case, json.loads(answer)["fault"])

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()
            self._process = None


class _Process:
    """A running worker."""

    def __init__(self, command: list[str]) -> None:
        self._errors = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(  # noqa: S603 - the command is our own
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, cwd=ROOT
        )
        self._answers: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._answers.get(timeout=START_SECONDS):
            raise RuntimeError(self.end())

    def ask(self, question: str, seconds: float) -> str:
        """Send a line and return the answer: empty if the process ends, and `queue.Empty` after the time limit."""
        with suppress(OSError):  # the process has ended, and the reader says so
            self._stdin.write(question)
            self._stdin.flush()
        return self._answers.get(timeout=seconds)

    def end(self) -> str:
        """Return how the process ended."""
        status = self._process.wait()
        self._errors.seek(0)
        return f"ended its process with status {status}\n{self._errors.read()[-4000:]}"

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        with suppress(OSError):
            self._stdin.close()
        self._stdout.close()
        self._errors.close()

    @property
    def _stdin(self) -> IO[str]:
        return cast("IO[str]", self._process.stdin)

    @property
    def _stdout(self) -> IO[str]:
        return cast("IO[str]", self._process.stdout)

    def _read(self) -> None:
        for line in self._stdout:
            self._answers.put(line)
        self._answers.put("")


def run_cases(module: str, seed: int, cases: Iterable[int], jobs: int = 1) -> Iterator[Outcome]:
    """Run cases of a campaign and yield their outcomes in order.

    Parameters
    ----------
    module
        Module of the campaign.
    seed
        Seed of all cases.
    cases
        Numbers of the cases.
    jobs
        Number of worker processes.

    Yields
    ------
    Outcome
        One per case.
    """
    workers: queue.Queue[Worker] = queue.Queue()
    for _ in range(jobs):
        workers.put(Worker(module, seed))

    def run(case: int) -> Outcome:
        worker = workers.get()
        try:
            return worker.run(case)
        finally:
            workers.put(worker)

    pool = ThreadPoolExecutor(jobs)
    try:
        yield from pool.map(run, cases)
    finally:
        pool.shutdown(cancel_futures=True)
        while not workers.empty():
            workers.get().close()
