"""Reads points from chunk rows and the journal together.

Chunk rows never change: compaction writes new ones, then takes the old ones and
their journal rows away, all in one transaction. So a reader needs no lock and no
transaction, only to look again when something it read is gone (see `consistently`).
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar
from uuid import UUID

import numpy as np

from tracker.errors import Unavailable
from tracker.models import JournalEntry, SeriesChunk
from tracker.series import codec, journal
from tracker.series.codec import Damaged
from tracker.series.downsample import Buckets, summarise
from tracker.series.points import Points, concatenate

logger = logging.getLogger(__name__)

# How many ids one statement names; SQLite's default limit is 32,766.
IDS_IN_A_STATEMENT = 1_000
# A compaction that is under way replaces what was read about once a second.
TRIES = 10

Item = TypeVar("Item")
Result = TypeVar("Result")
# PostgreSQL answers with the one, SQLite with the other.
Stored = bytes | memoryview


class Overtaken(Exception):
    """Compaction replaced what was being read or written; start again."""


@dataclass(frozen=True, slots=True, eq=False)
class Summaries:
    """The chunks of one series, each summarised as one bucket."""

    ids: list[int]
    buckets: Buckets


def consistently(
    run_ids: Collection[UUID], read: Callable[[Mapping[int, Points]], Result]
) -> Result:
    """Call `read` with the journal's points by series, so that nothing is missed.

    What is in the journal before and after was not in a chunk in between, and
    what was not in the journal before was in a chunk already.
    """
    for _ in range(TRIES):
        entries = JournalEntry.objects.filter(run_id__in=run_ids, is_damaged=False)
        seen = list(entries.order_by("id").values_list("id", "data"))
        try:
            result = read(points_by_series(seen))
        except Overtaken:
            continue
        if not seen or {i for i, _ in seen} <= set(
            entries.values_list("id", flat=True)
        ):
            return result
    raise Unavailable


def points_by_series(entries: Sequence[tuple[int, Stored]]) -> dict[int, Points]:
    """Join the points of journal entries; damaged ones are logged and left out."""
    parts: dict[int, list[Points]] = defaultdict(list)
    for entry_id, data in entries:
        columns = undamaged(journal.decode, data, f"journal entry {entry_id}")
        for series_id, points in (columns or {}).items():
            parts[series_id].append(points)
    return {series_id: concatenate(part) for series_id, part in parts.items()}


def undamaged(
    decode: Callable[[Stored], Result], data: Stored, name: str
) -> Result | None:
    """Decode stored bytes; None, and a line in the log, where they are damaged."""
    try:
        return decode(data)
    except Damaged as error:
        logger.error("%s is damaged and left out: %s", name, error)  # noqa: TRY400
        return None


def read_summaries(
    run_ids: Collection[UUID], series_ids: Collection[int]
) -> dict[int, Summaries]:
    """Return the summaries of all chunks of each series that has any."""
    names = [field.name for field in fields(Buckets)]
    rows: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for ids in batches(list(series_ids)):
        chunks = SeriesChunk.objects.filter(run_id__in=run_ids, series_id__in=ids)
        for row in chunks.order_by("first_step", "id").values_list(
            "series_id", "id", *names
        ):
            rows[row[0]].append(row[1:])
    return {series_id: _summaries(found) for series_id, found in rows.items()}


def _summaries(rows: Sequence[tuple[Any, ...]]) -> Summaries:
    ids, *columns = zip(*rows, strict=True)
    # None, for no value but NaN, becomes NaN again.
    arrays: dict[str, Any] = {
        field.name: np.array(column, codec.dtype_of(field.name))
        for field, column in zip(fields(Buckets), columns, strict=True)
    }
    return Summaries(list(ids), Buckets(**arrays))


def read_chunks(ids: Collection[int]) -> dict[int, Points]:
    """Return the points of chunks; a damaged one has none."""
    return {
        chunk_id: undamaged(codec.decode, data, f"chunk {chunk_id}") or Points.empty()
        for chunk_id, data in _column("data", ids)
    }


def read_overviews(ids: Collection[int]) -> dict[int, Buckets]:
    """Return the drawing buckets of chunks, made anew from points where damaged."""
    found: dict[int, Buckets] = {}
    damaged: list[int] = []
    for chunk_id, data in _column("overview", ids):
        name = f"overview of chunk {chunk_id}"
        buckets = undamaged(codec.decode_overview, data, name)
        if buckets is None:
            damaged.append(chunk_id)
        else:
            found[chunk_id] = buckets
    for chunk_id, points in read_chunks(damaged).items():
        found[chunk_id] = summarise(points)
    return found


def _column(name: str, ids: Collection[int]) -> Iterator[tuple[int, Stored]]:
    """Read a column of chunks, each of which was there a moment ago."""
    for some in batches(list(ids)):
        rows = SeriesChunk.objects.filter(id__in=some).values_list("id", name)
        if len(rows) < len(some):
            raise Overtaken
        yield from rows


def batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), IDS_IN_A_STATEMENT):
        yield items[start : start + IDS_IN_A_STATEMENT]
