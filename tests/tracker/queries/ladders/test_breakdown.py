from __future__ import annotations

import pytest

from tests.builders import write_values
from tests.tracker.queries.measured import measured_run
from tracker.queries.ladders.breakdown import compare_breakdowns, stage_breakdown
from tracker.queries.ladders.verdicts import Verdict

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_breaks_down_the_steps_of_a_stage():
    found = stage_breakdown(measured_run(), "train")

    assert found is not None
    assert [(part.name, round(part.seconds, 3)) for part in found.parts] == [
        ("data wait", 0.06),
        ("forward", 0.01),
        ("other", 0.03),
    ]
    assert found.examples_per_second == pytest.approx(160.0)
    assert found.cpu_percent == pytest.approx(25.0)


def test_a_stage_without_steps_has_none():
    run = measured_run()
    write_values(run, {"monitoring/infer/facts/effective_cores": 4.0}, stage="infer")

    assert stage_breakdown(run, "infer") is None


def test_a_stage_that_is_not_there_has_none():
    assert stage_breakdown(measured_run(), "dream") is None


def test_compares_two_runs():
    before = stage_breakdown(measured_run("slow", step_seconds=0.2), "train")
    after = stage_breakdown(measured_run("fast", step_seconds=0.1), "train")
    assert before is not None
    assert after is not None

    change = compare_breakdowns(before, after)

    assert change is not None
    assert change.verdict is Verdict.FASTER
    assert change.ratio == pytest.approx(2.0)


def test_too_few_steps_are_not_compared():
    before = stage_breakdown(measured_run("slow"), "train")
    after = stage_breakdown(measured_run("short", count=25), "train")
    assert before is not None
    assert after is not None

    assert compare_breakdowns(before, after) is None
