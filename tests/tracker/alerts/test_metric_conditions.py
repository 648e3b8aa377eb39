from __future__ import annotations

import numpy as np
import pytest

from tracker.alerts.metric_conditions import (
    MINUTE,
    Condition,
    holds,
    holds_now,
    matches,
    periods,
)
from tracker.series.points import Points

NAN, INF = float("nan"), float("inf")


def series(values, *, seconds: float = 60.0, step: float = 1.0) -> Points:
    """Return points at a fixed interval in seconds and steps."""
    count = np.arange(len(values))
    times = (count * seconds * 1_000_000).astype(np.int64)
    return Points(count * step, times, np.asarray(values, np.float64))


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_a_value_that_is_not_finite_holds_at_once(value):
    assert holds(series([1, value]), Condition("not-finite")).tolist() == [False, True]


def test_a_single_nan_is_still_found_by_a_later_look():
    points = series([1, NAN, 1, 1], seconds=10)

    found = holds_now(points, Condition("not-finite"), now=0)

    assert found is not None
    assert found.step == 1


def test_a_nan_of_long_ago_is_over():
    assert holds_now(series([NAN, *[1] * 10]), Condition("not-finite"), now=0) is None


def test_above_for_steps_needs_that_many_steps_without_a_break():
    condition = Condition("above", 10, 100, "steps")

    assert not holds(series([11] * 99), condition).any()
    assert holds(series([11] * 100), condition)[-1]
    assert not holds(series([*[11] * 60, 9, *[11] * 60]), condition).any()
    assert not holds(series([*[11] * 60, NAN, *[11] * 60]), condition).any()


def test_steps_are_counted_however_seldom_points_are_logged():
    condition = Condition("above", 10, 100, "steps")

    assert not holds(series([11] * 10, step=10), condition).any()
    assert holds(series([11] * 11, step=10), condition)[-1]


def test_below_for_minutes_needs_that_much_time():
    condition = Condition("below", 20, 15, "minutes")

    assert not holds(series([5] * 15), condition).any()
    assert holds(series([5] * 16), condition)[-1]


def test_a_mean_needs_a_full_window_and_ignores_spikes():
    condition = Condition("mean-below", 20, 15, "minutes")

    assert not holds(series([5] * 15), condition).any()
    assert holds(series([*[5] * 15, 60]), condition)[-1]
    assert not holds(series([*[5] * 15, *[60] * 15]), condition)[-1]


def test_a_mean_of_nothing_finite_does_not_hold():
    condition = Condition("mean-below", 20, 15, "minutes")

    assert not holds(series([NAN] * 20), condition).any()


def test_no_point_holds_once_the_time_is_over():
    points, condition = series([1, 1]), Condition("no-point", 0, 10)

    assert holds_now(points, condition, now=11 * MINUTE) is None
    assert holds_now(points, condition, now=12 * MINUTE) is not None


def test_no_point_in_a_finished_run_is_found_between_its_points():
    points = Points(np.arange(3.0), np.array([0, 1, 30]) * MINUTE, np.ones(3))

    (gap,) = periods(points, Condition("no-point", 0, 10))

    assert (gap.first_time, gap.last_time) == (11 * MINUTE, 30 * MINUTE)


def test_a_short_pause_does_not_end_a_period():
    condition = Condition("above", 10, 1, "steps")
    values = [11, 9, 11, *[9] * 10, 11]

    assert len(periods(series(values), condition)) == 2


def test_a_series_without_points_holds_nothing():
    for name in ("not-finite", "above", "mean-below", "no-point"):
        assert periods(Points.empty(), Condition(name)) == []
        assert holds_now(Points.empty(), Condition(name), now=0) is None


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("val/loss", "val/loss", True),
        ("val/loss", "val/loss2", False),
        ("*/gpu/*/utilization_percent", "monitoring/a/gpu/0/utilization_percent", True),
        ("monitoring/*/gpu/*", "monitoring/train/cpu/0", False),
        ("a*a", "a", False),
        ("*", "anything", True),
        ("a*b*c", "a-c-b", False),
    ],
)
def test_a_star_stands_for_any_characters(pattern, path, expected):
    assert matches(path, pattern) is expected
