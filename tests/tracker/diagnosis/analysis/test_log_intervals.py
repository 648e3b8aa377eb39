from __future__ import annotations

import numpy as np
import pytest

from tracker.diagnosis.analysis.log_intervals import steps_of_log

START = 1_790_000_000_123_457  # microseconds
RANDOM = np.random.default_rng(1)


def logged(count=200, *, every=1, seconds=0.1):
    """Points at every k-th step, with slightly varying intervals."""
    intervals = seconds * RANDOM.uniform(0.9, 1.1, count)
    times = START + (1e6 * np.cumsum(intervals)).astype(np.int64)
    return every * np.arange(count, dtype=np.float64), times


def test_each_interval_is_a_row():
    numbers, times = logged()

    steps, length = steps_of_log(numbers, times)

    assert length == 1
    assert steps.numbers.tolist() == list(range(1, 200))
    assert steps.times.tolist() == times[1:].tolist()
    seconds = steps.columns["step_seconds"]
    assert np.allclose(seconds, np.diff(times) / 1e6)


def test_points_of_every_tenth_step_have_longer_intervals():
    steps, length = steps_of_log(*logged(every=10))

    assert length == 10
    assert np.median(steps.columns["step_seconds"]) == pytest.approx(0.1, rel=0.05)


def test_intervals_around_a_restart_are_dropped():
    numbers, times = logged()
    numbers[100:] -= 20
    times[100:] += 3600 * 1_000_000

    steps, _ = steps_of_log(numbers, times)

    assert len(steps) == 198
    assert steps.columns["step_seconds"].max() < 1.0


def of_seconds(numbers, times):
    return numbers, times // 1_000_000 * 1_000_000


@pytest.mark.parametrize(
    "points",
    [
        pytest.param(logged(20), id="few points"),
        pytest.param(logged(seconds=0.0001), id="logged together afterwards"),
        pytest.param(of_seconds(*logged()), id="a clock of whole seconds"),
        pytest.param((np.zeros(200), logged()[1]), id="one step"),
        pytest.param((np.arange(200.0) ** 2, logged()[1]), id="irregular steps"),
        pytest.param((np.full(200, np.nan), logged()[1]), id="no steps"),
        pytest.param((np.empty(0), np.empty(0, np.int64)), id="nothing"),
    ],
)
def test_points_without_a_rhythm_have_no_rows(points):
    steps, length = steps_of_log(*points)

    assert len(steps) == 0
    assert length == 0


def test_long_intervals_need_no_exact_clock():
    steps, _ = steps_of_log(*of_seconds(*logged(seconds=60.0)))

    assert len(steps) == 199
