"""Reads long series for rules: thinned chunk by chunk, so that memory stays small."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from tracker.diagnosis.thinning import Thinner, stride_of, usual_interval
from tracker.models import Run
from tracker.queries.rewinds import read_replaced
from tracker.queries.series import series_ids_of
from tracker.series.points import Points, concatenate
from tracker.series.rewinds import without
from tracker.series.store import (
    Summaries,
    read_chunks,
    read_summaries,
)
from tracker.series.tails import Tails, consistently

# So many chunks are held in memory at a time, of up to 200 KB each.
CHUNKS_AT_ONCE = 256


@dataclass(frozen=True, slots=True, eq=False)
class Thinned:
    """What is left of a series; `interval_seconds` is what lay between its points."""

    points: Points
    interval_seconds: float | None


def read_thinned(
    run: Run, paths: Collection[str], *, whole_seconds: float = 0.0
) -> dict[str, Thinned]:
    """Read series, all of what is short and of the last seconds; absent: no points."""
    found = _read([run], paths, whole_seconds)
    return {path: each for (_, path), each in found.items()}


def read_thinned_of_runs(runs: Collection[Run], path: str) -> dict[UUID, Thinned]:
    """Read one series of each of the runs that has points of it."""
    found = _read(runs, [path], 0.0)
    return {run_id: each for (run_id, _), each in found.items() if len(each.points)}


def _read(
    runs: Collection[Run], paths: Collection[str], whole_seconds: float
) -> dict[tuple[UUID, str], Thinned]:
    run_ids = {run.id for run in runs}
    series_ids = series_ids_of(run_ids, paths)
    names = {series_id: place for place, series_id in series_ids.items()}
    replaced = read_replaced(runs, paths)

    def read(tails: Tails) -> dict[tuple[UUID, str], Thinned]:
        summaries = read_summaries(run_ids, names)
        tail = tails.points_of(names)
        after = _whole_after(summaries, tail, whole_seconds)
        found: dict[int, Thinned] = {}
        for some in _together(summaries, list(names)):
            wanted = [i for s in some if s in summaries for i in summaries[s].ids]
            chunks = read_chunks(run_ids, wanted)
            every: dict[int, list[Points]] = {}
            for series_id in some:
                ids = summaries[series_id].ids if series_id in summaries else []
                parts = [chunks[i] for i in ids if i in chunks]
                if len(tail[series_id]):
                    parts.append(tail[series_id])
                lost = replaced.get(names[series_id])
                every[series_id] = [without(part, lost) for part in parts]
            found |= _thinned(every, after)
        return {names[series_id]: each for series_id, each in found.items()}

    return consistently(run_ids, names, read)


def _thinned(
    every: dict[int, list[Points]], whole_after: int | None
) -> dict[int, Thinned]:
    strides = {
        series_id: stride_of(sum(len(part) for part in parts))
        for series_id, parts in every.items()
    }
    thinner = Thinner(whole_after=whole_after)
    kept = {series_id: [*parts] for series_id, parts in every.items()}
    # Parts of the same times one after the other, so that these are looked at once.
    by_times = sorted(
        (
            (id(part.times), series_id, place)
            for series_id, parts in every.items()
            for place, part in enumerate(parts)
        ),
    )
    for _, series_id, place in by_times:
        part = every[series_id][place]
        kept[series_id][place] = thinner.thin(part, strides[series_id])
    intervals: dict[int, float | None] = {}
    return {
        series_id: Thinned(
            concatenate(kept[series_id]), _interval(every[series_id], intervals)
        )
        for series_id in every
    }


def _interval(parts: list[Points], known: dict[int, float | None]) -> float | None:
    """Return the usual interval of the longest part; its times may be those of others."""
    if not parts:
        return None
    times = max(parts, key=len).times
    if id(times) not in known:
        known[id(times)] = usual_interval(times)
    return known[id(times)]


def _whole_after(
    summaries: dict[int, Summaries], tail: dict[int, Points], seconds: float
) -> int | None:
    if not seconds > 0:
        return None
    ends = [int(found.buckets.last_time.max()) for found in summaries.values()]
    ends += [int(points.times.max()) for points in tail.values() if len(points)]
    return max(ends) - int(seconds * 1_000_000) if ends else None


def _together(summaries: dict[int, Summaries], series: list[int]) -> list[list[int]]:
    """Part series into groups that have few enough chunks to be read at once."""
    groups: list[list[int]] = [[]]
    room = CHUNKS_AT_ONCE
    for series_id in series:
        count = len(summaries[series_id].ids) if series_id in summaries else 0
        if groups[-1] and count > room:
            groups.append([])
            room = CHUNKS_AT_ONCE
        groups[-1].append(series_id)
        room -= count
    return groups
