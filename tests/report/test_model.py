"""A report shows the properties of the model."""

import pytest

from epiboost import EpiBoostRegressor

pytest.importorskip("jinja2", reason="reports need jinja2")
pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
pytest.importorskip("shap", reason="reports need shap")

from epiboost.report import report
from tests.support.report_tables import FRAME, HELD_OUT


def test_the_properties_of_a_model_survive_a_file(models, tmp_path):
    model, y = models["regressor"]
    model.save(tmp_path / "model.epib")
    again = EpiBoostRegressor.load(tmp_path / "model.epib")
    assert again.provenance_ == model.provenance_
    assert again.provenance_.n_rows == 150
    assert again.provenance_.seconds > 0
    facts = dict(report(again, FRAME[HELD_OUT], y[HELD_OUT], explain=False).facts.model)
    assert facts["Training rows"] == "150"
    assert facts["Seed"] == "0"
    assert "sglb, 3 members, engine native" in facts["Ensemble"]
    assert "NumPy" in facts["Versions at training"]


def test_a_file_without_provenance_has_a_report(models):
    model, y = models["regressor"]
    header, arrays = model._to_file()
    del header["training"]
    again = EpiBoostRegressor._from_file(header, arrays)
    assert again.provenance_ is None
    assert "Training time" not in dict(report(again, FRAME[HELD_OUT], y[HELD_OUT], explain=False).facts.model)
