"""Divides a stage without steps into periods of constant activity.

The usage (GPU time, GPU memory, power, cores) is cut where it changes for at least 20 seconds.
Neighboring segments without a jump between them are merged, as in a slow rise; so is everything
between two similar working segments, for example if loading and computing alternate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tracker.diagnosis.analysis.change_points import change_points, noise_of
from tracker.diagnosis.engine.measurements import MICROSECONDS, Measurements, Window
from tracker.diagnosis.signals import Array, Samples

SHORTEST_SECONDS = 20.0
FEWEST_ROWS = 5
MAX_ROWS = 1_000

# A stage works while it uses this share of its cores, or of a GPU's time.
WORKING_CPU_SHARE = 0.20
WORKING_CPU_CORES = 0.20  # if the number of cores is unknown
WORKING_GPU_PERCENT = 5.0
# One sample in twenty may be higher.
WORKING_PERCENTILE = 95.0

# A small change: in GPU utilization, and relative to the maximum of other signals.
SMALL_PERCENT = 10.0
SMALL_SHARE = 0.10
# Number of small changes, or of noise units if larger, that make a jump or a new level.
NOTABLE_CHANGE = 2.0
# Time on either side of a cut in which a jump is looked for.
BORDER_SECONDS = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Usage:
    """The usage of a stage, in rows of equal duration.

    `levels` are in units of small changes; `is_working` has one value per row.
    """

    span: Window
    row_seconds: float
    levels: Array
    is_working: NDArray[np.bool_]

    def window(self, first: int, last: int) -> Window:
        """Return the time from the start of row `first` to the start of row `last`."""
        row = self.row_seconds * MICROSECONDS
        is_end = last >= len(self.is_working)
        return Window(
            self.span.start + round(first * row),
            self.span.end if is_end else self.span.start + round(last * row),
        )


def find_regimes(measurements: Measurements) -> list[Window]:
    """Return the periods in which the stage works, in order of time."""
    span = measurements.span()
    if span is None:
        return []
    usage = _usage(measurements, span)
    shortest = max(FEWEST_ROWS, math.ceil(SHORTEST_SECONDS / usage.row_seconds))
    cuts = change_points(usage.levels, shortest=shortest)
    edges = _without_slow_changes(usage, [0, *cuts, len(usage.levels)])
    return [usage.window(*part) for part in _working_parts(usage, edges)]


def working_limit(effective_cores: object) -> float:
    """Return the minimum number of cores that a working stage uses."""
    if isinstance(effective_cores, int | float) and effective_cores > 0:
        return WORKING_CPU_SHARE * effective_cores
    return WORKING_CPU_CORES


def _usage(measurements: Measurements, span: Window) -> Usage:
    row_seconds = max(1.0, span.seconds / MAX_ROWS)
    rows = max(1, math.ceil(span.seconds / row_seconds))

    def in_rows(samples: Samples | None) -> Array | None:
        return _in_rows(samples, span, row_seconds, rows)

    busiest = in_rows(measurements.samples.get("busiest_gpu_percent"))
    cpu = in_rows(measurements.samples.get("job_cpu_cores"))
    of_gpus = [
        _sum_of(
            [
                in_rows(value)
                for signals in measurements.gpus.values()
                if isinstance(value := signals.get(name), Samples)
            ]
        )
        for name in ("gpu_memory_used_bytes", "gpu_power_mean_watts")
    ]
    columns = [
        *([_in_small_changes(busiest, SMALL_PERCENT)] if busiest is not None else []),
        *(
            _in_small_changes(column, SMALL_SHARE * float(np.abs(column).max()))
            for column in (cpu, *of_gpus)
            if column is not None
        ),
    ]
    is_working = np.zeros(rows, np.bool_)
    if busiest is not None:
        is_working |= busiest > WORKING_GPU_PERCENT
    if cpu is not None:
        is_working |= cpu > working_limit(measurements.facts.get("effective_cores"))
    levels = np.column_stack(columns) if columns else np.empty((rows, 0))
    return Usage(span, row_seconds, levels, is_working)


def _in_rows(
    samples: Samples | None, span: Window, row_seconds: float, rows: int
) -> Array | None:
    """Return the mean of the samples in each row; rows without a sample repeat the previous."""
    if samples is None or not len(samples.times):
        return None
    # A sample describes the time before it.
    since = (samples.times - span.start - 1) / (row_seconds * MICROSECONDS)
    row = np.clip(since.astype(np.int64), 0, rows - 1)
    counts = np.bincount(row, minlength=rows)
    sums = np.bincount(row, weights=samples.values, minlength=rows)
    is_read = counts > 0
    means = np.divide(sums, counts, out=np.zeros(rows), where=is_read)
    latest = np.maximum.accumulate(np.where(is_read, np.arange(rows), 0))
    # Rows before the first sample have its value.
    latest = np.maximum(latest, int(np.argmax(is_read)))
    return np.asarray(means[latest], np.float64)


def _sum_of(columns: list[Array | None]) -> Array | None:
    known = [column for column in columns if column is not None]
    return np.asarray(np.sum(known, axis=0), np.float64) if known else None


def _in_small_changes(column: Array, small: float) -> Array:
    unit = max(small, noise_of(column))
    return column / unit if unit > 0 else np.zeros(len(column))


def _without_slow_changes(usage: Usage, edges: list[int]) -> list[int]:
    """Keep the cuts with a jump; the others are parts of a slow rise."""
    beside = max(1, round(BORDER_SECONDS / usage.row_seconds))
    kept = [edges[0]]
    for before, cut, after in zip(edges, edges[1:], edges[2:], strict=False):
        left = usage.levels[max(before, cut - beside) : cut]
        right = usage.levels[cut : min(after, cut + beside)]
        if _differ(left, right):
            kept.append(cut)
    return [*kept, edges[-1]]


def _working_parts(usage: Usage, edges: list[int]) -> list[tuple[int, int]]:
    """Return the first and last row of each period in which the stage works."""
    working = [
        (first, last)
        for first, last in pairwise(edges)
        if _is_working(usage, first, last)
    ]
    parts: list[tuple[int, int]] = []
    place = 0
    while place < len(working):
        end = _last_alike(usage, working, place)
        parts.append((working[place][0], working[end][1]))
        place = end + 1
    return parts


def _last_alike(usage: Usage, working: list[tuple[int, int]], place: int) -> int:
    """Return the last segment that is similar to one from `place` up to itself."""
    end, seen = place, place
    while seen <= end:
        first, last = working[seen]
        alike = [
            later
            for later in range(end + 1, len(working))
            if not _differ(
                usage.levels[first:last], usage.levels[slice(*working[later])]
            )
        ]
        end = max([end, *alike])
        seen += 1
    return end


def _is_working(usage: Usage, first: int, last: int) -> bool:
    share = float(np.mean(usage.is_working[first:last]))
    return share > 1.0 - WORKING_PERCENTILE / 100.0


def _differ(left: Array, right: Array) -> bool:
    between = np.abs(np.median(left, axis=0) - np.median(right, axis=0))
    return bool(np.any(between > NOTABLE_CHANGE))
