"""The logged data: steps with many metrics (standard library only).

Values are random for each point, so that no system gains from repetitions that real
training does not have.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, count
from math import exp

START = 1_767_225_600.0
# Seconds of a step, and how much steps differ.
STEP, STEP_SPREAD = 0.05, 0.002


@dataclass(frozen=True)
class Block:
    """Steps that share their times, and the values of each metric at them."""

    steps: list[int]
    times: list[float]  # seconds since 1970
    values: dict[str, list[float]]

    def rows(self) -> Iterator[tuple[int, float, dict[str, float]]]:
        """Yield each step with its time and its metrics."""
        names = list(self.values)
        columns = zip(*self.values.values(), strict=True)
        for step, time, row in zip(self.steps, self.times, columns, strict=True):
            yield step, time, dict(zip(names, row, strict=True))


def metric_names(metrics: int) -> list[str]:
    return [f"train/metric-{number}" for number in range(metrics)]


def blocks(*, metrics: int, steps: int, seed: int = 0) -> Iterator[Block]:
    """Yield blocks of `steps` steps, endlessly."""
    source = random.Random(seed)
    pauses = iter(lambda: source.gauss(STEP, STEP_SPREAD), None)
    clock = accumulate(pauses, initial=START)
    for first in count(0, steps):
        numbers = list(range(first, first + steps))
        yield Block(
            numbers,
            # A clock is read to the microsecond.
            [round(next(clock), 6) for _ in numbers],
            {name: _losses(numbers, source) for name in metric_names(metrics)},
        )


def _losses(steps: list[int], source: random.Random) -> list[float]:
    """Return values of a falling loss; results of a training step are float32."""
    values = [exp(-step / 3_000) + source.gauss(0, 0.05) for step in steps]
    return array("f", values).tolist()
