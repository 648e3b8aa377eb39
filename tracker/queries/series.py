"""What charts and rules read: lines of few buckets, or all points of a series."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
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
    Tails,
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
    "series_ids_of",
    "start_of",
]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# In so many steps do steady buckets become twice as wide.
WIDTHS = 4
LARGEST_WIDTH = 1e300


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
    steady: bool = False,
) -> Line:
    """Read a series in a range of its axis, both ends included."""
    wanted = [(run, path)]
    return read_lines(
        wanted, axis=axis, low=low, high=high, buckets=buckets, steady=steady
    )[0]


def read_lines(
    wanted: Sequence[tuple[Run, str]],
    *,
    axis: Axis = Axis.STEP,
    low: float | None = None,
    high: float | None = None,
    buckets: int = 500,
    steady: bool = False,
) -> list[Line]:
    """Read series of any runs, in the order asked, with a handful of statements.

    A series that does not exist is a line without points. While a steady line grows,
    its buckets but for the last stay as they are, until there would be too many.
    """
    run_ids = {run.id for run, _ in wanted}
    series_ids = series_ids_of(run_ids, {path for _, path in wanted})
    bounds = (-np.inf if low is None else low, np.inf if high is None else high)

    def read(tails: Tails) -> list[Line]:
        summaries = read_summaries(run_ids, series_ids.values())
        sources = []
        for run, path in wanted:
            series_id = series_ids.get((run.id, path), 0)
            chunks = summaries.get(series_id) or Summaries([], Buckets.empty())
            tail = tails[series_id]
            origin = start_of(run, chunks.buckets, tail) if axis == Axis.RELATIVE else 0
            window = Window(axis, *bounds, max(1, buckets), origin)
            choice = choose(window, chunks.buckets, tail)
            if steady:
                width = steady_width(choice.bucket_width)
                choice = replace(choice, bucket_width=width)
            sources.append(Source(run.id, path, window, chunks, tail, choice))
        return _draw(run_ids, sources)

    return consistently(run_ids, read)


def read_points(run: Run, path: str) -> Points:
    """Read all points of a series, sorted by step."""
    return read_many_points(run, [path])[path]


def read_many_points(run: Run, paths: Collection[str]) -> dict[str, Points]:
    """Read all points of each series; one that does not exist has none."""
    series_ids = series_ids_of({run.id}, paths)

    def read(tails: Tails) -> dict[str, Points]:
        summaries = read_summaries({run.id}, series_ids.values())
        ids = [i for found in summaries.values() for i in found.ids]
        chunks = read_chunks({run.id}, ids)
        points = {}
        for path in paths:
            series_id = series_ids.get((run.id, path), 0)
            found = summaries.get(series_id)
            parts = [chunks[i] for i in found.ids if i in chunks] if found else []
            points[path] = concatenate([*parts, tails[series_id]]).sorted_by_step()
        return points

    return consistently({run.id}, read)


def series_ids_of(
    run_ids: Collection[UUID], paths: Collection[str]
) -> dict[tuple[UUID, str], int]:
    series = Attribute.objects.filter(
        run_id__in=run_ids, path__in=storable(paths), kind=Kind.FLOAT_SERIES
    )
    rows = series.values_list("run_id", "path", "id")
    return {(run_id, path): series_id for run_id, path, series_id in rows}


def steady_width(width: float) -> float:
    """Return the next larger of a few widths, so that growing keeps it for a while."""
    if not 0 < width < LARGEST_WIDTH:
        return width
    return math.exp2(math.ceil(math.log2(width) * WIDTHS) / WIDTHS)


def start_of(run: Run, chunks: Buckets, tail: Points) -> int:
    """Return when the run started; where nobody knows, when the series did."""
    if run.started_at is not None:
        return (run.started_at - EPOCH) // timedelta(microseconds=1)
    times = np.r_[chunks.first_time, tail.times]
    return int(times.min()) if len(times) else 0


def _draw(run_ids: Collection[UUID], sources: Sequence[Source]) -> list[Line]:
    """Read what was chosen, for all at once, and draw each."""
    overview_ids = [i for s in sources for i in s.chosen("by_overview")]
    overviews = read_overviews(run_ids, overview_ids)
    points = read_chunks(run_ids, [i for s in sources for i in s.chosen("by_points")])
    lines = []
    for source in sources:
        buckets = [overviews[i] for i in source.chosen("by_overview") if i in overviews]
        if source.choice.by_row.any():
            buckets.append(select(source.chunks.buckets, source.choice.by_row))
        parts = [points[i] for i in source.chosen("by_points") if i in points]
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
