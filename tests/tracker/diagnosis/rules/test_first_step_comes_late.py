from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import (
    SECOND,
    START,
    readings,
    samples,
    stage,
    steps,
)
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.first_step_comes_late import check
from tracker.diagnosis.signals import Samples


def starting_after(seconds, **facts):
    rows = steps(total=1.0, count=300)
    rows = replace(rows, times=rows.times + int(seconds * SECOND))
    return stage(
        step_rows=rows,
        sampled={"job_cpu_cores": 1.0},
        facts={"stage_seconds": 300.0 + seconds, "stage_state": "finished", **facts},
    )


ALARMS = [
    starting_after(120.0),
    starting_after(400.0, stage_state="running"),
    starting_after(30.0, stage_seconds=60.0),
]
SILENCES = [
    starting_after(30.0),
    starting_after(12.0, stage_seconds=30.0),
    starting_after(120.0, stage_state="running"),
    starting_after(120.0, stage_seconds=4000.0),
]


def ask(after, *, first=1.0, total=600.0, spans=None, **more):
    """Samples start after one second, and steps of 1 s after `after` seconds."""
    seconds = np.full(100, 1.0)
    seconds[0] = first
    ends = START / 1e6 + 1.0 + after + np.cumsum(seconds)
    return check(seconds, ends, readings(1.0), total, spans=spans, **more)


def test_a_short_start_is_long_if_it_is_much_of_the_stage():
    assert ask(16.0, total=45.0) is not None
    assert ask(16.0, total=70.0) is None
    assert ask(13.0, total=30.0) is None


def test_waits_for_a_core_do_not_count():
    waiting = readings(0.5)

    answer = ask(20.0, total=50.0, job_main_thread_core_wait_share=waiting)

    assert isinstance(answer, Abstention)
    assert ask(40.0, total=80.0, job_main_thread_core_wait_share=waiting) is not None


@pytest.mark.parametrize(
    ("after", "total", "is_found"),
    [
        pytest.param(61.0, 600.0, True, id="just long"),
        pytest.param(59.0, 600.0, False, id="just short"),
        pytest.param(99.0, 2000.0, False, id="a small share"),
        pytest.param(101.0, 2000.0, True, id="just a large share"),
    ],
)
def test_judges_near_each_limit(after, total, is_found):
    assert (ask(after, total=total) is not None) == is_found


def test_splits_the_start_into_named_parts():
    def span(end, seconds):
        return Samples(np.array([START + end * SECOND]), np.array([seconds]))

    finding = ask(
        100.0,
        first=41.0,
        spans={
            "load_model": span(50, 40.0),
            "rollout": span(70, 30.0),
            "evaluate": span(500, 90.0),
        },
    )

    assert isinstance(finding, Finding)
    assert finding.summary.endswith(
        '40 s loading the model, 40 s in the first step, 30 s "rollout",'
        " 30 s outside named phases."
    )
    assert len(finding.recommendations) == 4


def test_an_unnamed_start_recommends_phases():
    finding = ask(100.0)

    assert isinstance(finding, Finding)
    assert [r.code for r in finding.recommendations] == [
        'with run.phase("load_model"):'
    ]


def test_two_steps_are_too_few():
    assert check(np.ones(2), np.array([1e9, 2e9]), samples([1.0]), 100.0) is None
