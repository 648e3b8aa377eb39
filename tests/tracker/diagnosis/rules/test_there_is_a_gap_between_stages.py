from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import readings, stage
from tracker.diagnosis.engine.finding import Abstention, Finding, Severity
from tracker.diagnosis.hardware.contention import CROWDED
from tracker.diagnosis.rules.there_is_a_gap_between_stages import check


def measured(gap: float):
    return stage(
        sampled={"job_cpu_cores": 1.0},
        facts={
            "gap_before_stage_seconds": gap,
            "stage_seconds": 300.0,
            "stage_share_of_run": 0.5,
        },
    )


ALARMS = [measured(120.0)]
SILENCES = [measured(5.0)]


@pytest.mark.parametrize(
    ("gap", "run_seconds", "is_found"),
    [
        pytest.param(61.0, 1e6, True, id="just long enough"),
        pytest.param(59.0, 1e6, False, id="just too short"),
        pytest.param(11.0, 100.0, True, id="much of a short run"),
        pytest.param(9.0, 100.0, False, id="the start of a script"),
        pytest.param(11.0, 230.0, False, id="little of a short run"),
        pytest.param(90_000.0, 100.0, False, id="the next day"),
    ],
)
def test_judges_near_each_limit(gap, run_seconds, is_found):
    found = check(gap, stage_seconds=run_seconds / 2, stage_share_of_run=0.5)

    assert (found is not None) == is_found


def test_a_start_takes_longer_if_the_job_waits_for_a_core():
    run = {"stage_seconds": 50.0, "stage_share_of_run": 0.5}
    waits = {"job_main_thread_core_wait_share": readings(0.6)}

    assert check(20.0, **run, **waits) == Abstention((CROWDED,))
    assert isinstance(check(20.0, **run), Finding)
    assert isinstance(check(26.0, **run, **waits), Finding)


def test_the_length_of_the_run_may_be_unknown():
    finding = check(120.0)

    assert isinstance(finding, Finding)
    assert finding.severity == Severity.NOTICE
    assert finding.summary == (
        "This stage started 2 min after the end of the previous one."
    )


def test_a_fifth_of_the_run_is_worth_a_warning():
    finding = check(100.0, stage_seconds=100.0, stage_share_of_run=0.5)

    assert isinstance(finding, Finding)
    assert finding.severity == Severity.WARNING
    assert "33 % of the run" in finding.summary


@pytest.mark.parametrize(("gap", "limit"), [(45.8, 10.0), (61.0, 60.0)])
def test_evidence_names_the_limit_that_was_exceeded(gap, limit):
    finding = check(gap, stage_seconds=100.0, stage_share_of_run=0.5)

    assert isinstance(finding, Finding)
    assert finding.evidence[0].limit == limit
