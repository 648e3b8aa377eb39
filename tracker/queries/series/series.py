"""Series for charts and rules: lines with few buckets, or all points."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from django.db.models import Q

from tracker.models import Attribute, Kind, Run
from tracker.queries.run.attributes import storable
from tracker.queries.series.drawing import (
    Range,
    draw_all,
    draw_together,
    source_of,
    start_of,
)
from tracker.queries.series.rewinds import read_replaced
from tracker.series.lines import (
    NOTHING,
    Axis,
    Drawn,
)
from tracker.series.points import Floats, Points, concatenate
from tracker.series.rewinds import Replaced, without
from tracker.series.store import Summaries, read_chunks
from tracker.series.tails import Tails, consistently
from tracker.server.statements import every_row, key, many

__all__ = [
    "Axis",
    "Line",
    "every_series",
    "read_and_take",
    "read_line",
    "read_lines",
    "read_many_points",
    "read_points",
    "series_ids_of",
    "start_of",
]

Taken = TypeVar("Taken")

# Points of several series that are read together, about 24 bytes each.
POINTS_AT_ONCE = 1_000_000

SELECT_SERIES = (
    "SELECT run_id, path, id FROM tracker_attribute"
    " WHERE run_id IN ({runs}) AND path = ANY(%s) AND kind = %s"
)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A downsampled series for a chart; if `exact`, each bucket is one point."""

    run_id: UUID
    path: str
    x: Floats
    mean: Floats
    minimum: Floats
    maximum: Floats
    exact: bool
    count: int  # points in the range


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
    requested = [(run, path)]
    return read_lines(
        requested, axis=axis, low=low, high=high, buckets=buckets, steady=steady
    )[0]


def read_lines(
    requested: Sequence[tuple[Run, str]],
    *,
    axis: Axis = Axis.STEP,
    low: float | None = None,
    high: float | None = None,
    buckets: int = 500,
    steady: bool = False,
) -> list[Line]:
    """Read series of any runs, in the given order, with a few statements.

    A series that does not exist is a line without points. While a steady line grows, all of its
    buckets except the last stay unchanged, until there would be too many.
    """
    run_ids = {run.id for run, _ in requested}
    series_ids = series_ids_of(run_ids, {path for _, path in requested})
    # The run of each series.
    runs = {
        series_ids[run.id, path]: run
        for run, path in requested
        if (run.id, path) in series_ids
    }
    axis_range = Range(axis, low, high, buckets, steady)
    replaced = _replaced(series_ids, {run for run, _ in requested})

    def read(tails: Tails, summaries: dict[int, Summaries]) -> dict[int, Drawn]:
        tables = tails.tables_of(runs)
        beside = summaries.keys() | replaced.keys()
        drawn = dict(draw_together(axis_range, runs, tables, beside=beside))
        tail = Tails(tables).points_of(runs.keys() - drawn.keys())
        sources = {
            series_id: source_of(
                axis_range,
                runs[series_id],
                summaries.get(series_id),
                points,
                replaced.get(series_id),
            )
            for series_id, points in tail.items()
        }
        return drawn | draw_all(run_ids, sources)

    drawn = consistently(run_ids, runs, read)
    return [
        _line(run, path, drawn.get(series_ids.get((run.id, path), 0), NOTHING))
        for run, path in requested
    ]


def read_points(run: Run, path: str) -> Points:
    """Read all points of a series, sorted by step."""
    return read_many_points(run, [path])[path]


def read_many_points(run: Run, paths: Collection[str]) -> dict[str, Points]:
    """Read all points of each series; a series that does not exist has none."""
    return read_and_take(run, paths, lambda _, points: points)


def read_and_take(
    run: Run, paths: Collection[str], take: Callable[[str, Points], Taken]
) -> dict[str, Taken]:
    """Read all points of each series in the given order, and return the results of `take`.

    Only one long series is held in memory at a time. `take` may be called again for all series
    if the read is repeated.
    """
    series_ids = series_ids_of({run.id}, paths)
    replaced = _replaced(series_ids, {run})

    def read(tails: Tails, summaries: dict[int, Summaries]) -> dict[str, Taken]:
        tail = tails.points_of(series_ids.values())
        taken = {}
        for some in _groups(run, paths, series_ids, summaries):
            ids = [series_ids.get((run.id, path), 0) for path in some]
            chunk_ids = [i for s in ids if s in summaries for i in summaries[s].ids]
            chunks = read_chunks({run.id}, chunk_ids)
            for path, series_id in zip(some, ids, strict=True):
                found = summaries.get(series_id)
                parts = [chunks[i] for i in found.ids if i in chunks] if found else []
                if series_id in tail:
                    parts.append(tail[series_id])
                points = without(concatenate(parts), replaced.get(series_id))
                taken[path] = take(path, points.sorted_by_step())
        return taken

    return consistently({run.id}, series_ids.values(), read)


def _groups(
    run: Run,
    paths: Collection[str],
    series_ids: Mapping[tuple[UUID, str], int],
    summaries: Mapping[int, Summaries],
) -> Iterator[list[str]]:
    """Yield groups of series whose chunks are read together; a long series is alone."""
    some: list[str] = []
    points = 0
    for path in paths:
        found = summaries.get(series_ids.get((run.id, path), 0))
        count = int(found.buckets.count.sum()) if found else 0
        if some and points + count > POINTS_AT_ONCE:
            yield some
            some, points = [], 0
        some.append(path)
        points += count
    if some:
        yield some


def series_ids_of(
    run_ids: Collection[UUID], paths: Collection[str]
) -> dict[tuple[UUID, str], int]:
    parameters = [many(storable(paths)), Kind.FLOAT_SERIES.value]
    # Compares keys in the database's format, which avoids creating UUID objects.
    of_key = {key(run_id): run_id for run_id in run_ids}
    return {
        (of_key[run_key], path): series_id
        for run_key, path, series_id in every_row(
            SELECT_SERIES, parameters, run_ids=run_ids
        )
    }


def _replaced(
    series_ids: Mapping[tuple[UUID, str], int], runs: Collection[Run]
) -> dict[int, Replaced]:
    """Return the replaced ranges of series, by series id."""
    found = read_replaced(runs, {path for _, path in series_ids})
    return {
        series_ids[place]: replaced
        for place, replaced in found.items()
        if place in series_ids
    }


def every_series(
    runs: Sequence[Run], *, after: tuple[str, UUID] | None, limit: int
) -> list[tuple[Run, str]]:
    """Return some of all series of the runs, by path and then by run.

    `after` is the last one of the previous page, so series that are added meanwhile neither repeat
    nor hide others.
    """
    runs_by_id = {run.id: run for run in runs}
    series = Attribute.objects.filter(run_id__in=runs_by_id, kind=Kind.FLOAT_SERIES)
    if after is not None:
        path, run_id = after
        # The second part implies the first, which gives the index its start.
        further = Q(path__gt=path) | Q(path=path, run_id__gt=run_id)
        series = series.filter(further, path__gte=path)
    rows = series.order_by("path", "run_id").values_list("run_id", "path")[:limit]
    return [(runs_by_id[run_id], path) for run_id, path in rows]


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
