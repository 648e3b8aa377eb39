"""How densely what a rule needs was read, and where readings are missing."""

from __future__ import annotations

import numpy as np

from tracker.diagnosis.analysis.timeline import reading_times
from tracker.diagnosis.engine.measurements import MICROSECONDS, Measurements, Window
from tracker.diagnosis.engine.rule import Rule
from tracker.diagnosis.signals import SIGNALS, Array, Samples, Times

# A window of which less is covered by readings cannot be judged by them.
SMALLEST_COVERAGE = 0.5
# A reading speaks about so many of the usual intervals before it: one may be missed.
INTERVALS_OF_A_READING = 2.0
# Fewer have no interval that could be called usual.
FEWEST_READINGS = 3

# Slower than this, readings are worth less: what happens between them goes unseen.
SLOW_SECONDS = 5.0
SLOW_QUALITY = 0.8
# What comes every five seconds comes a little late at times.
TOLERANCE = 1.2

# A point for each event, and none for a time without.
EVENTS = {"gpu_xid"}


class Sampling:
    """The readings of the sampled signals that a rule cannot do without."""

    def __init__(self, measurements: Measurements, rule: Rule, gpu: int | None) -> None:
        values = measurements.values(gpu)
        self._needed = {
            name: found
            for name in rule.needs
            if isinstance(found := values.get(name), Samples)
            and SIGNALS[name].path
            and name not in EVENTS
        }
        self._limit = rule.needs_interval_seconds
        self._intervals = {
            name: interval_seconds(samples) for name, samples in self._needed.items()
        }
        # As they are here, some may have been left out.
        self._spacings = {
            name: _interval(samples.times) for name, samples in self._needed.items()
        }
        # Some readings are taken seldom on purpose; it is slow if all are.
        self._is_slow = bool(self._needed) and (
            _tick(measurements) > SLOW_SECONDS * TOLERANCE
        )

    @property
    def too_slow(self) -> tuple[str, ...]:
        """Name the signals that are read too seldom for the rule."""
        if self._limit is None:
            return ()
        longest = self._limit * TOLERANCE
        return tuple(n for n, seconds in self._intervals.items() if seconds > longest)

    @property
    def quality(self) -> float:
        return SLOW_QUALITY if self._is_slow else 1.0

    def holes(self, window: Window) -> tuple[str, ...]:
        """Name the signals that cover too little of a window."""
        return tuple(
            name
            for name, samples in self._needed.items()
            if coverage(samples, window, self._spacings[name]) < SMALLEST_COVERAGE
        )


def interval_seconds(samples: Samples) -> float:
    """Return the usual time between readings; 0 where there are too few to say."""
    if samples.interval_seconds is not None:
        return samples.interval_seconds
    return _interval(samples.times)


def _tick(measurements: Measurements) -> float:
    """Return the time between readings of what was read most often."""
    known = (
        samples.interval_seconds
        for samples in measurements.all_samples()
        if samples.interval_seconds
    )
    return min(known, default=_interval(reading_times(measurements)))


def coverage(samples: Samples, window: Window, interval: float) -> float:
    """Return the share of a window that readings speak about."""
    if not interval > 0 or not window.seconds > 0:
        return 1.0
    first, last = np.searchsorted(
        samples.times, (window.start, window.end), side="right"
    )
    ends = np.concatenate([[window.start], samples.times[first:last], [window.end]])
    pauses = np.diff(ends) / MICROSECONDS
    longest = INTERVALS_OF_A_READING * interval
    covered = float(np.minimum(pauses, longest).sum()) if last > first else 0.0
    return covered / window.seconds


def _interval(times: Array | Times) -> float:
    if len(times) < FEWEST_READINGS:
        return 0.0
    return float(np.median(np.diff(times))) / MICROSECONDS
