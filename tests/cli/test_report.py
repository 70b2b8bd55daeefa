"""The command report writes the report of the library."""

import pytest

pytest.importorskip("jinja2", reason="reports need jinja2")
pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
pytest.importorskip("shap", reason="reports need shap")

from epiboost.report import report
from tests.support.command_line import epiboost
from tests.support.report_tables import FRAME, HELD_OUT, OTHER, text_of


def test_the_command_writes_the_report_of_the_library(report_models, model_folder):
    path = model_folder / "report.html"
    ended = epiboost(
        "report",
        model_folder / "regressor.epib",
        model_folder / "test.csv",
        "--ood",
        model_folder / "other.csv",
        "-o",
        path,
    )
    assert ended.exit_code == 0, ended.stderr
    assert ended.stdout == f"Wrote {path}\n"
    model, y = report_models["regressor"]
    expected = report(model, FRAME[HELD_OUT], y[HELD_OUT], X_ood=OTHER).facts
    words = text_of(path.read_text(encoding="utf-8"))
    assert f"{expected.quality.error:.4g}" in words
    assert "of the other table" in words


def test_the_command_works_without_targets(model_folder):
    path = model_folder / "report.html"
    ended = epiboost("report", model_folder / "regressor.epib", model_folder / "rows.csv", "-o", path, "--no-explain")
    assert ended.exit_code == 0, ended.stderr
    assert "No targets were given" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("report", "regressor.epib", "test.csv", "-o", "test.csv"), "it is an input of this command"),
        (("report", "regressor.epib", "test.csv", "-o", "new.csv"), "use .html"),
        (("report", "classifier.epib", "test.csv", "-o", "a.html"), "the classes are ['high', 'low']"),
        (("report", "regressor.epib", "test.csv", "-o", "a.html", "--target", "cost"), "lacks the column 'cost'"),
        (("report", "regressor.epib", "test.csv", "-o", "new.epib"), "this ending is for models; use .html"),
    ],
)
def test_errors_are_one_line(model_folder, arguments, words):
    endings = (".csv", ".epib", ".html", ".txt")
    named = [model_folder / argument if argument.endswith(endings) else argument for argument in arguments]
    ended = epiboost(*named)
    assert ended.exit_code == 2
    assert ended.stderr.count("\n") == 1
    assert words in ended.stderr
