"""Known vulnerabilities of what the package installs."""

import json
import subprocess
import sys
from importlib.metadata import Distribution, distribution, requires

import pytest
from packaging.requirements import Requirement


def names_needed(name="epiboost", extras=(), found=frozenset()):
    """Return the names of all packages that a package needs with these extras, as far as they are installed."""
    for text in requires(name) or ():
        needed = Requirement(text)
        wanted = needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *extras))
        if wanted and needed.name not in {*found, "epiboost"} and any(Distribution.discover(name=needed.name)):
            found = names_needed(needed.name, needed.extras, found | {needed.name})
    return found


@pytest.mark.slow
def test_no_dependency_has_a_known_vulnerability(tmp_path):
    pytest.importorskip("pip_audit", reason="pip-audit is not installed")
    pinned = tmp_path / "requirements.txt"
    extras = distribution("epiboost").metadata.get_all("Provides-Extra")
    names = sorted(names_needed(extras=extras))
    assert {"catboost", "numpy", "xgboost"} <= set(names)
    pinned.write_text("".join(f"{name}=={distribution(name).version}\n" for name in names))
    command = [sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip", "-r", pinned, "-f", "json"]
    run = subprocess.run([*command, "--progress-spinner", "off"], capture_output=True, text=True, check=False)
    if not run.stdout.startswith("{"):
        pytest.skip(f"no advisories: {run.stderr[-200:]}")
    audited = json.loads(run.stdout)["dependencies"]
    if all("skip_reason" in one for one in audited):
        pytest.skip("the service of advisories knows none of the packages")
    faults = {one["name"]: [fault["id"] for fault in one["vulns"]] for one in audited if one.get("vulns")}
    assert not faults
