"""The drift monitor: rarely raises a false alarm, and finds drift of every kind within a few hundred rows."""

import numpy as np
import pytest
from scipy.stats import kstest

from epiboost.decisions import DriftMonitor
from epiboost.decisions.drift import memory as remembering
from epiboost.decisions.drift.memory import Memory, without_nan

NAMES = ("age", "rooms", "city", "novelty")
IS_CATEGORICAL = np.array([False, False, True, False])


def rows(n, seed):
    """Return rows of numbers with ties and missing values, a category of five, and the distance from the centre."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, 4))
    table[:, 1] = table[:, 1].round()
    table[rng.random(n) < 0.1, 1] = np.nan
    table[:, 2] = rng.choice(5, size=n, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    return with_novelty(table)


def with_novelty(table):
    table[:, 3] = np.abs(table[:, 0])
    return table


def monitor(n_reference=600, seed=0, **options):
    return DriftMonitor(rows(n_reference, seed), names=NAMES, is_categorical=IS_CATEGORICAL, **options)


def ranks_one_by_one(reference, stream, ties, rng, most_rows):
    """Return conformal p-values by their definition."""
    memory, p_values = list(without_nan(reference, IS_CATEGORICAL)), []
    for row, tie in zip(without_nan(stream, IS_CATEGORICAL), ties, strict=True):
        compared = np.array([*memory, row])
        frequencies = [np.count_nonzero(compared[:, 2] == code) for code in compared[:, 2]]
        compared[:, 2] = frequencies
        p_values.append(((compared < compared[-1]).sum(0) + tie * (compared == compared[-1]).sum(0)) / len(compared))
        memory.append(row)
        if len(memory) > most_rows:
            slot = int(rng.random() * len(memory))
            memory[slot] = memory[-1]
            memory.pop()
    return np.array(p_values)


class TestPValues:
    @pytest.mark.parametrize("most_rows", [250, 10_000])
    def test_ranks_agree_with_their_definition(self, monkeypatch, most_rows):
        monkeypatch.setattr(remembering, "_MOST_ROWS", most_rows)
        reference, stream, ties = rows(200, 0), rows(400, 1), np.random.default_rng(2).random((400, 4))
        stream[300:, 2] = 9.0  # a category that is new
        memory = Memory(reference, IS_CATEGORICAL, np.random.default_rng(3))
        parts = np.split(np.arange(400), [1, 2, 100, 228, 300])
        found = np.concatenate([memory.p_values(stream[part], ties[part]) for part in parts])
        expected = ranks_one_by_one(reference, stream, ties, np.random.default_rng(3), most_rows)
        np.testing.assert_allclose(found, expected, rtol=1e-12)

    @pytest.mark.parametrize("most_rows", [60, 10_000])
    def test_p_values_are_uniform_and_independent_without_drift(self, monkeypatch, most_rows):
        monkeypatch.setattr(remembering, "_MOST_ROWS", most_rows)
        rng = np.random.default_rng(0)
        p_values = []
        for seed in range(150):
            memory = Memory(rows(20, 2 * seed), IS_CATEGORICAL, rng)
            p_values.append(memory.p_values(rows(100, 2 * seed + 1), rng.random((100, 4))))
        p_values = np.array(p_values)
        for column in range(4):
            assert kstest(p_values[:, :, column].ravel(), "uniform").pvalue > 1e-3
            means = p_values[:, :, column].mean(axis=1)  # of dependent p-values they would vary more
            assert means.std() == pytest.approx(np.sqrt(1 / 12 / 100), rel=0.2)


class TestFalseAlarms:
    def test_few_of_300_streams_without_drift_raise_an_alarm(self):
        raised = 0
        for seed in range(300):
            stream = rows(300, seed + 1000)
            raised += monitor(60, seed, false_alarm_rate=0.1, random_state=seed).update(stream).raised
        assert raised <= 35

    @pytest.mark.slow
    def test_few_of_300_long_streams_without_drift_raise_an_alarm(self, monkeypatch):
        monkeypatch.setattr(remembering, "_MOST_ROWS", 500)
        raised = 0
        for seed in range(300):
            stream = rows(3000, seed + 1000)
            raised += monitor(300, seed, false_alarm_rate=0.1, random_state=seed).update(stream).raised
        assert raised <= 35

    def test_a_new_category_in_each_row_of_reference_and_stream_is_no_drift(self):
        streets = np.random.default_rng(0).permutation(4000)[:, None]
        watch = DriftMonitor(streets[:2000], names=["street"], is_categorical=[True])
        assert not watch.update(streets[2000:]).raised

    def test_constant_columns_raise_no_alarm(self):
        watch = DriftMonitor(np.ones((50, 3)), names=NAMES[:3], is_categorical=IS_CATEGORICAL[:3])
        assert not watch.update(np.ones((1000, 3))).raised


class TestDrift:
    @pytest.mark.parametrize(
        ("column", "change", "found"),
        [
            ("age", lambda values: values + 0.8, {"age"}),
            ("age", lambda values: values - 0.8, {"age"}),
            ("age", lambda values: values * 2.0, {"age", "novelty"}),
            ("age", lambda values: values * 0.3, {"age", "novelty"}),
            ("rooms", lambda values: np.where(np.arange(len(values)) % 2, np.nan, values), {"rooms"}),
            ("city", lambda values: np.where(np.arange(len(values)) % 2, 4.0, values), {"city"}),
            ("city", lambda values: np.where(np.arange(len(values)) % 2, -1.0, values), {"city"}),
            ("city", lambda values: np.where(np.arange(len(values)) % 2, 0.0, values), {"city"}),
        ],
        ids=["larger", "smaller", "wider", "familiar", "missing", "category", "unseen", "frequent category"],
    )
    def test_drift_is_found_within_300_rows(self, column, change, found):
        watch, stream = monitor(), rows(500, 1)
        column = NAMES.index(column)
        stream[200:, column] = change(stream[200:, column])
        stream = with_novelty(stream)
        assert not watch.update(stream[:200]).raised
        alarm = watch.update(stream[200:])
        assert alarm.raised
        assert alarm.columns[0].name in found

    @pytest.mark.parametrize("scale", [0.4, 2.0])
    def test_drift_of_the_spread_of_one_column_is_found(self, scale):
        watch = DriftMonitor(rows(600, 0)[:, :1], names=["age"], is_categorical=[False])
        assert not watch.update(rows(200, 1)[:, :1]).raised
        assert watch.update(scale * rows(200, 2)[:, :1]).raised

    def test_a_raised_alarm_stays_raised(self):
        watch = monitor()
        first = watch.update(rows(40, 1) + np.array([2.0, 0.0, 0.0, 0.0]))
        later = watch.update(rows(2000, 2))
        assert first.raised
        assert later.raised
        assert later.evidence >= first.evidence

    def test_very_strong_evidence_is_finite(self):
        watch = DriftMonitor(np.arange(9000.0)[:, None], names=["age"], is_categorical=[False])
        assert np.isfinite(watch.update(np.arange(9000.0, 13000.0)[:, None]).evidence)


class TestInterface:
    def test_evidence_is_the_same_row_by_row_and_in_batches(self, monkeypatch):
        monkeypatch.setattr(remembering, "_MOST_ROWS", 650)
        stream = rows(300, 1)
        at_once, one_by_one = monitor().update(stream), monitor()
        alarms = [one_by_one.update(row[None]) for row in stream]
        assert alarms[-1].evidence == pytest.approx(at_once.evidence, rel=1e-9)
        assert alarms[-1].n_rows == at_once.n_rows == 300

    def test_the_same_seed_gives_the_same_evidence(self):
        stream = rows(200, 1)
        assert monitor(random_state=1).update(stream) == monitor(random_state=1).update(stream)
        assert monitor(random_state=1).update(stream) != monitor(random_state=2).update(stream)

    def test_reset_starts_again(self):
        watch, stream = monitor(), rows(200, 1)
        first = watch.update(stream)
        watch.update(stream + 3.0)
        watch.reset()
        assert watch.update(stream) == first

    def test_the_reference_is_not_changed(self):
        reference = rows(100, 0)
        kept = reference.copy()
        watch = DriftMonitor(reference, names=NAMES, is_categorical=IS_CATEGORICAL)
        watch.update(rows(200, 1))
        np.testing.assert_array_equal(reference, kept)

    def test_the_evidence_is_that_of_the_strongest_column(self):
        alarm = monitor(false_alarm_rate=0.02).update(rows(100, 1))
        assert alarm.evidence == max(column.evidence for column in alarm.columns) == alarm.columns[0].evidence
        assert alarm.threshold == pytest.approx(50.0)
        assert repr(alarm).startswith("DriftAlarm(not raised after 100 rows, threshold 50; evidence: ")

    def test_rows_of_the_wrong_shape_are_refused(self):
        with pytest.raises(ValueError, match=r"rows must have the shape \(rows, 4\).* got \(0, 4\)"):
            monitor().update(rows(5, 0)[:0])
        with pytest.raises(ValueError, match=r"rows must have .* got \(5, 3\)"):
            monitor().update(rows(5, 0)[:, :3])

    def test_a_rate_of_zero_is_refused(self):
        with pytest.raises(ValueError, match="false_alarm_rate must be a number strictly between 0 and 1"):
            monitor(false_alarm_rate=0.0)
