"""Hardware metrics of several runs on a shared axis."""

from __future__ import annotations

import numpy as np
import pytest

from tests.builders import SECOND, START, make_project, make_run, write_series
from tracker.queries.compare.hardware import compared_lines

pytestmark = [pytest.mark.django_db, pytest.mark.database]

CORES = "monitoring/train/job/cpu_cores"


@pytest.fixture
def runs(member):
    project = make_project(member)
    starts = (START, START + 1_000 * SECOND)
    runs = [
        make_run(project, f"run-{start}", "finished", started_at=start)
        for start in starts
    ]
    for run, start in zip(runs, starts, strict=True):
        times = start + np.arange(1, 5) * SECOND
        write_series(run, CORES, [1.0, 2.0, 3.0, 4.0], times=times)
    return runs


def lines(runs, align, stage="train"):
    return compared_lines(runs, lambda measure: True, align=align, stage=stage)


def test_runs_that_began_at_other_times_begin_together(runs):
    found = lines(runs, "run")

    assert [each.position for each in found] == [0, 1]
    # Series that tests write come from processes that open at the default start time.
    assert found[0].measured.line.x.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_a_stage_that_no_run_has_has_no_lines(runs):
    assert lines(runs, "stage", "nothing") == []


def test_without_timed_steps_nothing_has_a_place_by_step(runs):
    assert lines(runs, "step") == []


def test_readings_lie_between_the_steps_around_them(runs):
    times = START + np.array([0, 2, 4]) * SECOND
    write_series(
        runs[0],
        "monitoring/train/step/seconds",
        [1.0, 1.0, 1.0],
        steps=[0, 10, 20],
        times=times,
    )

    (line,) = [
        each for each in lines(runs, "step") if each.measured.measure == "job/cpu_cores"
    ]

    assert line.measured.line.x.tolist() == [5.0, 10.0, 15.0, 20.0]


def test_runs_without_a_wanted_line_cost_nothing(runs, django_assert_max_num_queries):
    def asked(measure):
        return compared_lines(
            runs, lambda each: each == measure, align="step", stage="train"
        )

    with django_assert_max_num_queries(20) as of_both:
        asked("job/cpu_cores")
    with django_assert_max_num_queries(20) as of_none:
        asked("nothing")

    assert len(of_none) < len(of_both)
