"""Conditions of metric rules, evaluated at the points of a series (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracker.series.points import Points

MEANS = ("mean-above", "mean-below")

Mask = NDArray[np.bool_]

MINUTE = 60_000_000  # in microseconds, as times of points
# How long a non-finite value counts as recent.
NOT_FINITE_MINUTES = 5.0
# Periods with a shorter gap are one incident.
REST_MINUTES = 5.0


@dataclass(frozen=True, slots=True)
class Condition:
    """`name` and `unit` are those of tracker/models/metric_rule.py."""

    name: str
    limit: float = 0.0
    duration: float = 0.0
    unit: str = "minutes"

    @property
    def window(self) -> float:
        """Return the duration in steps or microseconds."""
        return self.duration * MINUTE if self.unit == "minutes" else self.duration


@dataclass(frozen=True, slots=True)
class Period:
    """A part of a series in which a condition held; times in microseconds."""

    first_time: int
    last_time: int
    step: float
    value: float


def holds_now(points: Points, condition: Condition, now: int) -> Period | None:
    """Return the last point, or the mean, if the condition holds there.

    For "no-point", the period since the next point was due.
    """
    if not len(points):
        return None
    last = points[-1:]
    step, value, time = float(last.steps[0]), float(last.values[0]), int(last.times[0])
    if condition.name == "no-point":
        begin = time + int(condition.window)
        return Period(begin, now, step, value) if begin < now else None
    if not holds(points, condition)[-1]:
        return None
    if condition.name == "not-finite":
        # The newest value may be finite again.
        bad = int(np.flatnonzero(~np.isfinite(points.values))[-1])
        step, value = float(points.steps[bad]), float(points.values[bad])
    elif condition.name in MEANS:
        axis = _axis(points, condition)
        inside = (axis > axis[-1] - condition.window) & np.isfinite(points.values)
        value = float(points.values[inside].mean())
    return Period(time, time, step, value)


def periods(points: Points, condition: Condition) -> list[Period]:
    """Return when the condition held in a whole series, in order of time."""
    if not len(points):
        return []
    if condition.name == "no-point":
        return _gaps(points, condition)
    return list(_merged(points, holds(points, condition)))


def holds(points: Points, condition: Condition) -> Mask:
    """Return, for each point, whether the condition holds given the points up to it.

    Points must be in order of time.
    """
    values = points.values
    if condition.name == "not-finite":
        return _lately(points.times, ~np.isfinite(values))
    if condition.name in MEANS:
        return _mean_holds(points, condition)
    is_beyond = (
        values > condition.limit
        if condition.name == "above"
        else values < condition.limit
    )
    axis = _axis(points, condition)
    positions = np.arange(len(values))
    # The start of the uninterrupted sequence that contains each point.
    broken = np.maximum.accumulate(np.where(is_beyond, -1, positions))
    began = np.minimum(broken + 1, positions)
    needed = condition.window - (1 if condition.unit == "steps" else 0)
    return np.asarray(is_beyond & (axis - axis[began] >= needed))


def _axis(points: Points, condition: Condition) -> NDArray[np.float64]:
    if condition.unit == "steps":
        return points.steps
    return points.times.astype(np.float64)


def _lately(times: NDArray[np.int64], found: Mask) -> Mask:
    """Return, for each point, whether a match occurred in the minutes before it."""
    positions = np.arange(len(times))
    last = np.maximum.accumulate(np.where(found, positions, -1))
    age = times - times[np.maximum(last, 0)]
    return np.asarray((last >= 0) & (age < NOT_FINITE_MINUTES * MINUTE))


def _mean_holds(points: Points, condition: Condition) -> Mask:
    """Compare the mean of each full window, ignoring NaN and infinities."""
    axis = _axis(points, condition)
    finite = np.isfinite(points.values)
    sums = np.concatenate([[0.0], np.cumsum(np.where(finite, points.values, 0.0))])
    counts = np.concatenate([[0], np.cumsum(finite)])
    # If steps restart, the highest so far.
    reached = np.maximum.accumulate(axis)
    first = np.searchsorted(reached, reached - condition.window, side="right")
    first = np.minimum(first, np.arange(len(axis)))
    after = np.arange(1, len(axis) + 1)
    count = counts[after] - counts[first]
    mean = (sums[after] - sums[first]) / np.maximum(count, 1)
    is_full = reached - reached[0] >= condition.window
    is_beyond = (
        mean > condition.limit
        if condition.name == "mean-above"
        else mean < condition.limit
    )
    return np.asarray(is_full & (count > 0) & is_beyond)


def _gaps(points: Points, condition: Condition) -> list[Period]:
    window = int(condition.window)
    long = np.flatnonzero(np.diff(points.times) > window)
    return [
        Period(
            int(points.times[place]) + window,
            int(points.times[place + 1]),
            float(points.steps[place]),
            float(points.values[place]),
        )
        for place in long
    ]


def _merged(points: Points, is_met: Mask) -> Iterator[Period]:
    """Yield periods, joined across short gaps."""
    places = np.flatnonzero(is_met)
    if not len(places):
        return
    times = points.times[places]
    breaks = np.flatnonzero(np.diff(times) > REST_MINUTES * MINUTE) + 1
    for some in np.split(places, breaks):
        first, last = int(some[0]), int(some[-1])
        yield Period(
            int(points.times[first]),
            int(points.times[last]),
            float(points.steps[first]),
            float(points.values[first]),
        )


def matches(path: str, pattern: str) -> bool:
    """Return whether the path matches the pattern, where * matches any characters."""
    first, *middle = pattern.split("*")
    if not middle:
        return path == pattern
    *inner, last = middle
    if len(path) < len(first) + len(last):
        return False
    if not (path.startswith(first) and path.endswith(last)):
        return False
    place, end = len(first), len(path) - len(last)
    for part in inner:
        found = path.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True
