"""The paper's figures."""

import json

import pytest

from epiboost.paper import figures
from epiboost.paper.experiments import EXPERIMENTS, is_figure
from epiboost.paper.protocol import QUICK
from tests.support.paper_runs import quick_run


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if is_figure(name)])
def test_every_figure_is_drawn_with_its_statistics(tmp_path, name):
    pytest.importorskip("matplotlib")
    quick_run(name, tmp_path, datasets=None, folds=None)
    picture = tmp_path / "quick" / "figures" / "native" / f"{name.removeprefix('figure:')}.png"
    assert picture.read_bytes()[:4] == b"\x89PNG"
    statistics = json.loads(picture.with_suffix(".json").read_text())
    assert statistics.pop("rests_on")["protocol"] == QUICK.to_json()
    assert all("knowledge_auc" in one for one in statistics.values())


def test_each_panel_of_the_virtual_figure_shows_the_ensemble_of_its_title(monkeypatch):
    monkeypatch.setattr(figures, "heart_map", lambda ensemble, **_: f"heart {ensemble}")
    monkeypatch.setattr(figures, "spiral_map", lambda ensemble, **_: f"spiral {ensemble}")
    assert figures._MAPS["virtual"]({}) == {
        "heart, SGLB ensemble": "heart sglb",
        "heart, vSGLB": "heart virtual",
        "spiral, SGLB ensemble": "spiral sglb",
        "spiral, vSGLB": "spiral virtual",
    }
