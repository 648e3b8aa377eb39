"""Images, texts, histograms and files of several runs, by path and at one step.

The number of statements does not depend on the number of runs; the contents of more than a few
dozen runs are read in batches, to limit memory.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Exists, Max, Min, OuterRef, Q, QuerySet

from tracker.models import Attribute, File, Kind, Run
from tracker.queries.compare.comparison import in_order
from tracker.queries.run.attributes import Seen, storable
from tracker.queries.run.files import FileRow, files_of_runs
from tracker.records.histogram import Histogram, NotAHistogram, read_histogram
from tracker.records.nearest import chunks_to_read, first_of_call, place_at
from tracker.records.store import read_chunk_steps, read_chunks
from tracker.records.stored_file import NotAStoredFile, read_stored_file

STORED_SERIES = (Kind.IMAGE_SERIES, Kind.FILE_SERIES)
SERIES_KINDS = (Kind.TEXT_SERIES, Kind.HISTOGRAM_SERIES, *STORED_SERIES)
# Media types of files that pages can show; checkpoints are excluded.
SHOWN_TYPES = ("image/", "text/", "application/json", "application/vnd.plotly")
# Chunks that are read together, each at most 1 MiB.
CHUNKS_AT_ONCE = 32


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
    and last step of the series.
    """

    kind: Kind
    step: float | None = None
    begins: float | None = None
    ends: float | None = None
    text: bytes = b""
    histogram: Histogram | None = None
    file: FileRow | None = None


@dataclass(frozen=True, slots=True)
class _Record:
    step: float
    value: bytes


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
    digests = {
        row.run_id: _digest(row, records.get(row.pk))
        for row in rows
        if row.kind in (Kind.FILE, *STORED_SERIES)
    }
    files = files_of_runs(runs, path, set(filter(None, digests.values())))
    media = {
        row.run_id: _medium(
            row,
            records.get(row.pk),
            files.get((row.run_id, digests.get(row.run_id, ""))),
        )
        for row in rows
    }
    return [media.get(run.id) for run in runs]


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
    stored = {row.pk for row in series if row.kind in STORED_SERIES}
    wanted = [
        chunk.id
        for several in chunks.values()
        for chunk in chunks_to_read(several, step)
    ]
    for low in range(0, len(wanted), CHUNKS_AT_ONCE):
        some = wanted[low : low + CHUNKS_AT_ONCE]
        for series_id, records in read_chunks(run_ids, some):
            place = place_at(records, step)
            if place is None:
                continue
            if series_id in stored:
                place = first_of_call(records, place)
            at = records.steps[place].item()
            before = found.get(series_id)
            if before is None or before.step <= at:
                (value,) = records[place : place + 1].listed()
                found[series_id] = _Record(at, value)
    return found


def _digest(row: Attribute, record: _Record | None) -> str:
    """Return the digest of a file or of an image in a series; "" if there is none."""
    if row.kind == Kind.FILE:
        return row.text or ""
    if record is None:
        return ""
    try:
        return read_stored_file(record.value).digest
    except NotAStoredFile:
        return ""


def _medium(row: Attribute, record: _Record | None, file: FileRow | None) -> Medium:
    kind, begins, ends = Kind(row.kind), row.first_step, row.last_step
    if record is None:
        return Medium(kind, None, begins, ends, file=file)
    if kind == Kind.TEXT_SERIES:
        return Medium(kind, record.step, begins, ends, text=record.value)
    if kind in STORED_SERIES:
        return Medium(kind, record.step, begins, ends, file=file)
    try:
        histogram = read_histogram(record.value)
    except NotAHistogram:
        return Medium(kind, None, begins, ends)
    return Medium(kind, record.step, begins, ends, histogram=histogram)
