"""How densely the required signals of a rule were sampled, and where samples are missing."""

from __future__ import annotations

import numpy as np

from tracker.diagnosis.analysis.timeline import reading_times
from tracker.diagnosis.engine.measurements import MICROSECONDS, Measurements, Window
from tracker.diagnosis.engine.rule import Rule
from tracker.diagnosis.signals import SIGNALS, Array, Samples, Times

# A window with a lower share of samples cannot be judged.
SMALLEST_COVERAGE = 0.5
# A sample covers this many median intervals before it, so one may be missing.
INTERVALS_OF_A_READING = 2.0
# With fewer samples there is no median interval.
FEWEST_READINGS = 3

# Slower sampling lowers the quality, because events between samples are missed; with many
# samples, shares and means are precise all the same.
SLOW_SECONDS = 5.0
SLOW_QUALITY = 0.8
MANY_READINGS = 300
# A sample every five seconds is sometimes slightly late.
TOLERANCE = 1.2

# These signals have one point per event, and none otherwise.
EVENTS = {"gpu_xid"}


class Sampling:
    """The samples of the required sampled signals of a rule."""

    def __init__(self, measurements: Measurements, rule: Rule, gpu: int | None) -> None:
        values = measurements.values(gpu)
        self._needed = {
            name: found
            for name in rule.needs
            if isinstance(found := values.get(name), Samples)
            and SIGNALS[name].path
            and name not in EVENTS
        }
        # The actual spacing in this series, which may be thinned.
        self._spacings = {
            name: interval_seconds(samples.times)
            for name, samples in self._needed.items()
        }
        # Some signals are sampled rarely on purpose; sampling is slow only if all are.
        fewest = min((len(s.times) for s in self._needed.values()), default=0)
        self._is_slow = 0 < fewest < MANY_READINGS and (
            _tick(measurements) > SLOW_SECONDS * TOLERANCE
        )

    @property
    def quality(self) -> float:
        return SLOW_QUALITY if self._is_slow else 1.0

    def holes(self, window: Window) -> tuple[str, ...]:
        """Return the signals that cover too little of a window."""
        return tuple(
            name
            for name, samples in self._needed.items()
            if coverage(samples, window, self._spacings[name]) < SMALLEST_COVERAGE
        )


def interval_seconds(times: Array | Times) -> float:
    """Return the median time between samples; 0 if there are too few."""
    if len(times) < FEWEST_READINGS:
        return 0.0
    return float(np.median(np.diff(times))) / MICROSECONDS


def _tick(measurements: Measurements) -> float:
    """Return the interval of the signal that is sampled most often."""
    known = (
        samples.interval_seconds
        for samples in measurements.all_samples()
        if samples.interval_seconds
    )
    return min(known, default=interval_seconds(reading_times(measurements)))


def coverage(samples: Samples, window: Window, interval: float) -> float:
    """Return the share of a window that samples cover."""
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
