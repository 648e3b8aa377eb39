"""Chooses what of a series has to be read for a chart, and draws it (pure).

Three things stand for points, each coarser than the one before: the points
themselves, the drawing buckets of a chunk's overview, and the chunk's row. A chart
takes the coarsest that is no wider than one of its own buckets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from tracker.series import downsample
from tracker.series.downsample import (
    BUCKET_POINTS,
    Buckets,
    mean_of,
    merge,
    quiet,
    saturated,
    stretches,
    summarise,
)
from tracker.series.points import Floats, Integers, Points, concatenate

Mask = NDArray[np.bool_]

# Up to so many points, reading them all is as fast as reading overviews.
DECODED_POINTS = 65_536
# Up to so many points for each bucket asked for, a line has the points themselves.
EXACT_POINTS = 2


class Axis(StrEnum):
    STEP = "step"
    TIME = "time"  # milliseconds since 1970, as Plotly's date axes want them
    RELATIVE = "relative"  # seconds since the run started


@dataclass(frozen=True, slots=True)
class Window:
    """The part of an axis that is asked for, and into how many buckets."""

    axis: Axis
    low: float
    high: float
    buckets: int
    origin: int = 0  # where the relative axis starts, microseconds since 1970

    def x(self, steps: Floats, times: Integers) -> Floats:
        if self.axis == Axis.STEP:
            return steps
        if self.axis == Axis.TIME:
            return times / 1_000.0
        return (times - self.origin) / 1_000_000.0

    def ends(self, buckets: Buckets) -> tuple[Floats, Floats]:
        return (
            self.x(buckets.first_step, buckets.first_time),
            self.x(buckets.last_step, buckets.last_time),
        )

    def clip(self, points: Points) -> Points:
        x = self.x(points.steps, points.times)
        inside = (x >= self.low) & (x <= self.high)
        return points if inside.all() else points[inside]


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """One column for each bucket; when exact, each bucket is one point."""

    x: Floats
    mean: Floats
    minimum: Floats
    maximum: Floats
    exact: bool
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Which chunks to read as what; those that are in no mask lie outside."""

    by_row: Mask
    by_overview: Mask
    by_points: Mask
    bucket_width: float


def choose(window: Window, chunks: Buckets, tail: Points) -> Choice:
    """Choose for each chunk, given as one bucket; `tail` is in no chunk yet."""
    lows, highs = window.ends(chunks)
    inside = (highs >= window.low) & (lows <= window.high)
    tail = window.clip(tail)
    nothing = np.zeros(len(chunks), np.bool_)
    total = int(chunks.count[inside].sum()) + len(tail)
    tail_x = window.x(tail.steps, tail.times)
    if not total:
        return Choice(nothing, nothing, inside, 0.0)

    low = max(window.low, np.r_[lows[inside], tail_x].min())
    high = min(window.high, np.r_[highs[inside], tail_x].max())
    with np.errstate(over="ignore"):
        bucket_width = high / window.buckets - low / window.buckets
    if total <= max(DECODED_POINTS, EXACT_POINTS * window.buckets):
        return Choice(nothing, nothing, inside, bucket_width)

    uncut = inside & (lows >= window.low) & (highs <= window.high)
    with np.errstate(over="ignore"):
        widths = highs - lows
    by_row = uncut & (widths <= bucket_width)
    # About how wide a drawing bucket is; some may be wider, where points are rare.
    fine_widths = widths * np.minimum(1.0, BUCKET_POINTS / chunks.count)
    by_overview = uncut & ~by_row & (fine_widths <= bucket_width)
    return Choice(by_row, by_overview, inside & ~by_row & ~by_overview, bucket_width)


def draw(
    window: Window,
    bucket_width: float,
    buckets: Sequence[Buckets],
    parts: Sequence[Points],
) -> Drawn:
    """Draw what was read: buckets of any fineness, and points."""
    points = window.clip(concatenate(parts))
    if not buckets and len(points) <= EXACT_POINTS * window.buckets:
        return _draw_exactly(window, points)
    if not buckets:
        return _draw_points(window, bucket_width, points)

    pieces = downsample.concatenate([*buckets, summarise(points, size=1)])
    lows, highs = window.ends(pieces)
    merged = merge(pieces, position=lows / 2 + highs / 2, width=bucket_width)
    lows, highs = window.ends(merged)
    return Drawn(
        # Overlapping chunks can have middles that go back a little.
        x=np.maximum.accumulate(lows / 2 + highs / 2),
        mean=merged.mean,
        minimum=merged.minimum,
        maximum=merged.maximum,
        exact=False,
        count=int(merged.count.sum()),
    )


def _draw_points(window: Window, bucket_width: float, points: Points) -> Drawn:
    """Draw points alone: what follows from summarising each, in a sixth of the time."""
    x, values = window.x(points.steps, points.times), quiet(points.values)
    order, starts = stretches(x, bucket_width)
    if order is not None:
        x, values = x[order], values[order]
    finite = np.isfinite(values)
    with np.errstate(all="ignore"):
        total = saturated(np.add.reduceat(np.where(finite, values, 0.0), starts))
        minimum = np.fmin.reduceat(values, starts)
        maximum = np.fmax.reduceat(values, starts)
    finite_count = np.add.reduceat(finite, starts, dtype=np.int64)
    lows, highs = np.minimum.reduceat(x, starts), np.maximum.reduceat(x, starts)
    return Drawn(
        x=np.maximum.accumulate(lows / 2 + highs / 2),
        mean=mean_of(total, finite_count, minimum, maximum),
        minimum=minimum,
        maximum=maximum,
        exact=False,
        count=len(points),
    )


def _draw_exactly(window: Window, points: Points) -> Drawn:
    by_step = window.axis == Axis.STEP
    points = points.sorted_by_step() if by_step else points.sorted_by_time()
    return Drawn(
        x=window.x(points.steps, points.times),
        mean=points.values,
        minimum=points.values,
        maximum=points.values,
        exact=True,
        count=len(points),
    )
