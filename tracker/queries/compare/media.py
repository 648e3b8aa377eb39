"""Images, texts, histograms and files of several runs, by path and at one step.

The number of statements does not depend on the number of runs; the contents of more than a few
dozen runs are read in batches, to limit memory.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from operator import or_
from uuid import UUID

import numpy as np
from django.db.models import Exists, Max, Min, OuterRef, Q, QuerySet

from tracker.models import Attribute, File, Kind, Run
from tracker.queries.compare.comparison import in_order
from tracker.queries.run.attributes import Seen, storable
from tracker.queries.run.files import FileRow, files_of_runs
from tracker.queries.run.media import MediaItem
from tracker.records.histogram import Histogram, NotAHistogram, read_histogram
from tracker.records.nearest import ChunkSteps, chunks_to_read, place_at
from tracker.records.record import Records
from tracker.records.store import read_chunk_steps, read_chunks
from tracker.records.stored_file import NotAStoredFile, StoredFile, read_stored_file

STORED_SERIES = (Kind.IMAGE_SERIES, Kind.FILE_SERIES)
SERIES_KINDS = (Kind.TEXT_SERIES, Kind.HISTOGRAM_SERIES, *STORED_SERIES)
# Media types of files that pages can show; checkpoints are excluded.
SHOWN_TYPES = (
    *("image/", "audio/", "video/", "text/", "application/json"),
    *("application/vnd.plotly", "application/vnd.seamark.table"),
)
# Chunks that are read together, each at most 1 MiB.
CHUNKS_AT_ONCE = 32
# A list of media may lie in several chunks.
MAX_CHUNKS_OF_STEP = 32
# Limits of a slider through steps.
MAX_STEPS, MAX_CHUNKS_OF_STEPS = 1_000, 128


@dataclass(frozen=True, slots=True)
class Steps:
    """The first and last step of a series."""

    first: float
    last: float


@dataclass(frozen=True, slots=True, eq=False)
class Medium:
    """The media of a run at a path.

    For a series, `step` is the step of the shown record. It is None if there is no record at
    or before the requested step, or if it cannot be read; `begins` and `ends` are the first
    and last step of the series. `items` are its files at that step, or a single file.
    """

    kind: Kind
    step: float | None = None
    begins: float | None = None
    ends: float | None = None
    text: bytes = b""
    histogram: Histogram | None = None
    items: tuple[MediaItem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Record:
    """The values of a series at a step: several for media, otherwise one."""

    step: float
    values: tuple[bytes, ...]


def media_paths(
    run_ids: Sequence[UUID], seen: Seen | None = None
) -> dict[str, Steps | None]:
    """Return every path with media in any run, in two statements.

    In the order of comparisons, with the steps of series; None for paths with only files.
    """
    attributes = Attribute.objects.filter(run__in=run_ids).order_by()
    series = attributes.filter(kind__in=SERIES_KINDS, count__gt=0)
    ends = series.values_list("path", "kind").annotate(
        Min("first_step"), Max("last_step")
    )
    files = attributes.filter(kind=Kind.FILE).filter(Exists(_shown_files()))
    found: dict[str, Steps | None] = {
        path: None
        for path in files.values_list("path", flat=True).distinct()
        if seen is None or seen(Kind.FILE, path, None)
    }
    for path, kind, first, last in ends:
        if seen is None or seen(kind, path, None):
            found[path] = around([found.get(path), Steps(first, last)])
    return {path: found[path] for path in in_order(found)}


def around(several: Sequence[Steps | None]) -> Steps | None:
    """Return the range of steps that covers several series."""
    known = [steps for steps in several if steps is not None]
    if not known:
        return None
    return Steps(min(each.first for each in known), max(each.last for each in known))


def media_at(
    runs: Sequence[Run], path: str, step: float = math.inf, seen: Seen | None = None
) -> list[Medium | None]:
    """Return each run's media at a path, at a step or the nearest one before it."""
    stored = Attribute.objects.filter(
        Q(kind__in=SERIES_KINDS, count__gt=0) | Q(kind=Kind.FILE),
        run__in=[run.id for run in runs],
        path__in=storable([path]),
    )
    rows = [row for row in stored if seen is None or seen(row.kind, row.path, None)]
    records = _records_at([row for row in rows if row.kind in SERIES_KINDS], step)
    stored_files = {
        row.pk: _stored_files(records.get(row.pk))
        for row in rows
        if row.kind in STORED_SERIES
    }
    digests = {each.digest for several in stored_files.values() for each in several}
    digests |= {row.text for row in rows if row.kind == Kind.FILE and row.text}
    files = files_of_runs(runs, path, digests)
    media = {
        row.run_id: _medium(
            row, records.get(row.pk), _items(row, stored_files.get(row.pk, ()), files)
        )
        for row in rows
    }
    return [media.get(run.id) for run in runs]


def media_steps(
    runs: Sequence[Run], path: str, seen: Seen | None = None
) -> list[float]:
    """Return the newest distinct steps of the runs' records at a path, ascending."""
    run_ids = {run.id for run in runs}
    rows = Attribute.objects.filter(
        run__in=run_ids, path__in=storable([path]), kind__in=SERIES_KINDS, count__gt=0
    )
    ids = [row.pk for row in rows if seen is None or seen(row.kind, row.path, None)]
    if not ids:
        return []
    found = read_chunk_steps(run_ids, ids, math.inf).values()
    chunks = sorted(
        (chunk for several in found for chunk in several),
        key=lambda chunk: chunk.last_step,
    )
    chunk_ids = [chunk.id for chunk in chunks[-MAX_CHUNKS_OF_STEPS:]]
    steps = [records.steps for _, records in _in_batches(run_ids, chunk_ids)]
    if not steps:
        return []
    newest: list[float] = np.unique(np.concatenate(steps))[-MAX_STEPS:].tolist()
    return newest


def _shown_files() -> QuerySet[File]:
    """Select files of an attribute with a media type that pages can show."""
    types = (Q(media_type__startswith=each) for each in SHOWN_TYPES)
    return File.objects.filter(
        reduce(or_, types), run=OuterRef("run"), path=OuterRef("path")
    )


def _records_at(series: Collection[Attribute], step: float) -> dict[int, _Record]:
    """Return the record of each series at a step, by series id."""
    found: dict[int, _Record] = {}
    if not series:
        return found
    run_ids = {row.run_id for row in series}
    chunks = read_chunk_steps(run_ids, [row.pk for row in series], step)
    chunk_ids = [
        chunk.id
        for several in chunks.values()
        for chunk in chunks_to_read(several, step)
    ]
    for series_id, records in _in_batches(run_ids, chunk_ids):
        place = place_at(records, step)
        if place is None:
            continue
        at = records.steps[place].item()
        before = found.get(series_id)
        if before is None or before.step <= at:
            (value,) = records[place : place + 1].listed()
            found[series_id] = _Record(at, (value,))
    stored = {row.pk for row in series if row.kind in STORED_SERIES}
    return found | _all_at_step(
        run_ids, {key: row for key, row in found.items() if key in stored}, chunks
    )


def _all_at_step(
    run_ids: Collection[UUID],
    found: Mapping[int, _Record],
    chunks: Mapping[int, Sequence[ChunkSteps]],
) -> dict[int, _Record]:
    """Return every value at the step of each record, in order of arrival."""
    chunk_ids: list[int] = []
    for series_id, record in found.items():
        there = [
            chunk
            for chunk in chunks[series_id]
            if chunk.first_step <= record.step <= chunk.last_step
        ]
        there.sort(key=lambda chunk: chunk.first)
        chunk_ids += [chunk.id for chunk in there[-MAX_CHUNKS_OF_STEP:]]
    values: dict[int, list[bytes]] = {}
    for series_id, records in _in_batches(run_ids, chunk_ids):
        at = records.those(records.steps == found[series_id].step)
        values.setdefault(series_id, []).extend(at.listed())
    return {
        series_id: _Record(found[series_id].step, tuple(several))
        for series_id, several in values.items()
    }


def _in_batches(
    run_ids: Collection[UUID], chunk_ids: Sequence[int]
) -> Iterator[tuple[int, Records]]:
    for low in range(0, len(chunk_ids), CHUNKS_AT_ONCE):
        yield from read_chunks(run_ids, chunk_ids[low : low + CHUNKS_AT_ONCE])


def _stored_files(record: _Record | None) -> list[StoredFile]:
    found: list[StoredFile] = []
    for value in record.values if record else ():
        with suppress(NotAStoredFile):
            found.append(read_stored_file(value))
    return found


def _items(
    row: Attribute,
    stored: Iterable[StoredFile],
    files: Mapping[tuple[UUID, str], FileRow],
) -> tuple[MediaItem, ...]:
    if row.kind in STORED_SERIES:
        found = [(each, files.get((row.run_id, each.digest))) for each in stored]
        return tuple(MediaItem(*each) for each in found)
    file = files.get((row.run_id, row.text or ""))
    if row.kind != Kind.FILE or file is None:
        return ()
    return (MediaItem(StoredFile(file.digest, file.size, file.media_type), file),)


def _medium(
    row: Attribute, record: _Record | None, items: tuple[MediaItem, ...]
) -> Medium:
    kind, begins, ends = Kind(row.kind), row.first_step, row.last_step
    if record is None:
        return Medium(kind, None, begins, ends, items=items)
    if kind == Kind.TEXT_SERIES:
        return Medium(kind, record.step, begins, ends, text=record.values[0])
    if kind in STORED_SERIES:
        return Medium(kind, record.step, begins, ends, items=items)
    try:
        histogram = read_histogram(record.values[0])
    except NotAHistogram:
        return Medium(kind, None, begins, ends)
    return Medium(kind, record.step, begins, ends, histogram=histogram)
