"""Cells: reading, writing, damage, and the compression of losses per row."""

import json
from dataclasses import replace

import numpy as np
import pytest

from epiboost.paper.cells import cell as cells
from epiboost.paper.cells.cell import DamagedCellError
from epiboost.paper.cells.compression import compress, decompress
from epiboost.paper.protocol import PAPER
from epiboost.paper.runner import find_pending
from tests.support.paper_results import CONTENT, KEY


class TestFiles:
    def test_a_cell_is_read_as_it_was_written(self, tmp_path):
        path = cells.write(tmp_path, KEY, CONTENT)
        assert path == tmp_path / "native" / "yacht" / "02-sglb.json"
        content = cells.read(tmp_path, KEY)
        assert {name: content[name] for name in CONTENT} == CONTENT
        assert cells.read(tmp_path, replace(KEY, fold=3)) is None

    @pytest.mark.parametrize(
        ("damage", "reason"),
        [
            (lambda text: text[: len(text) // 2], "not JSON"),
            (lambda _: "", "not JSON"),
            (lambda _: "[]", "not a cell"),
            (lambda text: text.replace('"rmse": 1.0', '"rmse": 0.9'), "changed after it was written"),
            (lambda text: json.dumps({n: v for n, v in json.loads(text).items() if n != "digest"}), "changed after"),
        ],
    )
    def test_a_damaged_cell_is_named_and_run_again(self, tmp_path, damage, reason):
        path = cells.write(tmp_path, KEY, CONTENT)
        path.write_text(damage(path.read_text()))
        with pytest.raises(DamagedCellError, match=reason):
            cells.read(tmp_path, KEY)
        pending, events = find_pending(tmp_path, [KEY], PAPER)
        assert pending == [KEY]
        assert str(path) in events[0].text

    def test_a_cell_under_the_name_of_another_is_damaged(self, tmp_path):
        path = cells.write(tmp_path, KEY, CONTENT)
        path.rename(path.with_name("03-sglb.json"))
        with pytest.raises(DamagedCellError, match="not the cell of yacht, fold 3, sglb"):
            cells.read(tmp_path, replace(KEY, fold=3))

    def test_temporary_files_of_a_killed_run_are_ignored(self, tmp_path):
        path = cells.write(tmp_path, KEY, CONTENT)
        path.with_name(".02-sglb.77.json").write_text("{")
        assert [content["fold"] for content in cells.read_all(tmp_path)[0]] == [2]
        assert cells.read_all(tmp_path)[1] == []


class TestCompression:
    @pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
    def test_losses_are_restored_to_within_one_step(self, scale):
        values = scale * np.random.default_rng(0).gamma(0.3, size=2000)
        compressed = json.loads(json.dumps(compress(values)))
        assert np.abs(decompress(compressed) - values).max() <= compressed["step"] / 2 * (1 + 1e-9)
        assert compressed["step"] < values.std() / 60
        assert np.abs(decompress(compressed).mean() - values.mean()) < 1e-3 * values.std()

    def test_errors_of_0_and_1_are_exact_and_small(self):
        errors = (np.random.default_rng(0).uniform(size=10_000) < 0.1).astype(float)
        assert np.array_equal(decompress(compress(errors)), errors)
        assert len(compress(errors)["steps"]) < 2500

    def test_constant_values_and_zeros_can_be_compressed(self):
        assert decompress(compress(np.full(5, 0.25))) == pytest.approx(0.25, rel=1e-3)
        assert decompress(compress(np.zeros(3))).tolist() == [0.0] * 3
