"""Media of a run: pictures, sounds, videos, tables and figures, by path and step."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np
from django.db.models import Exists, OuterRef, Q

from tracker.errors import NotFound
from tracker.models import Attribute, File, Kind, Run
from tracker.queries.run.attributes import storable
from tracker.queries.run.files import FileRow, files_of_runs, read_file
from tracker.records.nearest import ChunkSteps, chunks_to_read
from tracker.records.record import Records
from tracker.records.store import read_chunk_steps, read_chunks
from tracker.records.stored_file import NotAStoredFile, StoredFile, read_stored_file

SERIES = (Kind.IMAGE_SERIES, Kind.FILE_SERIES)
# Media types of single files that the Media page shows.
SHOWN_TYPES = (
    *("image/", "audio/", "video/", "text/html"),
    *("application/vnd.plotly", "application/vnd.seamark.table"),
    "application/vnd.seamark.points",
)
# Limits of one series: the newest steps, and the chunks that are read for them.
MAX_STEPS = 1_000
MAX_CHUNKS = 32
CHUNKS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class MediaRow:
    """A path with media; `id` is None for a single file."""

    path: str
    id: int | None = None


@dataclass(frozen=True, slots=True)
class MediaItem:
    """One value of a series at a step; `file` is None if its reference is missing."""

    stored: StoredFile
    file: FileRow | None


@dataclass(frozen=True, slots=True)
class MediaAt:
    """The items at a step, in order of arrival; `step` is None for a single file."""

    step: float | None
    items: tuple[MediaItem, ...]


def list_media(run: Run) -> list[MediaRow]:
    """Return the paths with media, sorted by path."""
    attributes = Attribute.objects.filter(run_id=run.id)
    series = attributes.filter(kind__in=SERIES, count__gt=0).values_list("path", "id")
    types = reduce(or_, (Q(media_type__startswith=each) for each in SHOWN_TYPES))
    shown = File.objects.filter(types, run=OuterRef("run"), path=OuterRef("path"))
    files = attributes.filter(Exists(shown), kind=Kind.FILE)
    rows = [MediaRow(*row) for row in series]
    rows += [MediaRow(path) for path in files.values_list("path", flat=True)]
    return sorted(rows, key=lambda row: row.path)


def media_row(run: Run, path: str) -> MediaRow:
    """Return the media at a path, or raise NotFound."""
    row = Attribute.objects.filter(
        run_id=run.id, path__in=storable([path]), kind__in=(*SERIES, Kind.FILE)
    ).first()
    if row is None:
        raise NotFound("media")
    return MediaRow(row.path, None if row.kind == Kind.FILE else row.pk)


def media_steps(run: Run, rows: Collection[MediaRow]) -> dict[str, list[float]]:
    """Return the newest distinct steps of each series by path, ascending."""
    paths = {row.id: row.path for row in rows if row.id is not None}
    if not paths:
        return {}
    chunks = read_chunk_steps({run.id}, list(paths), math.inf)
    chunk_ids = [
        chunk.id
        for several in chunks.values()
        for chunk in sorted(several, key=lambda each: each.first)[-MAX_CHUNKS:]
    ]
    found: dict[str, list[np.ndarray]] = {}
    for low in range(0, len(chunk_ids), CHUNKS_AT_ONCE):
        some = chunk_ids[low : low + CHUNKS_AT_ONCE]
        for series_id, records in read_chunks({run.id}, some):
            found.setdefault(paths[series_id], []).append(records.steps)
    return {
        path: np.unique(np.concatenate(steps))[-MAX_STEPS:].tolist()
        for path, steps in found.items()
    }


def media_at(run: Run, row: MediaRow, step: float = math.inf) -> MediaAt:
    """Return the items at the nearest step at or before `step`; none if all are later."""
    if row.id is None:
        file = read_file(run, row.path)
        stored = StoredFile(file.digest, file.size, file.media_type)
        return MediaAt(None, (MediaItem(stored, file),))
    values, at = _values_at(run, row.id, step)
    stored_files = [each for value in values if (each := _read(value)) is not None]
    digests = {each.digest for each in stored_files}
    files = files_of_runs([run], row.path, digests)
    items = [MediaItem(each, files.get((run.id, each.digest))) for each in stored_files]
    return MediaAt(at, tuple(items))


def _values_at(
    run: Run, series_id: int, step: float
) -> tuple[list[bytes], float | None]:
    chunks = read_chunk_steps({run.id}, [series_id], step).get(series_id, [])
    near = _read_parts(run, chunks_to_read(chunks, step))
    steps = [part.steps[part.steps <= step] for part in near]
    at = max((part.max().item() for part in steps if len(part)), default=None)
    if at is None:
        return [], None
    # A list of media may lie in several chunks.
    there = [each for each in chunks if each.first_step <= at <= each.last_step]
    there.sort(key=lambda each: each.first)
    values: list[bytes] = []
    for part in _read_parts(run, there[-MAX_CHUNKS:]):
        values += part.those(part.steps == at).listed()
    return values, at


def _read_parts(run: Run, chunks: Sequence[ChunkSteps]) -> list[Records]:
    ids = [chunk.id for chunk in chunks]
    return [records for _, records in read_chunks({run.id}, ids)] if ids else []


def _read(value: bytes) -> StoredFile | None:
    try:
        return read_stored_file(value)
    except NotAStoredFile:
        return None
