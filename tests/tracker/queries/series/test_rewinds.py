"""A restarted job logs steps again that its first attempt had already logged."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.builders import START, Process, points_message
from tracker.models import Rewind
from tracker.queries.series.all_points import read_all_points
from tracker.queries.series.series import Axis, read_line, read_points
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

SECOND = 1_000_000
AGAIN = START + 3_600 * SECOND


def rewind(steps, time=AGAIN):
    packed = struct.pack(f"<{len(steps)}d", *steps.values())
    return {"t": "rewind", "paths": [*steps], "steps": packed, "time": time}


def logged(process, steps, value, *, path="loss", since=START):
    times = [since + int(step) * SECOND for step in steps]
    values = [value] * len(steps)
    process.send([points_message(path, values, steps=steps, times=times)])


@pytest.fixture
def attempts(project):
    """Steps 0 to 9 of a first attempt, and 6 to 12 of a second one."""
    first = Process(project, "baseline")
    first.open()
    logged(first, range(10), 1.0)
    logged(first, range(10), 1.0, path="other")
    second = Process(project, "baseline", time=AGAIN)
    second.open()
    logged(second, range(6, 13), 2.0, since=AGAIN)
    second.send([rewind({"loss": 6.0})])
    return second


def exported(run, **options):
    parts = read_all_points([(run, "loss")], **options)
    return [step for part in parts for step in part.points.steps.tolist()]


@pytest.mark.parametrize("is_compacted", [False, True])
def test_points_logged_again_replace_the_earlier_ones(attempts, is_compacted):
    run = attempts.run
    if is_compacted:
        compact_run(run.id)
    points = read_points(run, "loss")
    line = read_line(run, "loss")

    assert points.steps.tolist() == [*range(13)]
    assert points.values.tolist() == [1.0] * 6 + [2.0] * 7
    assert (line.x.tolist(), line.count) == ([*range(13)], 13)
    assert exported(run) == [*range(13)]
    assert len(read_line(run, "loss", axis=Axis.TIME).x) == 13
    # All points of series that were not logged again are kept.
    assert read_points(run, "other").steps.tolist() == [*range(10)]


@pytest.mark.parametrize("is_compacted", [False, True])
def test_nothing_of_it_is_deleted(attempts, is_compacted):
    run = attempts.run
    if is_compacted:
        compact_run(run.id)

    every = exported(run, all_attempts=True)
    assert sorted(every) == sorted([*range(10), *range(6, 13)])


def test_a_third_attempt_counts_for_what_it_logs_again(attempts):
    third = Process(attempts.run.project, "baseline", time=AGAIN + 3_600 * SECOND)
    third.open()
    logged(third, [3, 4], 3.0, since=AGAIN + 3_600 * SECOND)
    third.send([rewind({"loss": 3.0}, AGAIN + 3_600 * SECOND)])

    points = read_points(attempts.run, "loss")
    assert points.steps.tolist() == [*range(5)]
    assert points.values.tolist() == [1.0] * 3 + [3.0] * 2


def test_long_series_are_drawn_without_what_was_logged_again(project):
    count = 150_000
    first = Process(project, "long")
    first.open()
    times = START + np.arange(count)
    first.send([points_message("loss", np.ones(count), times=times)])
    second = Process(project, "long", time=AGAIN)
    second.open()
    steps = np.arange(count // 2, count, dtype=float)
    again = points_message(
        "loss",
        np.full(len(steps), 2.0),
        steps=steps,
        times=AGAIN + np.arange(len(steps)),
    )
    second.send([rewind({"loss": float(steps[0])}), again])
    compact_run(second.run.id)

    line = read_line(second.run, "loss", buckets=100)

    assert line.count == count
    assert line.maximum[line.x < steps[0] - 2_000].max() == 1.0
    assert line.minimum[line.x > steps[0] + 2_000].min() == 2.0


def test_a_repeated_rewind_is_stored_once(attempts):
    attempts.send([rewind({"loss": 6.0})])

    assert Rewind.objects.count() == 1


@pytest.mark.parametrize(
    "message",
    [
        {**rewind({"loss": 6.0}), "steps": b""},
        rewind({"loss": float("nan")}),
        rewind({"loss": 1e300}),
        rewind({"": 1.0}),
        rewind({"a\0": 1.0}),
        {**rewind({"loss": 6.0}), "time": -1},
    ],
)
def test_one_that_cannot_be_meant_is_refused_alone(attempts, message):
    receipt = attempts.send([message])

    assert receipt.refused_count == 1
    assert Rewind.objects.count() == 1
