"""Progress of a run: time left, and what is shown."""

import io
import time

import pytest

from epiboost.paper.cells.cell import CellKey
from epiboost.paper.progress import RemainingTime, show_progress
from epiboost.paper.runner import Event


class TestRemainingTime:
    def test_it_is_estimated_from_finished_cells_and_numbers_of_rows(self):
        keys = [CellKey("native", name, fold, "sglb") for name in ("yacht", "concrete") for fold in (0, 1)]
        remaining = RemainingTime(keys, n_processes=2)
        assert remaining.seconds() == (0.0, False)
        remaining.update(Event("done", keys[0], seconds=3.08))
        assert remaining.seconds() == (pytest.approx((3.08 + 2 * 10.30) / 2), True)

    def test_it_is_a_lower_bound_while_a_method_has_no_finished_cell(self):
        keys = [CellKey("native", "yacht", fold, method) for fold in (0, 1) for method in ("sglb", "sgb")]
        remaining = RemainingTime(keys, n_processes=1)
        remaining.update(Event("done", keys[0], seconds=3.0))
        assert remaining.seconds() == (pytest.approx(3.0), False)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_finished_and_running_cells_and_the_time_left_are_shown(stream, monkeypatch):
    if stream is Terminal:
        pytest.importorskip("rich")
    shown = stream()
    monkeypatch.setattr("sys.stderr", shown)
    keys = [CellKey("native", "yacht", fold, "sglb") for fold in (0, 1)]
    with show_progress(keys, n_processes=1) as callback:
        callback(Event("started", keys[0]))
        callback(Event("done", keys[0], seconds=61.0))
        callback(Event("started", keys[1]))
        time.sleep(0.6 if stream is Terminal else 0.0)  # it is drawn twice a second
    text = shown.getvalue()
    assert "yacht, fold 1, sglb (native)," in text or stream is io.StringIO
    assert ("1 of 2 cells" if stream is Terminal else "1/2 yacht, fold 0, sglb (native): 61.0 s") in text
    assert "1 min 1 s left" in text
