"""Converts a batch's points to a journal entry, and collects its records (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tracker.ingest.batch import Batch
from tracker.ingest.messages import AddPoints
from tracker.ingest.records import AddRecords
from tracker.records.record import Records
from tracker.records.record import one_after_the_other as joined
from tracker.series import journal
from tracker.series.points import Integers
from tracker.series.table import Table, one_after_the_other, side_by_side

Paths: TypeAlias = tuple[str, ...]
# The ids of a run's series, by list of paths.
SeriesIds: TypeAlias = Mapping[Paths, Integers]


@dataclass(frozen=True, slots=True)
class Entry:
    """The points of frames `first` to `last`, in journal format."""

    first: int
    last: int
    point_count: int
    data: bytes


def entry_of(batch: Batch, series: SeriesIds) -> Entry | None:
    """Return the entry; None if the batch has no points."""
    tables = side_by_side(_tables(batch, series))
    point_count = sum(table.point_count for table in tables)
    if not point_count:
        return None
    return Entry(batch.first, batch.last, point_count, journal.encode(tables))


def records_of(batch: Batch, ids: Mapping[str, int]) -> dict[int, Records]:
    """Return the batch's records by series id."""
    parts: dict[int, list[Records]] = {}
    for message in batch.messages:
        content = message.content
        if isinstance(content, AddRecords) and len(content.records):
            parts.setdefault(ids[content.path], []).append(content.records)
    return {series_id: joined(some) for series_id, some in parts.items()}


def paths_of_points(batch: Batch) -> set[Paths]:
    return {m.content.paths for m in batch.messages if isinstance(m.content, AddPoints)}


def _tables(batch: Batch, series: SeriesIds) -> Iterator[Table]:
    parts: dict[Paths, list[Table]] = {}
    for message in batch.messages:
        if isinstance(message.content, AddPoints) and message.content.count:
            points = message.content
            table = Table(
                series[points.paths],
                np.frombuffer(points.steps, "<f8"),
                np.frombuffer(points.times, "<i8"),
                points.rows(),
            )
            parts.setdefault(points.paths, []).append(table)
    for of_paths in parts.values():
        yield one_after_the_other(of_paths)
