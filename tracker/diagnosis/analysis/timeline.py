"""When steps and phases of a stage ran, and when no data was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.engine.measurements import (
    MICROSECONDS,
    Measurements,
    Steps,
    Window,
)
from tracker.diagnosis.signals import Array, Samples

# Without a sample for this long, or this many median intervals, the activity is unknown.
SILENT_SECONDS = 30.0
SILENT_INTERVALS = 10.0

FEWEST_READINGS = 2


@dataclass(frozen=True, slots=True)
class Spans:
    """Phases outside of steps, one after the other; `seconds` is by name.

    `edges` are the start and end of each, `covered` the total time in phases until then.
    """

    edges: Array
    covered: Array
    seconds: Mapping[str, float]

    def until(self, times: Array) -> Array:
        if not len(self.edges):
            return np.zeros(len(times))
        values: Array = np.interp(times, self.edges, self.covered)
        return values

    def within(self, starts: Array, ends: Array) -> Array:
        """Return the part of each interval that is in a span."""
        return self.until(ends) - self.until(starts)


def lay_out(spans: Mapping[str, Samples], window: Window) -> Spans:
    """Arrange spans one after the other; where they overlap, the earlier one counts."""
    rows = sorted(
        (end - seconds * MICROSECONDS, end, name)
        for name, span in spans.items()
        for end, seconds in zip(span.times.tolist(), span.values.tolist(), strict=True)
    )
    by_name: dict[str, float] = {}
    edges: list[float] = []
    covered: list[float] = []
    free, total = float(window.start), 0.0
    for begin, end, name in rows:
        first, last = max(begin, free), min(end, float(window.end))
        if last <= first:
            continue
        lasting = (last - first) / MICROSECONDS
        edges += [first, last]
        covered += [total, total + lasting]
        by_name[name] = by_name.get(name, 0.0) + lasting
        free, total = last, total + lasting
    return Spans(np.array(edges), np.array(covered), by_name)


def step_intervals(steps: Steps, window: Window) -> tuple[Array, Array]:
    """Return start and end of each step; a step starts after the end of the previous one."""
    if not len(steps):
        return np.empty(0), np.empty(0)
    ends = steps.times.astype(np.float64)
    starts = ends - steps.columns["step_seconds"] * MICROSECONDS
    starts[1:] = np.maximum(starts[1:], ends[:-1])
    low, high = float(window.start), float(window.end)
    return np.clip(starts, low, high), np.clip(ends, low, high)


def reading_times(measurements: Measurements) -> Array:
    """Return the times of the signal with the most samples."""
    every: Iterable[Samples] = measurements.all_samples()
    longest = max((samples.times for samples in every), key=len, default=np.empty(0))
    return longest.astype(np.float64)


def silent_seconds(times: Array, start: float, end: float) -> float:
    """Return how much of an interval is without samples."""
    if len(times) < FEWEST_READINGS:
        return 0.0
    usual = float(np.median(np.diff(times))) / MICROSECONDS
    longest = max(SILENT_SECONDS, SILENT_INTERVALS * usual)
    first, last = np.searchsorted(times, (start, end))
    around = np.concatenate([[start], times[first:last], [end]])
    pauses = np.diff(around) / MICROSECONDS
    return float(pauses[pauses > longest].sum())
