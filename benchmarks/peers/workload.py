"""The logged data: blocks of steps with many metrics (standard library only).

Values are random for each point, so that no system gains from repetitions that real
training does not have.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, count
from math import e, exp, log2, pi, sqrt

START = 1_767_225_600.0
# Kinds of values, and with them the rhythm of the steps.
LOSS, CONSTANT, HARDWARE = "loss", "constant", "hardware"
KINDS = (LOSS, CONSTANT, HARDWARE)
LEARNING_RATE = 3e-4
LOAD_PERCENT, LOAD_SPREAD = 70.0, 8.0
# In seconds: a step, how much steps differ, and by how much a reading may be late.
STEP, STEP_SPREAD, LATENESS = 0.05, 0.002, 0.0002
# Default for outliers; not modified.
NOTHING: Mapping[int, float] = {}


@dataclass(frozen=True)
class Block:
    """Steps that share their times, and the values of each metric at them."""

    steps: list[int]
    times: list[float]  # seconds since 1970
    values: dict[str, list[float]]

    def __len__(self) -> int:
        return len(self.steps) * len(self.values)

    def rows(self) -> Iterator[tuple[int, float, dict[str, float]]]:
        """Yield each step with its time and its metrics, as most trackers take them."""
        names = list(self.values)
        columns = zip(*self.values.values(), strict=True)
        for step, time, row in zip(self.steps, self.times, columns, strict=True):
            yield step, time, dict(zip(names, row, strict=True))


def metric_names(metrics: int) -> list[str]:
    return [f"train/metric-{number}" for number in range(metrics)]


def blocks(
    *,
    metrics: int,
    steps: int,
    kind: str = LOSS,
    seed: int = 0,
    planted: Mapping[int, float] = NOTHING,
) -> Iterator[Block]:
    """Yield blocks of `steps` steps, endlessly.

    Planted outliers, by step, replace each metric's own value.
    """
    source = random.Random(seed)
    clock = accumulate(_pauses(kind, source), initial=START)
    for first in count(0, steps):
        numbers = list(range(first, first + steps))
        yield Block(
            numbers,
            # A clock is read to the microsecond.
            [round(next(clock), 6) for _ in numbers],
            {
                name: _with(planted, numbers, _values(kind, numbers, source))
                for name in metric_names(metrics)
            },
        )


def _with(
    planted: Mapping[int, float], steps: list[int], values: list[float]
) -> list[float]:
    for step, value in planted.items():
        if steps[0] <= step <= steps[-1]:
            values[step - steps[0]] = value
    return values


def _pauses(kind: str, source: random.Random) -> Iterator[float]:
    if kind == HARDWARE:
        return _ticks(source)
    return iter(lambda: source.gauss(STEP, STEP_SPREAD), None)


def least_bytes_of_a_time(kind: str) -> float:
    """Return the entropy of a time, to the microsecond, once those before are known.

    That of a normal or an even distribution; no lossless coding takes less on average.
    """
    if kind == HARDWARE:
        return log2(2e6 * LATENESS) / 8
    return log2(1e6 * STEP_SPREAD * sqrt(2 * pi * e)) / 8


def _ticks(source: random.Random) -> Iterator[float]:
    """Yield pauses of a second with jitter that does not accumulate."""
    before = 0.0
    while True:
        late = source.uniform(-LATENESS, LATENESS)
        yield 1.0 + late - before
        before = late


def _values(kind: str, steps: list[int], source: random.Random) -> list[float]:
    if kind == CONSTANT:
        return [LEARNING_RATE] * len(steps)
    if kind == HARDWARE:
        return [
            round(min(max(source.gauss(LOAD_PERCENT, LOAD_SPREAD), 0.0), 100.0), 1)
            for _ in steps
        ]
    # Results of a training step are float32.
    return array(
        "f", [exp(-step / 3_000) + source.gauss(0, 0.05) for step in steps]
    ).tolist()
