"""What charts and rules read: lines of few buckets, or all points of a series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np

from tracker.models import Attribute, Kind, Run
from tracker.queries.attributes import storable
from tracker.series.downsample import Buckets, select
from tracker.series.lines import (
    NOTHING,
    Axis,
    Choice,
    Drawn,
    Window,
    choose,
    draw,
    draw_table,
)
from tracker.series.points import Floats, Integers, Points, concatenate
from tracker.series.store import (
    Summaries,
    Tails,
    consistently,
    read_chunks,
    read_overviews,
    read_summaries,
)
from tracker.series.table import Table
from tracker.statements import every_row, key, many

__all__ = [
    "Axis",
    "Line",
    "every_series",
    "read_line",
    "read_lines",
    "read_many_points",
    "read_points",
    "series_ids_of",
    "start_of",
]

SELECT_SERIES = (
    "SELECT run_id, path, id FROM tracker_attribute"
    " WHERE run_id IN ({runs}) AND path = ANY(%s) AND kind = %s"
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Of so many series what is read of chunks is held in memory.
SERIES_AT_ONCE = 100


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
    # Of which run each of them is.
    runs = {
        series_ids[run.id, path]: run
        for run, path in wanted
        if (run.id, path) in series_ids
    }
    asked = Range(axis, low, high, buckets, steady)

    def read(tails: Tails) -> dict[int, Drawn]:
        summaries = read_summaries(run_ids, runs)
        tables = tails.tables_of(runs)
        drawn = dict(_draw_together(asked, runs, tables, beside=summaries))
        tail = Tails(tables).points_of(runs.keys() - drawn.keys())
        sources = {
            series_id: _source(asked, runs[series_id], summaries.get(series_id), points)
            for series_id, points in tail.items()
        }
        return drawn | _draw(run_ids, sources)

    drawn = consistently(run_ids, read)
    return [
        _line(run, path, drawn.get(series_ids.get((run.id, path), 0), NOTHING))
        for run, path in wanted
    ]


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
        tail = tails.points_of(series_ids.values())
        points = {}
        for path in paths:
            series_id = series_ids.get((run.id, path), 0)
            found = summaries.get(series_id)
            parts = [chunks[i] for i in found.ids if i in chunks] if found else []
            if series_id in tail:
                parts.append(tail[series_id])
            points[path] = concatenate(parts).sorted_by_step()
        return points

    return consistently({run.id}, read)


def series_ids_of(
    run_ids: Collection[UUID], paths: Collection[str]
) -> dict[tuple[UUID, str], int]:
    asked = [many(storable(paths)), Kind.FLOAT_SERIES.value]
    # By the key as the database gives it, which need not be made a UUID each time.
    of_key = {key(run_id): run_id for run_id in run_ids}
    return {
        (of_key[run_key], path): series_id
        for run_key, path, series_id in every_row(SELECT_SERIES, asked, run_ids=run_ids)
    }


def every_series(runs: Sequence[Run], page: slice) -> list[tuple[Run, str]]:
    """Return some of all series of the runs, in order of path."""
    runs_by_id = {run.id: run for run in runs}
    series = Attribute.objects.filter(run_id__in=runs_by_id, kind=Kind.FLOAT_SERIES)
    rows = series.order_by("path", "run_id").values_list("run_id", "path")[page]
    return [(runs_by_id[run_id], path) for run_id, path in rows]


def start_of(run: Run, *times: Integers) -> int:
    """Return when the run started; where nobody knows, the first of these times."""
    if run.started_at is not None:
        return (run.started_at - EPOCH) // timedelta(microseconds=1)
    return min((int(some.min()) for some in times if len(some)), default=0)


def _draw_together(
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


def _source(asked: Range, run: Run, chunks: Summaries | None, tail: Points) -> Source:
    chunks = chunks or Summaries([], Buckets.empty())
    window = asked.window(run, chunks.buckets.first_time, tail.times)
    return Source(window, chunks, tail, choose(window, chunks.buckets, tail))


def _draw(run_ids: Collection[UUID], sources: Mapping[int, Source]) -> dict[int, Drawn]:
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
    drawn = {}
    for series_id, source in sources.items():
        buckets = [overviews[i] for i in source.chosen("by_overview") if i in overviews]
        if source.choice.by_row.any():
            buckets.append(select(source.chunks.buckets, source.choice.by_row))
        parts = [points[i] for i in source.chosen("by_points") if i in points]
        drawn[series_id] = draw(
            source.window,
            source.choice.bucket_width,
            buckets,
            [*parts, source.tail],
        )
    return drawn


def _line(run: Run, path: str, drawn: Drawn) -> Line:
    return Line(
        run_id=run.id,
        path=path,
        x=drawn.x,
        mean=drawn.mean,
        minimum=drawn.minimum,
        maximum=drawn.maximum,
        exact=drawn.exact,
        count=drawn.count,
    )
