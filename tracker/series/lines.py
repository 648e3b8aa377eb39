"""Selects the data to read of a series for a chart, and draws it (pure).

Points have three forms, from fine to coarse: the points themselves, the drawing buckets
of a chunk's overview, and the chunk's row. A chart uses the coarsest that is no wider
than one of its own buckets.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from tracker.series import downsample
from tracker.series.downsample import (
    BUCKET_POINTS,
    Buckets,
    Placed,
    mean_of,
    merge,
    stretch_of,
    stretches,
    summarize,
    summarize_rows,
)
from tracker.series.points import Floats, Integers, Points, concatenate
from tracker.series.table import Table

Mask = NDArray[np.bool_]

# Up to this many points, reading them all is as fast as reading overviews.
DECODED_POINTS = 65_536
# Up to this many points per requested bucket, a line consists of the points.
EXACT_POINTS = 2
# A drawing bucket takes the memory of three points.
OVERVIEW_SHARE = BUCKET_POINTS // 3
# Steady buckets double their width in this many steps.
WIDTHS = 4
LARGEST_WIDTH = 1e300
# Values summarized at a time, to fit into the CPU cache.
VALUES_AT_ONCE = 2**17


class Axis(StrEnum):
    STEP = "step"
    TIME = "time"  # milliseconds since 1970, as Plotly's date axes expect
    RELATIVE = "relative"  # seconds since the run started


@dataclass(frozen=True, slots=True)
class Window:
    """The requested range of an axis, and the number of buckets."""

    axis: Axis
    low: float
    high: float
    buckets: int
    origin: int = 0  # where the relative axis starts, microseconds since 1970
    # While a steady line grows, its buckets except the last stay unchanged, until there
    # would be too many.
    is_steady: bool = False

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

    def bucket_width(self, low: float, high: float) -> float:
        """Return the bucket width for points between these ends."""
        with np.errstate(over="ignore"):
            width = high / self.buckets - low / self.buckets
        return steady_width(width) if self.is_steady else width

    def clip(self, points: Points) -> Points:
        x = self.x(points.steps, points.times)
        inside = (x >= self.low) & (x <= self.high)
        return points if inside.all() else points[inside]


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """One item per bucket; when exact, each bucket is one point."""

    x: Floats
    mean: Floats
    minimum: Floats
    maximum: Floats
    exact: bool
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class PointsRead:
    """The points of a series that needs no buckets."""

    window: Window
    bucket_width: float
    points: Points


# For a series that does not exist.
_NONE = np.empty(0)
NOTHING = Drawn(_NONE, _NONE, _NONE, _NONE, exact=True, count=0)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """How to read each chunk; chunks in no mask are outside."""

    by_row: Mask
    by_overview: Mask
    by_points: Mask
    bucket_width: float
    # No point of the window is before it.
    origin: float = 0.0
    # Upper bound of the points in the window, from the rows.
    point_count: int = 0

    def weight(self, chunks: Buckets) -> int:
        """Return an upper bound of the memory for the chunks, in points."""
        if self.point_count <= DECODED_POINTS:
            return self.point_count  # as for most series, without adding up
        of_overviews = chunks.count[self.by_overview].sum() // OVERVIEW_SHARE
        return int(chunks.count[self.by_points].sum() + of_overviews)

    def by_points_alone(self, mask: Mask) -> Choice:
        """Return a choice that reads these chunks only as points."""
        coarse = self.by_row | self.by_overview
        return Choice(
            self.by_row & ~mask,
            self.by_overview & ~mask,
            self.by_points | (coarse & mask),
            self.bucket_width,
            self.origin,
            self.point_count,
        )


def choose(window: Window, chunks: Buckets, tail: Points) -> Choice:
    """Choose for each chunk, given as one bucket; `tail` is not in chunks yet."""
    lows, highs = window.ends(chunks)
    inside = (highs >= window.low) & (lows <= window.high)
    tail = window.clip(tail)
    nothing = np.zeros(len(chunks), np.bool_)
    total = int(chunks.count[inside].sum()) + len(tail)
    tail_x = window.x(tail.steps, tail.times)
    if not total:
        return Choice(nothing, nothing, inside, 0.0)

    low = max(
        window.low, min(part.min() for part in (lows[inside], tail_x) if len(part))
    )
    high = min(
        window.high, max(part.max() for part in (highs[inside], tail_x) if len(part))
    )
    bucket_width = window.bucket_width(low, high)
    if total <= max(DECODED_POINTS, EXACT_POINTS * window.buckets):
        return Choice(nothing, nothing, inside, bucket_width, low, total)

    uncut = inside & (lows >= window.low) & (highs <= window.high)
    with np.errstate(over="ignore"):
        widths = highs - lows
    by_row = uncut & (widths <= bucket_width)
    # Approximate width of a drawing bucket; sparse ones are wider.
    fine_widths = widths * np.minimum(1.0, BUCKET_POINTS / chunks.count)
    by_overview = uncut & ~by_row & (fine_widths <= bucket_width)
    by_points = inside & ~by_row & ~by_overview
    return Choice(by_row, by_overview, by_points, bucket_width, low, total)


def draw(
    window: Window,
    bucket_width: float,
    buckets: Sequence[Buckets],
    parts: Sequence[Points],
) -> Drawn:
    """Draw buckets of any width, and points."""
    if not buckets:
        return draw_points([PointsRead(window, bucket_width, concatenate(parts))])[0]

    points = window.clip(concatenate(parts))
    pieces = downsample.concatenate(
        [*buckets, summarize(points, size=1)] if len(points) else buckets
    )
    lows, highs = window.ends(pieces)
    merged = merge(pieces, position=lows / 2 + highs / 2, width=bucket_width)
    return _drawn(window, merged)


def draw_gradually(
    window: Window, choice: Choice, portions: Iterable[Buckets | Points]
) -> Drawn:
    """Draw portions one by one, keeping only the drawn buckets in memory.

    Like `draw`, except that the first bucket begins at the origin of the choice.
    """
    placed = Placed.nothing()
    few = Points.empty()
    for portion in portions:
        if isinstance(portion, Points):
            few = concatenate([few, window.clip(portion)])
        else:
            placed = placed.joined(portion, _places(window, choice, portion))
        if len(few) > EXACT_POINTS * window.buckets:
            placed = _with_points(placed, window, choice, few)
            few = Points.empty()
    if not len(placed.buckets):
        return draw_points([PointsRead(window, choice.bucket_width, few)])[0]
    return _drawn(window, _with_points(placed, window, choice, few).buckets)


def _with_points(
    placed: Placed, window: Window, choice: Choice, points: Points
) -> Placed:
    x = window.x(points.steps, points.times)
    place = stretch_of(x, choice.bucket_width, choice.origin)
    return placed.joined_with_points(points, place)


def _places(window: Window, choice: Choice, buckets: Buckets) -> Floats:
    lows, highs = window.ends(buckets)
    return stretch_of(lows / 2 + highs / 2, choice.bucket_width, choice.origin)


def _drawn(window: Window, merged: Buckets) -> Drawn:
    lows, highs = window.ends(merged)
    return Drawn(
        # Middles of overlapping chunks can decrease slightly.
        x=np.maximum.accumulate(lows / 2 + highs / 2),
        mean=merged.mean,
        minimum=merged.minimum,
        maximum=merged.maximum,
        exact=False,
        count=int(merged.count.sum()),
    )


def draw_points(series: Sequence[PointsRead]) -> list[Drawn]:
    """Draw series with equal positions together, for example of similar runs."""
    clipped = [each.window.clip(each.points) for each in series]
    places = [
        each.window.x(points.steps, points.times)
        for each, points in zip(series, clipped, strict=True)
    ]
    drawn = [NOTHING] * len(series)
    for group in _alike(series, places):
        first, x = series[group[0]], places[group[0]]
        if len(x) <= EXACT_POINTS * first.window.buckets:
            table = _table_of_one(clipped[group[0]])
            lines = _draw_exactly(first.window, table)
        else:
            values = [clipped[number].values for number in group]
            lines = _draw_buckets(x, values, first.bucket_width)
        for number, line in zip(group, lines, strict=True):
            drawn[number] = line
    return drawn


def _alike(series: Sequence[PointsRead], places: Sequence[Floats]) -> list[list[int]]:
    """Return groups of series with equal positions; exact ones alone."""
    groups: list[list[int]] = []
    # Each is compared only with the last similar group.
    resembling: dict[Hashable, list[int]] = {}
    for number, (each, x) in enumerate(zip(series, places, strict=True)):
        if len(x) <= EXACT_POINTS * each.window.buckets:
            groups.append([number])
            continue
        likeness = each.window, each.bucket_width, len(x), x[0].item(), x[-1].item()
        group = resembling.get(likeness)
        if group is None or not np.array_equal(places[group[0]], x):
            group = resembling[likeness] = []
            groups.append(group)
        group.append(number)
    return groups


def draw_table(window: Window, table: Table) -> list[Drawn]:
    """Draw series that are in no chunk yet, each as if drawn alone."""
    x = window.x(table.steps, table.times)
    inside = (x >= window.low) & (x <= window.high)
    if not inside.all():
        table, x = table.ticks(inside), x[inside]
    width = window.bucket_width(float(x.min()), float(x.max())) if len(x) else 0.0
    return _draw_rows(window, width, table)


def steady_width(width: float) -> float:
    """Return the next larger of a few widths, so that growth rarely changes it."""
    if not 0 < width < LARGEST_WIDTH:
        return width
    return math.exp2(math.ceil(math.log2(width) * WIDTHS) / WIDTHS)


def _draw_rows(window: Window, bucket_width: float, table: Table) -> list[Drawn]:
    if table.tick_count <= EXACT_POINTS * window.buckets:
        return _draw_exactly(window, table)
    return _draw_buckets(
        window.x(table.steps, table.times), list(table.values), bucket_width
    )


def _draw_buckets(
    x: Floats, rows: Sequence[Floats], bucket_width: float
) -> list[Drawn]:
    """Draw as if each point were a bucket, but much faster."""
    order, starts = stretches(x, bucket_width)
    if order is not None:
        x = x[order]
    lows, highs = np.minimum.reduceat(x, starts), np.maximum.reduceat(x, starts)
    middles = np.maximum.accumulate(lows / 2 + highs / 2)
    lines: list[Drawn] = []
    rows_at_once = max(1, VALUES_AT_ONCE // len(x))
    for first in range(0, len(rows), rows_at_once):
        values = np.array(rows[first : first + rows_at_once])
        if order is not None:
            values = values[:, order]
        found = summarize_rows(values, starts)
        minimum, maximum = found["minimum"], found["maximum"]
        mean = mean_of(found["total"], found["finite_count"], minimum, maximum)
        lines += [
            Drawn(middles, *columns, exact=False, count=len(x))
            for columns in zip(mean, minimum, maximum, strict=True)
        ]
    return lines


def _draw_exactly(window: Window, table: Table) -> list[Drawn]:
    by_step = window.axis == Axis.STEP
    table = table.sorted_by_step() if by_step else table.sorted_by_time()
    x = window.x(table.steps, table.times)
    return [
        Drawn(x, values, values, values, exact=True, count=len(x))
        for values in table.values
    ]


def _table_of_one(points: Points) -> Table:
    unnamed = np.zeros(1, np.int64)
    return Table(unnamed, points.steps, points.times, points.values[np.newaxis])
