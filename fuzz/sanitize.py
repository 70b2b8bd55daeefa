"""Runs the native tests and a bounded campaign on a core built with a sanitizer: ``python -m fuzz.sanitize NAME``.

The package is staged in ``build/sanitize``: the Python files of ``src`` beside modules with the sanitizer.
"""

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from fuzz.runner import ROOT
from fuzz.staging import build_package, run

TESTS = ("tests/engines/native", "tests/novelty", "tests/encoding", "tests/explain")
LIMITS = "tests/engines/native/test_faults.py"  # limits the address space, of which sanitizers need terabytes
CASES = 200


@dataclass(frozen=True)
class Sanitizer:
    """How to build with a sanitizer, and how to run.

    Attributes
    ----------
    options
        Of the compiler.
    library
        Which must be loaded before Python, since Python itself is built without it.
    settings
        Environment of the runs.
    tests
        Which are run.
    """

    options: tuple[str, ...]
    library: str | None
    settings: dict[str, str]
    tests: tuple[str, ...] = TESTS


SANITIZERS = {
    # Python keeps its objects until it ends, which is no leak of ours.
    "address": Sanitizer(
        ("-fsanitize=address",), "libasan.so", {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    ),
    "undefined": Sanitizer(
        ("-fsanitize=undefined,float-cast-overflow",), None, {"UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}
    ),
    # Threads of other libraries are not built with the sanitizer: what they do inside is not reported.
    "thread": Sanitizer(
        ("-fsanitize=thread",),
        "libtsan.so",
        {"TSAN_OPTIONS": "halt_on_error=1:die_after_fork=0:ignore_noninstrumented_modules=1"},
        ("tests/engines/native/test_determinism.py",),  # those of several threads; it is twenty times slower
    ),
}


def build(name: str, sanitizer: Sanitizer) -> Path:
    """Build the modules and return the folder of the staged package."""
    folder = ROOT / "build" / "sanitize" / name
    return build_package(folder, [f"-DEPIBOOST_SANITIZE={';'.join(sanitizer.options)}"])


def environment(package: Path, sanitizer: Sanitizer) -> dict[str, str]:
    """Return the settings of the environment in which the staged package is used."""
    path = os.pathsep.join([str(package), str(ROOT)])
    loaded = {}
    if sanitizer.library is not None:
        # Also that of C++, which the sanitizer must find before it sees an exception.
        loaded = {"LD_PRELOAD": " ".join(_path_of(library) for library in (sanitizer.library, "libstdc++.so"))}
    return {**sanitizer.settings, **loaded, "PYTHONPATH": path}


def _path_of(library: str) -> str:
    """Return where the compiler has a library."""
    command = ["g++", f"-print-file-name={library}"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 (our own command)
    return found.stdout.strip()


def main() -> None:
    """Build and run with each sanitizer that is named."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.sanitize", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"default: {', '.join(SANITIZERS)}")
    parser.add_argument("--cases", type=int, default=CASES, help="cases of the campaign of extreme tables")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(SANITIZERS))
    if unknown:
        parser.error(f"unknown sanitizers {unknown}; there are {list(SANITIZERS)}")
    for name in options.names or SANITIZERS:
        print(f"{name} sanitizer", flush=True)
        settings = environment(build(name, SANITIZERS[name]), SANITIZERS[name])
        options_of_tests = ["-q", "-p", "no:cacheprovider", "--capture=no", "-m", "not slow", "--ignore", LIMITS]
        tests = [sys.executable, "-m", "pytest", *options_of_tests, *SANITIZERS[name].tests]
        run(tests, settings)
        cases = ["--cases", str(options.cases), "--jobs", "1", "--seed", "7"]
        run([sys.executable, "-m", "fuzz", "extremes", *cases], settings)


if __name__ == "__main__":
    main()
