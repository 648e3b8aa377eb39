"""Reads long series for rules, thinned chunk by chunk to limit memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from tracker.diagnosis.analysis.thinning import (
    MAX_CURVE_POINTS,
    MAX_RANK_POINTS,
    MAX_READINGS,
    StepSample,
    Thinner,
    stride_of,
    thin_curve,
    usual_interval,
)
from tracker.models import Run
from tracker.queries.series.rewinds import read_replaced
from tracker.queries.series.series import series_ids_of
from tracker.series.points import Points, concatenate
from tracker.series.rewinds import Replaced, without
from tracker.series.store import Summaries, read_chunks
from tracker.series.tails import Tails, consistently

# Chunks held in memory at a time, up to 200 KB each.
CHUNKS_AT_ONCE = 256


# Selects points of one chunk, or of the journal.
Thin = Callable[[Points, int], Points]


@dataclass(frozen=True, slots=True, eq=False)
class Thinned:
    """A thinned series; `interval_seconds` is its original sampling interval."""

    points: Points
    interval_seconds: float | None


@dataclass(frozen=True, slots=True)
class Way:
    """How series are thinned: to a number of points each, or for all together."""

    # Its argument is the time after which all points are kept.
    thinner: Callable[[int | None], Thin]
    most: int
    is_of_all: bool = False
    # Paths of series that are not thinned.
    whole: Collection[str] = ()
    whole_seconds: float = 0.0


def read_thinned(
    run: Run, paths: Collection[str], *, whole_seconds: float = 0.0
) -> dict[str, Thinned]:
    """Read series, thinned if long, except for the last seconds; absent without points."""
    way = Way(_of_readings, MAX_READINGS, whole_seconds=whole_seconds)
    return {path: each for (_, path), each in _read([run], paths, way).items()}


def read_thinned_of_runs(runs: Collection[Run], path: str) -> dict[UUID, Thinned]:
    """Read one series of each of the runs that has points of it."""
    found = _read(runs, [path], Way(_of_readings, MAX_READINGS))
    return {run_id: each for (run_id, _), each in found.items() if len(each.points)}


def read_curves(
    run: Run, paths: Collection[str], *, whole: Collection[str] = ()
) -> dict[str, Points]:
    """Read logged series in order of step; thinning preserves levels and noise.

    Series in `whole` are not thinned.
    """
    way = Way(lambda _: thin_curve, MAX_CURVE_POINTS, whole=whole)
    return _in_order(_read([run], paths, way))


def read_common_steps(
    run: Run, paths: Collection[str], *, whole_seconds: float = 0.0
) -> dict[str, Points]:
    """Read series; if they are long, the same steps of each are kept."""
    way = Way(_of_steps, MAX_RANK_POINTS, is_of_all=True, whole_seconds=whole_seconds)
    return _in_order(_read([run], paths, way))


def read_longest(run: Run, paths: Sequence[str], *, most: int) -> Points:
    """Read the series with the most points, thinned to each n-th point if it is long.

    Regular steps stay regular.
    """
    series_ids = series_ids_of({run.id}, paths)
    ids = [series_ids[run.id, path] for path in paths if (run.id, path) in series_ids]
    paths_by_id = {series_id: path for (_, path), series_id in series_ids.items()}
    replaced = read_replaced([run], paths)

    def read(tails: Tails, summaries: dict[int, Summaries]) -> Points:
        tail = tails.points_of(ids)
        counts = _counts(summaries, tail)
        longest = max(ids, key=lambda series_id: counts[series_id], default=None)
        if longest is None:
            return Points.empty()
        stride, position = stride_of(counts[longest], most), 0
        kept = []
        for part in _parts(run, summaries.get(longest), tail[longest]):
            points = without(part, replaced.get((run.id, paths_by_id[longest])))
            # Copied, because a view would keep all points of the part.
            kept.append(points[-position % stride :: stride].copy())
            position += len(points)
        return concatenate(kept).sorted_by_step()

    return consistently({run.id}, ids, read)


def _parts(run: Run, found: Summaries | None, tail: Points) -> Iterator[Points]:
    """Yield the chunks of one series, few at a time, and then its points in the journal."""
    for some in _portions({0: found} if found else {}):
        chunks = read_chunks({run.id}, [chunk_id for _, chunk_id in some])
        yield from (chunks[chunk_id] for _, chunk_id in some if chunk_id in chunks)
    yield tail.sorted_by_step()


def _of_readings(whole_after: int | None) -> Thin:
    return Thinner(whole_after=whole_after).thin


def _of_steps(whole_after: int | None) -> Thin:
    return StepSample(whole_after=whole_after).thin


def _in_order(found: Mapping[tuple[UUID, str], Thinned]) -> dict[str, Points]:
    return {path: each.points.sorted_by_step() for (_, path), each in found.items()}


@dataclass(slots=True)
class _Kept:
    """The points of a series kept so far, and the interval of its longest part."""

    parts: list[Points] = field(default_factory=list)
    longest: int = 0
    interval: float | None = None

    def thinned(self) -> Thinned:
        return Thinned(concatenate(self.parts), self.interval)


def _read(
    runs: Collection[Run], paths: Collection[str], way: Way
) -> dict[tuple[UUID, str], Thinned]:
    run_ids = {run.id for run in runs}
    series_ids = series_ids_of(run_ids, paths)
    names = {series_id: place for place, series_id in series_ids.items()}
    replaced = read_replaced(runs, paths)

    def read(
        tails: Tails, summaries: dict[int, Summaries]
    ) -> dict[tuple[UUID, str], Thinned]:
        tail = tails.points_of(names)
        strides = _strides(summaries, tail, way)
        strides |= {s: 1 for s, (_, path) in names.items() if path in way.whole}
        thin = way.thinner(_whole_after(summaries, tail, way.whole_seconds))
        kept = {series_id: _Kept() for series_id in names}
        for some in _portions(summaries):
            chunks = read_chunks(run_ids, [chunk_id for _, chunk_id in some])
            found = [
                (s, chunks[chunk_id]) for s, chunk_id in some if chunk_id in chunks
            ]
            _keep(kept, _valid(found, names, replaced), strides, thin)
        last = [(s, points) for s, points in tail.items() if len(points)]
        _keep(kept, _valid(last, names, replaced), strides, thin)
        return {names[s]: each.thinned() for s, each in kept.items()}

    return consistently(run_ids, names, read)


def _strides(
    summaries: Mapping[int, Summaries], tail: Mapping[int, Points], way: Way
) -> dict[int, int]:
    counts = _counts(summaries, tail)
    if way.is_of_all:
        return dict.fromkeys(counts, stride_of(sum(counts.values()), way.most))
    return {
        series_id: stride_of(count, way.most) for series_id, count in counts.items()
    }


def _counts(
    summaries: Mapping[int, Summaries], tail: Mapping[int, Points]
) -> dict[int, int]:
    counts = {series_id: len(points) for series_id, points in tail.items()}
    for series_id, found in summaries.items():
        counts[series_id] += int(found.buckets.count.sum())
    return counts


def _portions(
    summaries: Mapping[int, Summaries],
) -> Iterator[Sequence[tuple[int, int]]]:
    """Yield groups of chunks with their series, few enough to be read together."""
    every = [(s, chunk_id) for s, found in summaries.items() for chunk_id in found.ids]
    for start in range(0, len(every), CHUNKS_AT_ONCE):
        yield every[start : start + CHUNKS_AT_ONCE]


def _valid(
    parts: Sequence[tuple[int, Points]],
    names: Mapping[int, tuple[UUID, str]],
    replaced: Mapping[tuple[UUID, str], Replaced],
) -> list[tuple[int, Points]]:
    """Remove points that were logged again."""
    return [
        (series_id, without(part, replaced.get(names[series_id])))
        for series_id, part in parts
    ]


def _keep(
    kept: Mapping[int, _Kept],
    parts: Sequence[tuple[int, Points]],
    strides: Mapping[int, int],
    thin: Thin,
) -> None:
    """Thin parts of series, grouped by equal times, so that each is computed once."""
    left = [part for _, part in parts]
    intervals: dict[int, float | None] = {}
    for place in sorted(range(len(parts)), key=lambda i: id(parts[i][1].times)):
        series_id, part = parts[place]
        left[place] = thin(part, strides[series_id])
        if len(part) > kept[series_id].longest:
            name = id(part.times)
            if name not in intervals:
                intervals[name] = usual_interval(part.times)
            kept[series_id].longest = len(part)
            kept[series_id].interval = intervals[name]
    for (series_id, _), some in zip(parts, left, strict=True):
        kept[series_id].parts.append(some)


def _whole_after(
    summaries: Mapping[int, Summaries], tail: Mapping[int, Points], seconds: float
) -> int | None:
    if not seconds > 0:
        return None
    ends = [int(found.buckets.last_time.max()) for found in summaries.values()]
    ends += [int(points.times.max()) for points in tail.values() if len(points)]
    return max(ends) - int(seconds * 1_000_000) if ends else None
