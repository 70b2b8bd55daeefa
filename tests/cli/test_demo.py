"""The command demo finds the heart."""

import pytest

from epiboost._cli import heart
from tests.support.command_line import epiboost


def test_demo_measures_both_ensembles_and_prints_the_path_of_the_picture(tmp_path):
    result = epiboost("demo", "-o", tmp_path / "heart.png", "--members", 2, "--trees", 10)
    assert result.exit_code == 0
    assert "sglb" in result.stdout
    assert "virtual" in result.stdout
    assert str(tmp_path / "heart.png") in result.stdout
    assert (tmp_path / "heart.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_ten_members_find_the_heart_and_the_noise_around_it(tmp_path):
    found, virtual = heart.run(tmp_path / "heart.png")
    assert found.knowledge_auc == 1.0
    assert found.knowledge_inside > 1000 * found.knowledge_outside
    assert found.data_error < 0.003
    assert virtual.knowledge_auc > 0.97
