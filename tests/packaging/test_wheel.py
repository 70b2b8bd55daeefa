"""The wheel installs without a compiler, and each extra brings all that it needs."""

import platform
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import metadata
from pathlib import Path

import pytest

from tests.packaging.smoke import SMOKE
from tests.support.environments import ROOT, link_packages, names_needed, run_in
from tests.support.platforms import linux_only

MODULES = {"_native_portable", "_processor"} | (
    {"_native_avx2", "_native_avx512"} if platform.machine().lower() in {"x86_64", "amd64"} else set()
)
MEGABYTE = 1_000_000
COMPILERS = ["c++", "cc", "clang", "cmake", "g++", "gcc", "ninja"]
KERNELS = {".hpp", ".cuh", ".cu"}  # sources that a GPU compiles
WITHOUT_SMOKE = {"all", "cuda", "deep"}  # the union of the others; CuPy and torch, which are not installed


@pytest.fixture(scope="module")
def wheel():
    """Return the wheel that make install or make wheels has built for this Python."""
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    found = [*ROOT.glob(f"dist/*-{tag}-*.whl")]
    if (ROOT / "build" / "wheel" / ".all").exists():  # else it is that of make demo, for one machine
        found += ROOT.glob(f"build/wheel/*-{tag}-*.whl")
    if not found:
        pytest.skip("no wheel has been built; run: make install")
    return max(found, key=lambda path: path.stat().st_mtime)


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """Return an environment with the wheel and no other package."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder / "env", with_pip=False, symlinks=True)
    python = folder / "env" / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel]
    subprocess.run(command, check=True, timeout=120)
    return python


def test_a_wheel_is_small(wheel):
    assert wheel.stat().st_size < 5 * MEGABYTE


def test_a_wheel_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"epiboost"}
    endings = {Path(name).suffix for name in names if ".dist-info" not in name}
    assert endings <= {".py", ".pyi", ".typed", ".so", ".txt", ".csv", ".js", ".css", ".j2", *KERNELS, ""}


def test_a_wheel_has_a_module_for_each_instruction_set(wheel):
    modules = [Path(name).name.partition(".")[0] for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so")]
    assert sorted(modules) == sorted(MODULES)


@linux_only
def test_wheels_to_give_away_run_on_other_distributions_of_linux():
    wheels = [path.name for path in ROOT.glob("dist/*.whl")]
    if not wheels:
        pytest.skip("no wheel has been built; run: make wheels")
    assert [name for name in wheels if "-manylinux_" not in name] == []


def test_every_extra_has_a_smoke_test():
    assert set(metadata("epiboost").get_all("Provides-Extra")) - WITHOUT_SMOKE == set(SMOKE) - {"core"}


@pytest.mark.slow
@pytest.mark.parametrize("extra", SMOKE)
def test_the_wheel_works_without_a_compiler_and_with_one_extra_alone(environment, tmp_path, extra):
    packages = link_packages(tmp_path / "packages", names_needed(extras=[extra]))
    path = environment.parent
    assert not any(shutil.which(compiler, path=path) for compiler in COMPILERS)
    ended = run_in(packages, ROOT / "tests" / "packaging" / "smoke.py", extra, python=environment, path=path)
    assert ended.returncode == 0, ended.stderr
    where = run_in(packages, "-c", "import epiboost; print(epiboost.__file__)", python=environment, path=path)
    assert Path(where.stdout).is_relative_to(environment.parents[1])


@pytest.mark.slow
def test_the_demo_runs_as_a_program(environment, tmp_path):
    packages = link_packages(tmp_path / "packages", names_needed(extras=["demo"]))
    program = environment.parent / "epiboost"
    ended = run_in(packages, "demo", "--trees", 300, python=program, path=environment.parent)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "heart.png").read_bytes().startswith(b"\x89PNG")
