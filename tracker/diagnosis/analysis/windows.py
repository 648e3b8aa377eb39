"""Divides the steady part of a stage into the windows that rules judge."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tracker.diagnosis.analysis.steady import SteadyPart
from tracker.diagnosis.engine.measurements import MICROSECONDS, Measurements, Window

MAX_WINDOWS = 5
WINDOW_SECONDS = 60.0
WINDOW_STEPS = 50

# A smaller window cannot be judged, because samples come once a second.
FEWEST_STEPS = 10
FEWEST_SECONDS = 2.0


def divide(
    measurements: Measurements, steady: SteadyPart, *, has_ended: bool
) -> tuple[Window, ...]:
    """Return consecutive windows in order of time."""
    window = steady.window
    if not has_ended:
        newest = MAX_WINDOWS * _usual_seconds(measurements)
        start = max(window.start, window.end - int(newest * MICROSECONDS))
        window = Window(start, window.end)

    count = _how_many(measurements.within(window), window)
    edges = np.linspace(window.start, window.end, count + 1).astype(np.int64)
    return tuple(Window(int(start), int(end)) for start, end in pairwise(edges))


def _usual_seconds(measurements: Measurements) -> float:
    if not len(measurements.steps):
        return WINDOW_SECONDS
    typical = float(np.median(measurements.steps.columns["step_seconds"]))
    return min(max(WINDOW_SECONDS, WINDOW_STEPS * typical), 1e9)


def _how_many(measurements: Measurements, window: Window) -> int:
    count = int(min(window.seconds / FEWEST_SECONDS, MAX_WINDOWS))
    if len(measurements.steps):
        count = min(count, len(measurements.steps) // FEWEST_STEPS)
    return max(1, count)
