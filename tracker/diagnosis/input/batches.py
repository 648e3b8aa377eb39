"""What another batch size is worth, once a trial has timed some of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tracker.diagnosis.engine.finding import Gain
from tracker.diagnosis.engine.wording import duration


@dataclass(frozen=True, slots=True)
class BatchTimes:
    """A step takes `base_seconds`, and `seconds_per_example` for each example."""

    base_seconds: float
    seconds_per_example: float

    def step_seconds(self, batch_size: float) -> float:
        return self.base_seconds + self.seconds_per_example * batch_size

    def throughput_ratio(self, batch_size: float, other: float) -> float:
        """Return how many times the examples per second the other size makes."""
        now, then = self.step_seconds(batch_size), self.step_seconds(other)
        if not (now > 0 and then > 0 and batch_size > 0):
            return 1.0
        return (other / batch_size) * (now / then)


def batch_times(
    base_seconds: float | None, seconds_per_example: float | None
) -> BatchTimes | None:
    """Return None without a trial, or after one that fits no step."""
    if base_seconds is None or seconds_per_example is None:
        return None
    if not seconds_per_example > 0:
        return None
    # Less than nothing is the noise of a trial.
    return BatchTimes(max(0.0, base_seconds), seconds_per_example)


def largest_power_of_two(most: float) -> int:
    """Return the size that hardware likes best among those up to `most`."""
    return 2 ** math.floor(math.log2(most)) if most >= 1 else 0


def batch_gain(times: BatchTimes, batch_size: float, suggested: float) -> Gain:
    """Return what the suggested batch is worth, in examples per second."""
    ratio = max(1.0, times.throughput_ratio(batch_size, suggested))
    return Gain(
        bound=ratio,
        likely=ratio,
        basis=(
            f"As tried, a step takes {duration(times.base_seconds)} and"
            f" {duration(times.seconds_per_example)} for each example: batches of"
            f" {suggested:g} instead of {batch_size:g} make {ratio:.2f} times the"
            " examples per second."
        ),
        next_limit="the work on each example",
    )
