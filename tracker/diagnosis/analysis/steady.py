"""Finds the representative part of a stage, without warm-up.

With steps: they are divided into blocks of 20 steps or 10 seconds, whichever is more, and the
steady part starts with the first three consecutive blocks whose median step times are within
5 % of each other. At least 10 steps are warm-up, and at most 30 %.

Short runs have shorter blocks, a tenth of their steps and at least 5 steps, and keep 50 steps
if they have that many after the first 10. A run of 60 steps loses 10, one of 100 between 10
and 30.

A profiler trace has few, exactly timed steps after the warm-up of the profiler's schedule. The
first of four or more steps is dropped, because it includes the start of the profiler. One step
is enough for a finding, but never confirms it.

Without steps: from the first sample in which the stage works to the last. If the stage does
several kinds of work in sequence, only the longest period counts, or the latest one while the
stage runs. Steps that a script logs count for rules about GPUs only: the driver measures a GPU
as a whole, so a few seconds are enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.stage_phases import (
    WORKING_GPU_PERCENT,
    find_regimes,
    working_limit,
)
from tracker.diagnosis.engine.measurements import Measurements, Steps, Window
from tracker.diagnosis.signals import Array, Samples

BLOCK_STEPS = 20
BLOCK_SECONDS = 10.0
SHORTEST_BLOCK_STEPS = 5
BLOCKS_OF_A_RUN = 10

NEIGHBORS = 3
LARGEST_DIFFERENCE = 0.05

FEWEST_WARM_UP_STEPS = 10
LARGEST_WARM_UP_SHARE = 0.30

FEWEST_STEPS = 50
FEWEST_SECONDS = 60.0
# Below this, even many steps show mostly the start of the process.
FEWEST_SECONDS_OF_STEPS = 3.0

# Limits for a trace.
TRACED = "traced_with"
FEWEST_TRACED_STEPS = 1
STEPS_WITHOUT_THE_FIRST = 4


@dataclass(frozen=True, slots=True)
class SteadyPart:
    """`is_steady` is false if step times never settled; the part is judged anyway."""

    window: Window
    step_count: int
    is_steady: bool
    is_traced: bool = False
    logged_steps: int = 0

    @property
    def is_long_enough(self) -> bool:
        if self.is_traced:
            return self.step_count >= FEWEST_TRACED_STEPS
        return self._is_long_enough_with(self.step_count)

    @property
    def is_long_enough_for_gpus(self) -> bool:
        return self.is_long_enough or self._is_long_enough_with(self.logged_steps)

    def _is_long_enough_with(self, steps: int) -> bool:
        seconds = self.window.seconds
        return seconds >= FEWEST_SECONDS or (
            steps >= FEWEST_STEPS and seconds >= FEWEST_SECONDS_OF_STEPS
        )


def find_steady_part(
    measurements: Measurements, *, has_ended: bool = True
) -> SteadyPart | None:
    """Return the part to judge; None if nothing was measured over time."""
    if len(measurements.steps):
        is_traced = TRACED in measurements.facts
        return _of_trace(measurements) if is_traced else _after_warm_up(measurements)
    return _working_part(measurements, has_ended=has_ended)


def warm_up_steps(
    step_seconds: Array, *, fewest: int = FEWEST_WARM_UP_STEPS
) -> tuple[int, bool]:
    """Return the number of warm-up steps, and whether the rest is steady."""
    at_most = _most_warm_up_steps(len(step_seconds), fewest)
    at_least = min(fewest, at_most)

    block = _block_steps(step_seconds)
    blocks = min(len(step_seconds), at_most + NEIGHBORS * block) // block
    medians = np.median(step_seconds[: blocks * block].reshape(blocks, block), axis=1)
    for first in range(blocks - NEIGHBORS + 1):
        near = medians[first : first + NEIGHBORS]
        is_level = float(np.ptp(near)) <= LARGEST_DIFFERENCE * float(np.median(near))
        if is_level and first * block <= at_most:
            return max(at_least, first * block), True
    return at_most, False


def _most_warm_up_steps(steps: int, fewest: int) -> int:
    at_most = int(LARGEST_WARM_UP_SHARE * steps)
    if steps - at_most < FEWEST_STEPS:
        at_most = min(at_most, max(fewest, steps - FEWEST_STEPS))
    return at_most


def _block_steps(step_seconds: Array) -> int:
    typical = float(np.median(step_seconds))
    of_seconds = int(min(np.ceil(BLOCK_SECONDS / typical), len(step_seconds)))
    of_short_runs = max(SHORTEST_BLOCK_STEPS, len(step_seconds) // BLOCKS_OF_A_RUN)
    return min(max(BLOCK_STEPS, of_seconds), of_short_runs)


def _after_warm_up(measurements: Measurements) -> SteadyPart:
    steps = measurements.steps
    dropped, is_steady = warm_up_steps(steps.columns["step_seconds"])
    return SteadyPart(_window_after(steps, dropped), len(steps) - dropped, is_steady)


def _of_trace(measurements: Measurements) -> SteadyPart:
    steps = measurements.steps
    dropped = 1 if len(steps) >= STEPS_WITHOUT_THE_FIRST else 0
    # So few steps do not show whether they settled.
    return SteadyPart(
        _window_after(steps, dropped),
        len(steps) - dropped,
        is_steady=False,
        is_traced=True,
    )


def _window_after(steps: Steps, dropped: int) -> Window:
    """Return the time of all steps except the first `dropped`; at least one remains."""
    # The first remaining step began at the end of the one before it.
    first_end = int(steps.times[dropped])
    seconds = float(steps.columns["step_seconds"][0])
    start = (
        int(steps.times[dropped - 1])
        if dropped
        else first_end - max(1, int(seconds * 1_000_000))
    )
    return Window(start, int(steps.times[-1]))


def _working_part(measurements: Measurements, *, has_ended: bool) -> SteadyPart | None:
    span = measurements.span()
    if span is None:
        return None

    busy_cores = working_limit(measurements.facts.get("effective_cores"))
    working = [
        *_times_above(measurements.samples.get("job_cpu_cores"), busy_cores),
        *_times_above(
            measurements.samples.get("busiest_gpu_percent"), WORKING_GPU_PERCENT
        ),
    ]
    if not working:
        return SteadyPart(span, 0, is_steady=False)
    whole = Window(min(working) - 1, max(working))
    regimes = [_overlap(regime, whole) for regime in find_regimes(measurements)]
    long_enough = [each for each in regimes if each.seconds >= FEWEST_SECONDS]
    if long_enough:
        longest = max(long_enough, key=lambda window: window.seconds)
        whole = longest if has_ended else long_enough[-1]
    logged = len(measurements.within(whole).logged_steps)
    return SteadyPart(whole, 0, is_steady=True, logged_steps=logged)


def _overlap(one: Window, other: Window) -> Window:
    return Window(max(one.start, other.start), min(one.end, other.end))


def _times_above(samples: Samples | None, limit: float) -> list[int]:
    """Return the first and the last time above the limit, or an empty list."""
    if samples is None:
        return []
    above = samples.times[samples.values > limit]
    return [int(above[0]), int(above[-1])] if len(above) else []
