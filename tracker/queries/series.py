"""What charts and rules read: lines of few buckets, or all points of a series."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np

from tracker.models import Attribute, Kind, Run
from tracker.queries.attributes import storable
from tracker.series.downsample import Buckets, select
from tracker.series.lines import Axis, Choice, Window, choose, draw
from tracker.series.points import Floats, Points, concatenate
from tracker.series.store import (
    Summaries,
    consistently,
    read_chunks,
    read_overviews,
    read_summaries,
)

__all__ = [
    "Axis",
    "Line",
    "read_line",
    "read_lines",
    "read_many_points",
    "read_points",
]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A series as a chart draws it; when exact, each bucket is one point."""

    run_id: UUID
    path: str
    x: Floats
    mean: Floats
    minimum: Floats
    maximum: Floats
    exact: bool
    count: int  # points in the range


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One series of a chart: what was asked for, and where its points lie."""

    run_id: UUID
    path: str
    window: Window
    chunks: Summaries
    tail: Points
    choice: Choice

    def chosen(self, mask_name: str) -> list[int]:
        """Return the ids of the chunks to read in one of the choice's ways."""
        mask = getattr(self.choice, mask_name)
        return [self.chunks.ids[index] for index in np.flatnonzero(mask)]


def read_line(
    run: Run,
    path: str,
    *,
    axis: Axis = Axis.STEP,
    low: float | None = None,
    high: float | None = None,
    buckets: int = 500,
) -> Line:
    """Read a series in a range of its axis, both ends included."""
    return read_lines([(run, path)], axis=axis, low=low, high=high, buckets=buckets)[0]


def read_lines(
    wanted: Sequence[tuple[Run, str]],
    *,
    axis: Axis = Axis.STEP,
    low: float | None = None,
    high: float | None = None,
    buckets: int = 500,
) -> list[Line]:
    """Read series of any runs, in the order asked, with a handful of statements.

    A series that does not exist is a line without points.
    """
    run_ids = {run.id for run, _ in wanted}
    series_ids = _series_ids(run_ids, {path for _, path in wanted})
    bounds = (-np.inf if low is None else low, np.inf if high is None else high)

    def read(tails: Mapping[int, Points]) -> list[Line]:
        summaries = read_summaries(run_ids, series_ids.values())
        sources = []
        for run, path in wanted:
            series_id = series_ids.get((run.id, path), 0)
            chunks = summaries.get(series_id) or Summaries([], Buckets.empty())
            tail = tails.get(series_id, Points.empty())
            origin = _start(run, chunks.buckets, tail) if axis == Axis.RELATIVE else 0
            window = Window(axis, *bounds, max(1, buckets), origin)
            choice = choose(window, chunks.buckets, tail)
            sources.append(Source(run.id, path, window, chunks, tail, choice))
        return _draw(sources)

    return consistently(run_ids, read)


def read_points(run: Run, path: str) -> Points:
    """Read all points of a series, sorted by step."""
    return read_many_points(run, [path])[path]


def read_many_points(run: Run, paths: Collection[str]) -> dict[str, Points]:
    """Read all points of each series; one that does not exist has none."""
    series_ids = _series_ids({run.id}, paths)

    def read(tails: Mapping[int, Points]) -> dict[str, Points]:
        summaries = read_summaries({run.id}, series_ids.values())
        chunks = read_chunks([i for found in summaries.values() for i in found.ids])
        points = {}
        for path in paths:
            series_id = series_ids.get((run.id, path), 0)
            found = summaries.get(series_id)
            parts = [chunks[chunk_id] for chunk_id in found.ids] if found else []
            if series_id in tails:
                parts.append(tails[series_id])
            points[path] = concatenate(parts).sorted_by_step()
        return points

    return consistently({run.id}, read)


def _series_ids(
    run_ids: Collection[UUID], paths: Collection[str]
) -> dict[tuple[UUID, str], int]:
    series = Attribute.objects.filter(
        run_id__in=run_ids, path__in=storable(paths), kind=Kind.FLOAT_SERIES
    )
    rows = series.values_list("run_id", "path", "id")
    return {(run_id, path): series_id for run_id, path, series_id in rows}


def _start(run: Run, chunks: Buckets, tail: Points) -> int:
    """Return when the run started; where nobody knows, when the series did."""
    if run.started_at is not None:
        return (run.started_at - EPOCH) // timedelta(microseconds=1)
    times = np.r_[chunks.first_time, tail.times]
    return int(times.min()) if len(times) else 0


def _draw(sources: Sequence[Source]) -> list[Line]:
    """Read what was chosen, for all at once, and draw each."""
    overviews = read_overviews([i for s in sources for i in s.chosen("by_overview")])
    points = read_chunks([i for s in sources for i in s.chosen("by_points")])
    lines = []
    for source in sources:
        buckets = [overviews[i] for i in source.chosen("by_overview")]
        if source.choice.by_row.any():
            buckets.append(select(source.chunks.buckets, source.choice.by_row))
        parts = [points[i] for i in source.chosen("by_points")]
        drawn = draw(
            source.window,
            source.choice.bucket_width,
            buckets,
            [*parts, source.tail],
        )
        lines.append(
            Line(
                run_id=source.run_id,
                path=source.path,
                x=drawn.x,
                mean=drawn.mean,
                minimum=drawn.minimum,
                maximum=drawn.maximum,
                exact=drawn.exact,
                count=drawn.count,
            )
        )
    return lines
