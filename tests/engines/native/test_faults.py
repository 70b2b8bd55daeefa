"""Faults of the machine: a process that ends during a call, an interrupt, too few threads, too little memory."""

import pytest

from tests.support.platforms import linux_only
from tests.support.processes import run_python

pytestmark = linux_only

SETUP = """
import functools, os, resource, signal, sys, threading, time
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np
from epiboost import EpiBoostRegressor
from epiboost._native import native
from epiboost.engines.native.shapley import shapley_values

X = np.random.default_rng(0).normal(size=(4000, 10))
model = EpiBoostRegressor(n_members=4, n_estimators=100, n_jobs=1, out_of_fold=0, random_state=0).fit(X, X[:, 0])
players, coefficients = np.arange(10), np.array([1.0, 0.0])
reference, weight = np.ascontiguousarray(X.T, dtype=np.float32), np.zeros(10, dtype=np.float32)
@functools.cache
def rows(times):
    return np.tile(X, (times, 1))

calls = {
    "fit": lambda times: EpiBoostRegressor(n_estimators=20_000, n_jobs=2, out_of_fold=0).fit(X, X[:, 0]),
    "predict": lambda times: model.predict(rows(100 * times)),
    "explain": lambda times: shapley_values(
        model.forest_, rows(10 * times), X[:100], players=players, coefficients=coefficients, prefixes=None
    ),
    "compare": lambda times: native().nearest_rows(
        rows(10 * times).astype(np.float32), reference, weight, np.empty(0, dtype=np.int64)
    ),
}


def exit_codes(names, child_of):
    for name in names:
        child = os.fork()
        if child == 0:
            child_of(name)
        print(name, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

END = """
def child_of(name):
    def repeat():
        while True:
            calls[name](1)

    threading.Thread(target=repeat, daemon=True).start()
    time.sleep(0.2)
    sys.exit(7)

exit_codes(sys.argv[1:], child_of)
"""

INTERRUPT = """
def child_of(name):
    began = time.perf_counter()
    calls[name](4)
    whole = time.perf_counter() - began
    began = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        calls[name](4)
    except KeyboardInterrupt:
        is_early = time.perf_counter() - began < 0.5 * whole
        os._exit(0 if is_early else 1)
    os._exit(2)

exit_codes(["predict", "explain", "compare"], child_of)
"""

TERMINATE = """
def child_of(name):
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))  # as services do, to leave in order
    began = time.perf_counter()
    try:
        while True:
            calls[name](1)
    except SystemExit as end:
        os._exit(end.code if time.perf_counter() - began < 2.0 else 1)

exit_codes(sys.argv[1:], child_of)
"""

LIMIT_MEMORY = """
def address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()

def limit(more):
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + more,) * 2)
"""

FEW_THREADS = """
def child_of(name):
    limit(7 * 2**20)  # less than the stacks of the threads
    try:
        EpiBoostRegressor(n_members=16, n_estimators=5, n_jobs=16, out_of_fold=0).fit(X[:500], X[:500, 0])
    except RuntimeError as error:
        print(error, flush=True)
    os._exit(0)

exit_codes(["threads"], child_of)
"""

LITTLE_MEMORY = """
import ctypes
malloc = ctypes.CDLL(None).malloc
malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
wide = np.random.default_rng(0).normal(size=(100_000, 20))
tables = {"fit": lambda: EpiBoostRegressor(n_members=4, n_estimators=3, n_jobs=4).fit(wide, wide[:, 0]),
          "predict": lambda: wide_model.predict_uncertainty(wide)}
wide_model = EpiBoostRegressor(n_members=4, n_estimators=50, n_jobs=4).fit(wide[:1000], wide[:1000, 0])

def child_of(more):
    now, most = address_space(), resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (now, most))
    size = 2**26
    while size >= 4096:  # uses up what the allocator has in store
        while malloc(size):
            pass
        size //= 2
    resource.setrlimit(resource.RLIMIT_AS, (now + more, most))
    try:
        tables[sys.argv[1]]()
    except MemoryError:
        os._exit(1)
    except RuntimeError as error:
        os._exit(2 if "cannot start 4 threads" in str(error) else 99)
    os._exit(0)

exit_codes([round(most * 2**20) for most in np.linspace(0.5, 80, 60)], child_of)
"""


def codes(*parts, arguments=(), timeout=120):
    """Return the exit codes of the children of a program, by their names, and its other lines."""
    ended = run_python("".join(parts), *arguments, timeout=timeout)
    assert ended.returncode == 0, ended.stderr
    assert "terminate" not in ended.stderr
    lines = [line.rsplit(" ", 1) for line in ended.stdout.splitlines()]
    return {name: int(code) for name, code in lines if code.lstrip("-").isdigit()}, ended.stdout


@pytest.fixture(scope="module")
def faults():
    return codes(SETUP, END, LIMIT_MEMORY, FEW_THREADS, arguments=["fit", "predict"])


def test_a_process_whose_daemon_thread_is_in_a_call_exits_with_its_own_code(faults):
    ended, _ = faults
    assert ended == {"fit": 7, "predict": 7, "threads": 0}


def test_threads_that_cannot_be_started_are_an_error_with_the_remedy(faults):
    _, output = faults
    assert "cannot start 16 threads: Resource temporarily unavailable; set n_jobs to a smaller number" in output


@pytest.mark.slow
def test_a_process_whose_daemon_thread_explains_exits_with_its_own_code():
    ended, _ = codes(SETUP, END, arguments=["explain", "compare"])
    assert ended == {"explain": 7, "compare": 7}


@pytest.mark.slow
def test_an_interrupt_ends_a_call_of_the_core_before_it_is_done():
    ended, _ = codes(SETUP, INTERRUPT)
    assert ended == {"predict": 0, "explain": 0, "compare": 0}


@pytest.mark.slow
def test_a_handler_of_sigterm_runs_during_a_call_of_the_core():
    ended, _ = codes(SETUP, TERMINATE, arguments=["fit", "predict", "explain", "compare"])
    assert ended == {"fit": 9, "predict": 9, "explain": 9, "compare": 9}


@pytest.mark.slow
@pytest.mark.parametrize("call", ["fit", "predict"])
def test_a_call_that_is_short_of_memory_raises_an_error(call):
    ended, output = codes(SETUP, LIMIT_MEMORY, LITTLE_MEMORY, arguments=[call], timeout=300)
    assert set(ended.values()) <= {0, 1, 2}, output
    assert 1 in ended.values()  # else memory was never short
