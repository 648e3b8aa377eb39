"""Downsamples series whose chunks are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import compress
from uuid import UUID

import numpy as np

from tracker.models import Run
from tracker.series import downsample
from tracker.series.codec import CHUNK_POINTS
from tracker.series.downsample import Buckets, select
from tracker.series.lines import (
    Axis,
    Choice,
    Drawn,
    PointsRead,
    Window,
    choose,
    draw,
    draw_gradually,
    draw_points,
    draw_table,
)
from tracker.series.points import Integers, Points, concatenate
from tracker.series.rewinds import Replaced, gone, touched, without
from tracker.series.store import Summaries, read_chunks, read_overviews
from tracker.series.table import Table

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Limits for the data held in memory: series and points. A longer series, for example with steps
# that restart in each epoch, is read in portions.
SERIES_AT_ONCE = 100
POINTS_AT_ONCE = 2_000_000
CHUNKS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Range:
    """The requested range of an axis, equal for all series."""

    axis: Axis = Axis.STEP
    low: float | None = None
    high: float | None = None
    buckets: int = 500
    is_steady: bool = False

    def window(self, run: Run, *times: Integers) -> Window:
        """Return the window of a series with these times."""
        return Window(
            self.axis,
            -np.inf if self.low is None else self.low,
            np.inf if self.high is None else self.high,
            max(1, self.buckets),
            start_of(run, *times) if self.axis == Axis.RELATIVE else 0,
            self.is_steady,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The location of a series' points, and the parts to read."""

    window: Window
    chunks: Summaries
    tail: Points
    choice: Choice
    replaced: Replaced | None = None

    @property
    def weight(self) -> int:
        """Its memory use while it is downsampled, in points."""
        return self.choice.weight(self.chunks.buckets) + len(self.tail)

    def chosen(self, mask_name: str) -> list[int]:
        """Return the ids of the chunks to read in one way of the choice."""
        mask = getattr(self.choice, mask_name)
        if not mask.any():
            return []
        return list(compress(self.chunks.ids, mask.tolist()))


def start_of(run: Run, *times: Integers) -> int:
    """Return the start of the run, or else the first of these times."""
    if run.started_at is not None:
        return (run.started_at - EPOCH) // timedelta(microseconds=1)
    return min((int(some.min()) for some in times if len(some)), default=0)


def draw_together(
    requested: Range,
    runs: Mapping[int, Run],
    tables: Sequence[Table],
    *,
    beside: Collection[int],
) -> Iterator[tuple[int, Drawn]]:
    """Downsample series that are in a single table only, all of a table together."""
    places = Counter(i for table in tables for i in table.series_ids.tolist())
    for table in tables:
        if table.tick_count > POINTS_AT_ONCE:
            continue  # read in portions instead
        rows = [
            row
            for row, series_id in enumerate(table.series_ids.tolist())
            if places[series_id] == 1 and series_id not in beside
        ]
        if len(rows) < len(table.series_ids):
            table = table.rows(rows)  # noqa: PLW2901 - the rest is not looked at
        if rows:
            ids = table.series_ids.tolist()
            window = requested.window(runs[ids[0]], table.times)
            yield from zip(ids, draw_table(window, table), strict=True)


def source_of(
    requested: Range,
    run: Run,
    chunks: Summaries | None,
    tail: Points,
    replaced: Replaced | None,
) -> Source:
    chunks = chunks or Summaries([], Buckets.empty())
    window = requested.window(run, chunks.buckets.first_time, tail.times)
    if replaced is None:
        return Source(window, chunks, tail, choose(window, chunks.buckets, tail))
    left = np.flatnonzero(~gone(chunks.buckets, replaced))
    chunks = Summaries([chunks.ids[i] for i in left], select(chunks.buckets, left))
    tail = without(tail, replaced)
    choice = choose(window, chunks.buckets, tail)
    choice = choice.by_points_alone(touched(chunks.buckets, replaced))
    return Source(window, chunks, tail, choice, replaced)


def draw_all(
    run_ids: Collection[UUID], sources: Mapping[int, Source]
) -> dict[int, Drawn]:
    """Read the chosen chunks in batches, and downsample each series."""
    drawn: dict[int, Drawn] = {}
    some: dict[int, Source] = {}
    batch_points = 0
    for series_id, source in sources.items():
        weight = source.weight
        if weight > POINTS_AT_ONCE:
            portions = _portions(run_ids, source)
            drawn[series_id] = draw_gradually(source.window, source.choice, portions)
            continue
        if len(some) == SERIES_AT_ONCE or batch_points + weight > POINTS_AT_ONCE:
            drawn |= _draw_some(run_ids, some)
            some, batch_points = {}, 0
        some[series_id] = source
        batch_points += weight
    return drawn | _draw_some(run_ids, some)


def _portions(run_ids: Collection[UUID], source: Source) -> Iterator[Buckets | Points]:
    """Read the chosen chunks of one series, a few at a time."""
    if source.choice.by_row.any():
        yield select(source.chunks.buckets, source.choice.by_row)
    for some in _few(source.chosen("by_overview")):
        yield downsample.concatenate([*read_overviews(run_ids, some).values()])
    for some in _few(source.chosen("by_points")):
        parts = read_chunks(run_ids, some).values()
        yield concatenate([without(part, source.replaced) for part in parts])
    for start in range(0, len(source.tail), CHUNKS_AT_ONCE * CHUNK_POINTS):
        # Replaced points are already removed from the tail.
        yield source.tail[start : start + CHUNKS_AT_ONCE * CHUNK_POINTS]


def _few(chunk_ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(chunk_ids), CHUNKS_AT_ONCE):
        yield chunk_ids[start : start + CHUNKS_AT_ONCE]


def _draw_some(
    run_ids: Collection[UUID], sources: Mapping[int, Source]
) -> dict[int, Drawn]:
    every = sources.values()
    overviews = read_overviews(
        run_ids, [i for source in every for i in source.chosen("by_overview")]
    )
    points = read_chunks(
        run_ids, [i for source in every for i in source.chosen("by_points")]
    )
    drawn: dict[int, Drawn] = {}
    alone: dict[int, PointsRead] = {}
    for series_id, source in sources.items():
        buckets = [overviews[i] for i in source.chosen("by_overview") if i in overviews]
        if source.choice.by_row.any():
            buckets.append(select(source.chunks.buckets, source.choice.by_row))
        parts = [
            without(points[i], source.replaced)
            for i in source.chosen("by_points")
            if i in points
        ]
        if len(source.tail):
            parts.append(source.tail)
        window, width = source.window, source.choice.bucket_width
        if buckets:
            drawn[series_id] = draw(window, width, buckets, parts)
        else:
            alone[series_id] = PointsRead(window, width, concatenate(parts))
    return drawn | dict(zip(alone, draw_points([*alone.values()]), strict=True))
