"""Known vulnerabilities of what the package installs."""

import json
import subprocess
import sys
from importlib.metadata import distribution

import pytest

from tests.support.environments import names_needed


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
