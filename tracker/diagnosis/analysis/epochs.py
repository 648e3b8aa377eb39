"""Finds epochs: a loop that restarts leaves a gap between two steps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tracker.diagnosis.signals import Array, Samples

# Within a loop, the gap between two steps is only the time for logging.
SHORTEST_GAP_SECONDS = 0.002
SHORTEST_GAP_OF_STEP = 0.02

# Next to the gaps between epochs, a gap below this share of them is a delay of one step.
DELAY_SHARE = 0.10

# Loops whose lengths differ by more do not iterate over the same data.
LARGEST_DIFFERENCE = 0.05

FEWEST_EPOCHS = 2
# With fewer steps on average, the gaps are pauses between steps.
FEWEST_STEPS = 2

# The missing input in the answer of a rule that compares epochs.
EPOCHS = "two whole epochs over the same data"


@dataclass(frozen=True, slots=True)
class Epoch:
    """`rows` of the steps; times in seconds since 1970, including the gap before it."""

    rows: slice
    start: float
    end: float

    @property
    def steps(self) -> int:
        return int(self.rows.stop - self.rows.start)

    @property
    def seconds(self) -> float:
        return self.end - self.start

    def mean(self, samples: Samples) -> float | None:
        """Return the mean of the samples within the epoch; None without any."""
        edges = np.array((self.start, self.end)) * 1e6
        first, last = np.searchsorted(samples.times, edges, side="right")
        if first >= last:
            return None
        return float(samples.values[first:last].mean())


def epoch_starts(step_seconds: Array, gap_before_step_seconds: Array) -> list[int]:
    """Return the rows of the first step of each epoch except the first epoch."""
    if not len(step_seconds):
        return []
    least = max(
        SHORTEST_GAP_SECONDS, SHORTEST_GAP_OF_STEP * float(np.median(step_seconds))
    )
    starts = np.flatnonzero(gap_before_step_seconds[1:] >= least) + 1
    if len(step_seconds) < FEWEST_STEPS * (len(starts) + 1):
        return []
    return [int(row) for row in starts]


def find_epochs(
    step_seconds: Array, step_end_seconds: Array, gap_before_step_seconds: Array
) -> tuple[Epoch, ...]:
    """Return the complete epochs over the same data; empty if there are fewer than two.

    A shorter last epoch has not ended and is excluded.
    """
    starts = epoch_starts(step_seconds, gap_before_step_seconds)
    if not starts:
        return ()
    gaps = gap_before_step_seconds[starts]
    least = DELAY_SHARE * float(np.median(gaps))
    without_delays = [
        row for row, gap in zip(starts, gaps, strict=True) if gap >= least
    ]
    return _equal_loops(starts, step_seconds, step_end_seconds) or _equal_loops(
        without_delays, step_seconds, step_end_seconds
    )


def _equal_loops(
    starts: list[int], step_seconds: Array, step_end_seconds: Array
) -> tuple[Epoch, ...]:
    """Return the loops that begin at these rows, or () if their lengths differ."""
    edges = [0, *starts, len(step_seconds)]
    began = float(step_end_seconds[0] - step_seconds[0])
    ends = [began, *(float(step_end_seconds[row - 1]) for row in edges[1:])]
    epochs = [
        Epoch(slice(first, stop), ends[number], ends[number + 1])
        for number, (first, stop) in enumerate(pairwise(edges))
    ]
    usual = epochs[0].steps
    most = max(1.0, LARGEST_DIFFERENCE * usual)
    if epochs[-1].steps < usual - most:
        epochs.pop()
    if len(epochs) < FEWEST_EPOCHS or any(abs(e.steps - usual) > most for e in epochs):
        return ()
    return tuple(epochs)
