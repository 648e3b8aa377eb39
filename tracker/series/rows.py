"""Makes rows of points: chunks, and the summary of a series."""

from __future__ import annotations

from dataclasses import fields
from uuid import UUID

import numpy as np

from tracker.models import Attribute, SeriesChunk
from tracker.series import codec
from tracker.series.codec import CHUNK_POINTS
from tracker.series.downsample import Buckets, merge, saturated, summarise
from tracker.series.points import Points

# What `add_to_summary` sets.
SUMMARY_FIELDS = [
    "updated_at",
    "number",
    "is_nan",
    "count",
    "finite_count",
    "minimum",
    "maximum",
    "total",
    "first_step",
    "last_step",
    "first_time",
    "last_time",
]


def make_chunks(run_id: UUID, series_id: int, points: Points) -> list[SeriesChunk]:
    """Cut points into full chunks, in order of step, and one that is open."""
    points = points.sorted_by_step()
    return [
        _make_chunk(run_id, series_id, points[start : start + CHUNK_POINTS])
        for start in range(0, len(points), CHUNK_POINTS)
    ]


def _make_chunk(run_id: UUID, series_id: int, points: Points) -> SeriesChunk:
    overview = summarise(points)
    whole = _whole(overview)
    return SeriesChunk(
        run_id=run_id,
        series_id=series_id,
        overview=codec.encode_overview(overview),
        data=codec.encode(points),
        is_open=len(points) < CHUNK_POINTS,
        **{field.name: _stored(whole, field.name) for field in fields(Buckets)},
    )


def add_to_summary(series: Attribute, new: Points) -> None:
    """Add points, sorted by step, to what the row knows about its series."""
    # Of points at the same step the latest counts.
    newest = (float(new.steps[-1]), int(new.times[-1]))
    if series.count == 0 or newest >= (series.last_step, series.last_time):
        last = float(new.values[-1])
        series.is_nan = bool(np.isnan(last))
        series.number = None if series.is_nan else last + 0

    whole = _whole(summarise(new))
    with np.errstate(over="ignore"):
        total = saturated(whole.total + series.total)
    series.total = float(total[0])
    series.count += int(whole.count[0])
    series.finite_count += int(whole.finite_count[0])
    for choose, names in (
        (min, ("minimum", "first_step", "first_time")),
        (max, ("maximum", "last_step", "last_time")),
    ):
        for name in names:
            both = (getattr(series, name), _stored(whole, name))
            known = [number for number in both if number is not None]
            setattr(series, name, choose(known, default=None))


def _whole(buckets: Buckets) -> Buckets:
    """Merge buckets into one."""
    return merge(buckets, position=buckets.first_step, width=0)


def _stored(whole: Buckets, name: str) -> float | int | None:
    """Return a column of one bucket; None for NaN, which SQLite cannot hold.

    Nor can it hold the sign of -0.0, which adding 0 takes off everywhere.
    """
    number: float | int = getattr(whole, name)[0].item()
    return None if np.isnan(number) else number + 0
