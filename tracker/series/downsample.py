"""Reduces points to buckets that keep the peaks, and merges buckets.

A bucket has the minimum and maximum of its values, so a chart drawn from both never
hides a spike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.series.points import Floats, Integers, Points

# Points per drawing bucket of a chunk's overview. Measured on float32 losses: 64 cost
# 0.34 bytes per point, 128 cost 0.18, next to 4.8 for the points themselves.
BUCKET_POINTS = 128

_QUIET_BIT = np.uint64(1 << 51)
_LARGEST = float(np.finfo(np.float64).max)
# Limit of stored totals: the sum of two is still a float.
LARGEST_TOTAL = _LARGEST / 2


@dataclass(frozen=True, slots=True, eq=False)
class Buckets:
    """Summaries of ranges of points, one per row of the columns.

    Minimum and maximum ignore NaN, and are NaN without other values; total and finite
    count also ignore infinities.
    """

    count: Integers
    finite_count: Integers
    minimum: Floats
    maximum: Floats
    total: Floats
    first_step: Floats  # minimum
    last_step: Floats  # maximum
    first_time: Integers
    last_time: Integers

    def __len__(self) -> int:
        return len(self.count)

    @staticmethod
    def empty() -> Buckets:
        return summarize(Points.empty())

    @property
    def mean(self) -> Floats:
        return mean_of(self.total, self.finite_count, self.minimum, self.maximum)


def mean_of(
    total: Floats, finite_count: Integers, minimum: Floats, maximum: Floats
) -> Floats:
    """Return means of the finite values; without any, the infinity or NaN."""
    mean = np.where(minimum == maximum, minimum, np.nan)
    np.divide(total, finite_count, out=mean, where=finite_count > 0)
    # Rounding and saturated totals can move a mean out of range.
    np.fmax(mean, minimum, out=mean, where=finite_count > 0)
    return np.fmin(mean, maximum, out=mean, where=finite_count > 0)


def summarize(points: Points, size: int = BUCKET_POINTS) -> Buckets:
    """Summarize each `size` consecutive points; `size` 1 keeps them all."""
    finite = np.isfinite(points.values)
    values = points.values if size == 1 else quiet(points.values)
    each = Buckets(
        count=np.ones(len(points), np.int64),
        finite_count=finite.astype(np.int64),
        minimum=values,
        maximum=values,
        total=np.where(finite, points.values, 0.0),
        first_step=points.steps,
        last_step=points.steps,
        first_time=points.times,
        last_time=points.times,
    )
    return each if size == 1 else _reduce(each, bucket_starts(len(points), size))


def bucket_starts(count: int, size: int = BUCKET_POINTS) -> NDArray[np.intp]:
    """Return the start of each bucket."""
    return np.arange(0, count, size)


def summarize_ticks(
    steps: Floats, times: Integers, starts: NDArray[np.intp]
) -> dict[str, NDArray[Any]]:
    """Return the columns of buckets that series of the same ticks share."""
    return {
        "count": np.diff(np.r_[starts, len(steps)]),
        "first_step": np.minimum.reduceat(steps, starts),
        "last_step": np.maximum.reduceat(steps, starts),
        "first_time": np.minimum.reduceat(times, starts),
        "last_time": np.maximum.reduceat(times, starts),
    }


def summarize_rows(values: Floats, starts: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
    """Return the other columns, with a row for each series."""
    values, finite = quiet(values), np.isfinite(values)
    with np.errstate(all="ignore"):
        if finite.all():
            counts = np.diff(np.r_[starts, values.shape[1]])
            finite_count = np.broadcast_to(counts, (len(values), len(starts)))
            total = np.add.reduceat(values, starts, axis=1)
        else:
            finite_count = np.add.reduceat(finite, starts, axis=1, dtype=np.int64)
            total = np.add.reduceat(np.where(finite, values, 0.0), starts, axis=1)
        minimum = np.fmin.reduceat(values, starts, axis=1)
        maximum = np.fmax.reduceat(values, starts, axis=1)
    return {
        "finite_count": finite_count,
        "minimum": minimum,
        "maximum": maximum,
        "total": saturated(total),
    }


def concatenate(parts: Sequence[Buckets]) -> Buckets:
    if not parts:
        return Buckets.empty()
    if len(parts) == 1:
        return parts[0]
    columns = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(Buckets)
    }
    return Buckets(**columns)


def select(buckets: Buckets, index: NDArray[np.bool_] | NDArray[np.intp]) -> Buckets:
    columns = {
        field.name: getattr(buckets, field.name)[index] for field in fields(Buckets)
    }
    return Buckets(**columns)


def merge(buckets: Buckets, position: Floats, width: float) -> Buckets:
    """Merge buckets in the same stretch of `width`, in order of position.

    Empty stretches have no bucket.
    """
    if not len(buckets):
        return buckets
    order, starts = stretches(position, width)
    return _reduce(buckets if order is None else select(buckets, order), starts)


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Buckets by stretch, in order, each stretch once."""

    buckets: Buckets
    place: Floats

    @staticmethod
    def nothing() -> Placed:
        return Placed(Buckets.empty(), np.empty(0))

    def joined(self, buckets: Buckets, place: Floats) -> Placed:
        """Merge with more buckets."""
        place = np.concatenate([self.place, place])
        if not len(place):
            return self
        buckets = concatenate([self.buckets, buckets])
        order, starts = _in_order(place)
        if order is not None:
            buckets, place = select(buckets, order), place[order]
        return Placed(_reduce(buckets, starts), place[starts])

    def joined_with_points(self, points: Points, place: Floats) -> Placed:
        """Merge with points, each in its stretch."""
        if not len(points):
            return self
        order, starts = _in_order(place)
        if order is not None:
            points, place = points[order], place[order]
        # Much faster than as buckets of one point each.
        rows = summarize_rows(points.values[np.newaxis], starts)
        own = {name: columns[0] for name, columns in rows.items()}
        shared = summarize_ticks(points.steps, points.times, starts)
        return self.joined(Buckets(**shared, **own), place[starts])


def stretches(
    position: Floats, width: float
) -> tuple[NDArray[np.intp] | None, NDArray[np.intp]]:
    """Return an order by stretches of `width`, and the start of each stretch in it.

    The order is None if already sorted. Needs at least one position.
    """
    return _in_order(stretch_of(position, width, position.min()))


def stretch_of(position: Floats, width: float, origin: float) -> Floats:
    """Return the stretch of `width` of each position, counted from the origin."""
    if not width > 0:
        return np.zeros(len(position))
    # Steps near the largest float overflow here, and the chart is still correct.
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.floor((position - origin) / width))


def _in_order(
    place: Floats,
) -> tuple[NDArray[np.intp] | None, NDArray[np.intp]]:
    order = None
    if np.any(place[1:] < place[:-1]):
        order = np.argsort(place, kind="stable")
        place = place[order]
    is_start = np.ones(len(place), np.bool_)
    np.not_equal(place[1:], place[:-1], out=is_start[1:])
    return order, np.flatnonzero(is_start)


def _reduce(buckets: Buckets, starts: NDArray[np.intp]) -> Buckets:
    """Merge the rows from each start to the next."""
    if not len(buckets):
        return buckets
    with np.errstate(all="ignore"):
        total = np.add.reduceat(buckets.total, starts)
        minimum = np.fmin.reduceat(quiet(buckets.minimum), starts)
        maximum = np.fmax.reduceat(quiet(buckets.maximum), starts)
    return Buckets(
        count=np.add.reduceat(buckets.count, starts),
        finite_count=np.add.reduceat(buckets.finite_count, starts),
        minimum=minimum,
        maximum=maximum,
        total=saturated(total),
        first_step=np.minimum.reduceat(buckets.first_step, starts),
        last_step=np.maximum.reduceat(buckets.last_step, starts),
        first_time=np.minimum.reduceat(buckets.first_time, starts),
        last_time=np.maximum.reduceat(buckets.last_time, starts),
    )


def quiet(values: Floats) -> Floats:
    """Return the values with quiet NaNs only: a signaling NaN affects its neighbors."""
    is_nan = np.isnan(values)
    if not is_nan.any():
        return values
    words = np.ascontiguousarray(values).view(np.uint64)
    quieted: Floats = np.where(is_nan, words | _QUIET_BIT, words).view(np.float64)
    return quieted


def saturated(totals: Floats) -> Floats:
    """Keep totals of finite numbers finite; infinity minus infinity would be NaN."""
    return np.nan_to_num(totals, nan=0.0, posinf=_LARGEST, neginf=-_LARGEST)
