"""The effect of another batch size, from the times that a micro-benchmark measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tracker.diagnosis.engine.finding import Gain
from tracker.diagnosis.engine.wording import duration


@dataclass(frozen=True, slots=True)
class BatchTimes:
    """A step takes `base_seconds` plus `seconds_per_example` for each example."""

    base_seconds: float
    seconds_per_example: float

    def step_seconds(self, batch_size: float) -> float:
        return self.base_seconds + self.seconds_per_example * batch_size

    def throughput_ratio(self, batch_size: float, other: float) -> float:
        """Return the throughput with the other size relative to this one."""
        now, then = self.step_seconds(batch_size), self.step_seconds(other)
        if not (now > 0 and then > 0 and batch_size > 0):
            return 1.0
        return (other / batch_size) * (now / then)


def batch_times(
    base_seconds: float | None, seconds_per_example: float | None
) -> BatchTimes | None:
    """Return None without a micro-benchmark, or if its result is not valid."""
    if base_seconds is None or seconds_per_example is None:
        return None
    if not seconds_per_example > 0:
        return None
    # A negative base time is noise of the micro-benchmark.
    return BatchTimes(max(0.0, base_seconds), seconds_per_example)


def largest_power_of_two(most: float) -> int:
    """Return the largest power of two up to `most`; hardware prefers these sizes."""
    return 2 ** math.floor(math.log2(most)) if most >= 1 else 0


def batch_gain(times: BatchTimes, batch_size: float, suggested: float) -> Gain:
    """Return the speedup of the suggested batch size in examples per second."""
    ratio = max(1.0, times.throughput_ratio(batch_size, suggested))
    return Gain(
        bound=ratio,
        likely=ratio,
        basis=(
            f"Measured: a step takes {duration(times.base_seconds)} plus"
            f" {duration(times.seconds_per_example)} per example. Batches of"
            f" {suggested:g} instead of {batch_size:g} give {ratio:.2f} times the"
            " examples per second."
        ),
        next_limit="the work on each example",
    )
