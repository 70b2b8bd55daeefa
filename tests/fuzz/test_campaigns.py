"""A short form of every campaign, and the frame that runs them."""

import json

import pytest

from fuzz.campaign import CAMPAIGNS, load_campaign
from fuzz.record import Record, read_record
from fuzz.runner import run_cases

SEED = 1
EXAMPLE = "tests.support.example_campaign"


@pytest.mark.parametrize("module", CAMPAIGNS)
def test_a_short_campaign_finds_nothing(module):
    cases = load_campaign(module).cases("short")
    faults = {outcome.case: outcome.fault for outcome in run_cases(module, SEED, range(cases)) if outcome.fault}
    assert not faults, "\n".join(f"case {case} {fault}" for case, fault in faults.items())


def test_errors_ends_of_processes_and_hangs_are_findings_and_the_next_case_runs():
    outcomes = list(run_cases(EXAMPLE, SEED, range(5)))
    faults = [outcome.fault for outcome in outcomes]
    assert [outcome.case for outcome in outcomes] == [0, 1, 2, 3, 4]
    assert faults[0] is None
    assert "ValueError: case one" in faults[1]
    assert "ended its process with status 3" in faults[2]
    assert "took more than 2 seconds" in faults[3]
    assert faults[4] is None


def test_a_case_depends_on_seed_and_number_alone():
    values = [[outcome.fault for outcome in run_cases(EXAMPLE, seed, cases)] for seed, cases in ((1, [5]), (1, [6, 5]))]
    assert "drew" in values[0][0]
    assert values[0][0] == values[1][1]
    assert values[1][0] != values[1][1]


def test_a_record_goes_on_after_the_last_case_and_begins_with_failing_ones(tmp_path):
    path = tmp_path / "record.json"
    assert read_record(path).cases(2) == [0, 1]
    record = Record(0, {})
    for outcome in run_cases(EXAMPLE, SEED, [0, 1]):
        record = record.with_outcome(outcome)
    record.write(path)
    assert read_record(path).cases(2) == [1, 2, 3]
    mended = json.loads(path.read_text())
    assert list(mended["failing"]) == ["1"]
