"""The source distribution has what a build needs and nothing else."""

import subprocess
import sys
import tarfile
import venv
from pathlib import PurePosixPath

import pytest

from tests.support.environments import ROOT, link_packages, names_needed, run_in

SOURCES = [
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "src").rglob("*")
    if path.is_file() and path.suffix not in {".so", ".pyc"}
]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """Return a source distribution of the working tree."""
    backend = pytest.importorskip("scikit_build_core.build", reason="scikit-build-core is not installed")
    folder = tmp_path_factory.mktemp("sdist")
    code = f"from {backend.__name__} import build_sdist; print(build_sdist({str(folder)!r}))"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60, capture_output=True)
    (path,) = folder.iterdir()
    return path


def test_a_source_distribution_has_sources_licence_and_readme_and_no_more(sdist):
    with tarfile.open(sdist) as archive:
        names = {PurePosixPath(*PurePosixPath(name).parts[1:]).as_posix() for name in archive.getnames()}
    assert names == {"CMakeLists.txt", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml", *SOURCES}


@pytest.mark.slow
def test_a_source_distribution_builds_and_installs_by_itself(sdist, tmp_path):
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    # One module is enough to see that all sources are there.
    install = ["install", "--quiet", "--no-deps", "--config-settings=cmake.define.EPIBOOST_MODULES=portable"]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, *install, sdist], check=True, timeout=600)
    packages = link_packages(tmp_path / "packages", names_needed())
    ended = run_in(packages, ROOT / "tests" / "packaging" / "smoke.py", python=python)
    assert ended.returncode == 0, ended.stderr
