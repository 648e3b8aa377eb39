"""Reads all points of many series in batches.

Memory use does not grow with the length of a series, unless its steps repeat; overlapping parts
are then held in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from uuid import UUID

import numpy as np

from tracker.models import Run
from tracker.queries.series.rewinds import read_replaced
from tracker.queries.series.series import Axis, series_ids_of, start_of
from tracker.series.codec import FULL_POINTS
from tracker.series.downsample import Buckets
from tracker.series.lines import Window
from tracker.series.ordering import Held
from tracker.series.points import Points
from tracker.series.rewinds import Replaced, without
from tracker.series.store import Summaries, read_chunks
from tracker.series.tails import Tails, consistently

# Series of a run that are opened together; their last points are held in memory.
SERIES_AT_ONCE = 8
CHUNKS_AT_ONCE = 4


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Points of one series in order of step; the next part continues after them."""

    run: Run
    path: str
    points: Points


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Points from a step on, which may not have been read yet."""

    first_step: float
    chunk_id: int | None = None
    points: Points = field(default_factory=Points.empty)


@dataclass(frozen=True, slots=True, eq=False)
class Begun:
    """A series and all its stretches, from one consistent read."""

    path: str
    window: Window
    stretches: list[Stretch]
    replaced: Replaced | None = None


def read_all_points(
    requested: Sequence[tuple[Run, str]],
    *,
    axis: Axis = Axis.STEP,
    low: float | None = None,
    high: float | None = None,
    all_attempts: bool = False,
) -> Iterator[Part]:
    """Yield all points in a range, series by series in the given order.

    Of points that were logged again, only the latest are included, unless `all_attempts` is set.
    Raise Overtaken if a series is deleted meanwhile.
    """
    bounds = (-np.inf if low is None else low, np.inf if high is None else high)
    for _, pairs in groupby(requested, key=lambda pair: pair[0].id):
        of_run = list(pairs)
        run = of_run[0][0]
        for start in range(0, len(of_run), SERIES_AT_ONCE):
            paths = [path for _, path in of_run[start : start + SERIES_AT_ONCE]]
            replaced = {} if all_attempts else read_replaced({run}, paths)
            for begun in _begin(run, paths, axis, bounds, replaced):
                for points in _in_order(run, begun):
                    yield Part(run, begun.path, points)


def _begin(
    run: Run,
    paths: Sequence[str],
    axis: Axis,
    bounds: tuple[float, float],
    replaced: Mapping[tuple[UUID, str], Replaced],
) -> list[Begun]:
    """List the chunks, and read the data that may be moved soon."""
    series_ids = series_ids_of({run.id}, paths)

    def read(tails: Tails, summaries: dict[int, Summaries]) -> list[Begun]:
        tails_of = tails.points_of(series_ids.values())
        begun = []
        for path in paths:
            series_id = series_ids.get((run.id, path), 0)
            chunks = summaries.get(series_id) or Summaries([], Buckets.empty())
            tail = tails_of.get(series_id) or Points.empty()
            times = chunks.buckets.first_time, tail.times
            origin = start_of(run, *times) if axis == Axis.RELATIVE else 0
            window = Window(axis, *bounds, 1, origin)
            stretches = [*_stretches(run, window, chunks, tail)]
            known = replaced.get((run.id, path))
            begun.append(Begun(path, window, stretches, known))
        return begun

    return consistently({run.id}, series_ids.values(), read)


def _stretches(
    run: Run, window: Window, chunks: Summaries, tail: Points
) -> Iterator[Stretch]:
    """Yield the stretches in the window. Only full chunks never change."""
    lows, highs = window.ends(chunks.buckets)
    inside = (highs >= window.low) & (lows <= window.high)
    is_full = chunks.buckets.count >= FULL_POINTS
    for index in np.flatnonzero(inside & is_full).tolist():
        first_step = float(chunks.buckets.first_step[index])
        yield Stretch(first_step, chunks.ids[index])

    open_ids = [chunks.ids[index] for index in np.flatnonzero(inside & ~is_full)]
    for points in [*read_chunks({run.id}, open_ids).values(), tail]:
        if len(points):
            yield Stretch(float(points.steps.min()), points=points)


def _in_order(run: Run, begun: Begun) -> Iterator[Points]:
    """Yield points in order of step, and hold back those that others may precede."""
    stretches = sorted(begun.stretches, key=lambda stretch: stretch.first_step)
    pending = Held()
    for some, next_step in _read_ahead(run, stretches):
        for points in some:
            pending.add(begun.window.clip(without(points, begun.replaced)))
        yield from pending.before(next_step)


def _read_ahead(
    run: Run, stretches: Sequence[Stretch]
) -> Iterator[tuple[list[Points], float]]:
    """Yield the points of some stretches, and the first step of the next one."""
    for start in range(0, len(stretches), CHUNKS_AT_ONCE):
        some = stretches[start : start + CHUNKS_AT_ONCE]
        after = stretches[start + CHUNKS_AT_ONCE : start + CHUNKS_AT_ONCE + 1]
        ids = [s.chunk_id for s in some if s.chunk_id is not None]
        found = read_chunks({run.id}, ids)
        read = [s.points for s in some]
        read += [found[chunk_id] for chunk_id in ids if chunk_id in found]
        yield read, after[0].first_step if after else np.inf
