from __future__ import annotations

from itertools import pairwise

import pytest

from tests.tracker.diagnosis.stages import readings, stage, steps
from tracker.diagnosis.analysis.steady import find_steady_part
from tracker.diagnosis.analysis.windows import divide
from tracker.diagnosis.engine.measurements import Measurements


def windows_of(measurements, *, has_ended=True):
    part = find_steady_part(measurements)
    assert part is not None
    return part, divide(measurements, part, has_ended=has_ended)


def test_five_windows_cover_all_of_a_stage_that_ended():
    part, windows = windows_of(stage(step_rows=steps(total=0.1, count=2000)))

    assert len(windows) == 5
    assert (windows[0].start, windows[-1].end) == (part.window.start, part.window.end)
    assert all(a.end == b.start for a, b in pairwise(windows))


@pytest.mark.parametrize(
    ("total", "seconds"),
    [pytest.param(0.1, 60, id="minutes"), pytest.param(3.0, 150, id="fifty steps")],
)
def test_a_live_stage_is_cut_to_its_newest_windows(total, seconds):
    measurements = stage(step_rows=steps(total=total, count=20_000))

    _, windows = windows_of(measurements, has_ended=False)

    assert len(windows) == 5
    assert windows[0].seconds == pytest.approx(seconds, rel=0.01)


@pytest.mark.parametrize(
    ("total", "count", "expected"),
    [
        pytest.param(0.05, 100, 2, id="five seconds"),
        pytest.param(0.005, 200, 1, id="one second"),
        pytest.param(5.0, 30, 2, id="few steps"),
    ],
)
def test_short_stages_have_fewer_windows(total, count, expected):
    _, windows = windows_of(stage(step_rows=steps(total=total, count=count)))

    assert len(windows) == expected


def test_readings_alone_are_divided_by_time():
    _, windows = windows_of(
        Measurements(samples={"job_cpu_cores": readings(1.0, seconds=100)})
    )

    assert len(windows) == 5
