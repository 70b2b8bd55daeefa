"""Runs the native tests on a core built for ARM, and compares its bits with this machine's: ``python -m fuzz.arm``.

The core is built by a cross compiler, and QEMU runs it in a Python for ARM from Debian's packages, with wheels for ARM
beside it. All of this is in ``build/arm``. Nothing is installed, so that no rights are needed, but these must be there:

    dpkg --add-architecture arm64 && apt-get update
    apt-get install cmake g++-aarch64-linux-gnu qemu-user-static
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from fuzz.runner import ROOT
from fuzz.staging import build_package, run

FOLDER = ROOT / "build" / "arm"
SYSTEM = FOLDER / "root"  # the unpacked packages of Debian
SITE = FOLDER / "site"
COMPILER = "aarch64-linux-gnu-g++"
EMULATOR = "qemu-aarch64-static"
TOOLS = (COMPILER, EMULATOR, "apt-cache", "apt-get", "cmake", "dpkg")
PLATFORMS = ("manylinux2014_aarch64", "manylinux_2_27_aarch64", "manylinux_2_28_aarch64")

# The emulator cannot start other processes, which `test_faults.py` needs.
TESTS = tuple(
    f"tests/engines/native/test_{name}.py"
    for name in (
        "noise",
        "reference",
        "prediction",
        "recalibration",
        "trainer",
        "given_trees",
        "offset",
        "split_rows",
        "shapley",
        "determinism",
    )
)


def check_tools() -> None:
    """Exit with one line that says what is missing."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if not missing and "arm64" not in _output("dpkg", "--print-foreign-architectures").split():
        missing = ["the architecture arm64 of dpkg"]
    if missing:
        sys.exit(f"missing: {', '.join(missing)}; the head of fuzz/arm.py says how to install it")


def python_version() -> str:
    """Return the version of Debian's Python, as 3.11."""
    found = re.search(r"^Depends: .*\bpython(3\.\d+)\b", _output("apt-cache", "show", "python3:arm64"), re.MULTILINE)
    if found is None:
        sys.exit("apt-cache has no python3:arm64; apt-get update reads the lists")
    return found.group(1)


def unpack_python(version: str) -> None:
    """Download Python for ARM with all that it depends on, and unpack it."""
    if SYSTEM.exists():
        return
    kinds = ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")
    names = (f"python{version}:arm64", f"libpython{version}-dev:arm64", "libstdc++6:arm64")
    depends = _output("apt-cache", "depends", "--recurse", *(f"--no-{kind}" for kind in kinds), *names)
    packages = re.findall(r"^[a-z].*:arm64$", depends, re.MULTILINE)
    downloads = FOLDER / "downloads"
    shutil.rmtree(downloads, ignore_errors=True)
    downloads.mkdir(parents=True)
    subprocess.run(["apt-get", "download", "-qq", *packages], cwd=downloads, check=True)  # noqa: S603, S607 (our command)
    unpacked = FOLDER / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    for package in downloads.glob("*.deb"):
        run(["dpkg", "-x", package, unpacked])
    unpacked.rename(SYSTEM)


def install_wheels(version: str) -> None:
    """Install what the tests need, in the versions of this Python."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    names = [*(re.split(r"[<>=!~]", one)[0] for one in wanted), "hypothesis", "nanobind", "pytest"]
    pinned = sorted(f"{name}=={metadata.version(name)}" for name in names)
    done = SITE / "pinned.txt"
    if done.exists() and done.read_text(encoding="utf-8").split() == pinned:
        return
    shutil.rmtree(SITE, ignore_errors=True)
    platforms = [f"--platform={platform}" for platform in PLATFORMS]
    options = [*platforms, f"--python-version={version}", "--only-binary=:all:", f"--target={SITE}", "--quiet"]
    run([sys.executable, "-m", "pip", "install", *options, *pinned])
    done.write_text("\n".join(pinned), encoding="utf-8")


def build(version: str) -> Path:
    """Build the core for ARM and return the folder of the staged package."""
    headers = SYSTEM / "usr" / "include"
    options = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_CXX_COMPILER": COMPILER,
        "CMAKE_CXX_FLAGS": f"-idirafter {headers}",  # Debian's pyconfig.h of each architecture is found from there
        "Python_INCLUDE_DIR": headers / f"python{version}",
        "NB_SUFFIX": f".cpython-{version.replace('.', '')}-aarch64-linux-gnu.so",
    }
    return build_package(FOLDER, [f"-D{name}={value}" for name, value in options.items()])


def main() -> None:
    """Build, test and compare."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.arm", description=__doc__)
    parser.add_argument("tests", nargs="*", default=TESTS, help="files of tests; none but the bits with '-'")
    options = parser.parse_args()
    check_tools()
    version = python_version()
    unpack_python(version)
    install_wheels(version)
    path = os.pathsep.join(map(str, (build(version), ROOT, SITE)))
    python = [EMULATOR, "-L", str(SYSTEM), "-E", f"PYTHONPATH={path}", str(SYSTEM / "usr" / "bin" / f"python{version}")]
    expected = _output(sys.executable, "-m", "fuzz.bits").splitlines()
    found = _output(*python, "-m", "fuzz.bits").splitlines()
    print("bits of this machine and of ARM", flush=True)
    for here, there in zip(expected, found, strict=True):
        print(here if here == there else f"- {here}\n+ {there}", flush=True)
    if expected != found:
        sys.exit("ARM has other bits")
    if options.tests != ["-"]:
        run([*python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *options.tests])


def _output(*command: str) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT).stdout  # noqa: S603 (our commands)


if __name__ == "__main__":
    main()
