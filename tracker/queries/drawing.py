"""Draws series of which it is known where their points lie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import compress
from uuid import UUID

import numpy as np

from tracker.models import Run
from tracker.series.downsample import Buckets, select
from tracker.series.lines import (
    Axis,
    Choice,
    Drawn,
    PointsRead,
    Window,
    choose,
    draw,
    draw_points,
    draw_table,
)
from tracker.series.points import Integers, Points, concatenate
from tracker.series.rewinds import Replaced, gone, touched, without
from tracker.series.store import Summaries, read_chunks, read_overviews
from tracker.series.table import Table

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Of so many series what is read of chunks is held in memory.
SERIES_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Range:
    """The part of an axis that is asked for, the same of all series."""

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
    """Where the points of one series lie, and what of them is read."""

    window: Window
    chunks: Summaries
    tail: Points
    choice: Choice
    replaced: Sequence[Replaced] = ()

    def chosen(self, mask_name: str) -> list[int]:
        """Return the ids of the chunks to read in one of the choice's ways."""
        mask = getattr(self.choice, mask_name)
        return list(compress(self.chunks.ids, mask.tolist()))


def start_of(run: Run, *times: Integers) -> int:
    """Return when the run started; where nobody knows, the first of these times."""
    if run.started_at is not None:
        return (run.started_at - EPOCH) // timedelta(microseconds=1)
    return min((int(some.min()) for some in times if len(some)), default=0)


def draw_together(
    asked: Range,
    runs: Mapping[int, Run],
    tables: Sequence[Table],
    *,
    beside: Collection[int],
) -> Iterator[tuple[int, Drawn]]:
    """Draw series that lie in one table and nowhere else, those of a table at once."""
    places = Counter(i for table in tables for i in table.series_ids.tolist())
    for table in tables:
        rows = [
            row
            for row, series_id in enumerate(table.series_ids.tolist())
            if places[series_id] == 1 and series_id not in beside
        ]
        if len(rows) < len(table.series_ids):
            table = table.rows(rows)  # noqa: PLW2901 - the rest is not looked at
        if rows:
            ids = table.series_ids.tolist()
            window = asked.window(runs[ids[0]], table.times)
            yield from zip(ids, draw_table(window, table), strict=True)


def source_of(
    asked: Range,
    run: Run,
    chunks: Summaries | None,
    tail: Points,
    replaced: Sequence[Replaced],
) -> Source:
    chunks = chunks or Summaries([], Buckets.empty())
    window = asked.window(run, chunks.buckets.first_time, tail.times)
    if not replaced:
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
    """Read what was chosen, for many at once but not for all, and draw each."""
    drawn: dict[int, Drawn] = {}
    items = list(sources.items())
    for start in range(0, len(items), SERIES_AT_ONCE):
        drawn |= _draw_some(run_ids, dict(items[start : start + SERIES_AT_ONCE]))
    return drawn


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
