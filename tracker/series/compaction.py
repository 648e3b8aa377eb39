"""Moves points from the journal to chunks, and keeps each series' summary.

A pass reads and encodes without holding anything, then writes in one short
transaction, which succeeds only if all it replaces is still there. Whoever is
slower of two starts again, so a pass may be repeated, doubled or killed at any point.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.db import IntegrityError, transaction

from tracker.models import Attribute, JournalEntry, Kind, SeriesChunk
from tracker.series import codec, journal
from tracker.series.points import Points, concatenate
from tracker.series.rows import SUMMARY_FIELDS, add_to_summary, make_chunks
from tracker.series.store import Overtaken, batches, undamaged

logger = logging.getLogger(__name__)

# What one pass takes on, which bounds its memory and its transaction.
PASS_POINTS = 1_000_000
PASS_ENTRIES = 500
# Passes of one call; more would outlast a worker's lease.
PASSES = 20


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What one pass takes out of the tables, and what it puts in."""

    run_id: UUID
    entry_ids: list[int]
    damaged_entry_ids: list[int]
    replaced_chunk_ids: list[int]
    damaged_chunk_ids: list[int]
    chunks: list[SeriesChunk]
    # What is new in each series, sorted by step.
    new_points: dict[int, Points]


def compact_run(run_id: UUID) -> int:
    """Empty the run's journal, or much of it; return how many points were moved."""
    moved = 0
    for _ in range(PASSES):
        plan = _make_plan(run_id)
        if plan is None:
            break
        try:
            with transaction.atomic():
                _carry_out(plan)
        except (Overtaken, IntegrityError) as error:
            # Another worker was faster, or a series was deleted meanwhile.
            logger.info("compaction of run %s starts again: %r", run_id, error)
            continue
        moved += sum(len(points) for points in plan.new_points.values())
    return moved


def needs_compaction(run_id: UUID) -> bool:
    return JournalEntry.objects.filter(run_id=run_id, is_damaged=False).exists()


def _make_plan(run_id: UUID) -> Plan | None:
    entry_ids = _next_entry_ids(run_id)
    if not entry_ids:
        return None
    points, damaged_entry_ids = _read_entries(entry_ids)
    new_points = {
        series_id: points[series_id].sorted_by_step()
        for series_id in _existing_series(run_id, points)
    }

    replaced: list[int] = []
    damaged: list[int] = []
    chunks: list[SeriesChunk] = []
    for series_ids in batches(list(new_points)):
        open_points, found, broken = _read_open_chunks(run_id, series_ids)
        replaced += found
        damaged += broken
        for series_id in series_ids:
            parts = [*open_points[series_id], new_points[series_id]]
            chunks += make_chunks(run_id, series_id, concatenate(parts))
    return Plan(
        run_id,
        entry_ids,
        damaged_entry_ids,
        replaced,
        damaged,
        chunks,
        new_points,
    )


def _next_entry_ids(run_id: UUID) -> list[int]:
    """Return the oldest entries: as many as a pass takes on, and at least one."""
    rows = list(
        JournalEntry.objects.filter(run_id=run_id, is_damaged=False)
        .order_by("id")
        .values_list("id", "point_count")[:PASS_ENTRIES]
    )
    reached = np.cumsum([count for _, count in rows])
    fitting = max(1, int(np.searchsorted(reached, PASS_POINTS, side="right")))
    return [entry_id for entry_id, _ in rows[:fitting]]


def _read_entries(entry_ids: Sequence[int]) -> tuple[dict[int, Points], list[int]]:
    """Return the points by series, and the entries that cannot be read.

    Those are kept aside, or nothing after them would ever be compacted.
    """
    parts: dict[int, list[Points]] = defaultdict(list)
    damaged: list[int] = []
    rows = JournalEntry.objects.filter(id__in=entry_ids).order_by("id")
    for entry_id, data in rows.values_list("id", "data"):
        columns = undamaged(journal.decode, data, f"journal entry {entry_id}")
        if columns is None:
            damaged.append(entry_id)
            continue
        for series_id, points in columns.items():
            parts[series_id].append(points)
    return {series_id: concatenate(part) for series_id, part in parts.items()}, damaged


def _existing_series(run_id: UUID, points: Mapping[int, Points]) -> list[int]:
    """Leave out what was deleted after its points arrived."""
    found: list[int] = []
    for ids in batches(sorted(points)):
        series = Attribute.objects.filter(
            run_id=run_id, kind=Kind.FLOAT_SERIES, id__in=ids
        )
        found += series.order_by("id").values_list("id", flat=True)
    return found


def _read_open_chunks(
    run_id: UUID, series_ids: Sequence[int]
) -> tuple[dict[int, list[Points]], list[int], list[int]]:
    """Return the points of the open chunks, their ids, and the ids of damaged ones."""
    points: dict[int, list[Points]] = defaultdict(list)
    replaced: list[int] = []
    damaged: list[int] = []
    rows = SeriesChunk.objects.filter(
        run_id=run_id, is_open=True, series_id__in=series_ids
    )
    for chunk_id, series_id, data in rows.values_list("id", "series_id", "data"):
        found = undamaged(codec.decode, data, f"chunk {chunk_id}")
        if found is None:
            damaged.append(chunk_id)
        else:
            replaced.append(chunk_id)
            points[series_id].append(found)
    return points, replaced, damaged


def _carry_out(plan: Plan) -> None:
    # Locked in order of id, so that two passes wait for each other and never deadlock.
    entries = JournalEntry.objects.filter(id__in=plan.entry_ids)
    locked = entries.select_for_update().order_by("id").values_list("id", flat=True)
    if list(locked) != plan.entry_ids:
        raise Overtaken("another worker took these entries")
    for ids in batches(plan.replaced_chunk_ids):
        deleted, _ = SeriesChunk.objects.filter(id__in=ids).delete()
        if deleted != len(ids):
            raise Overtaken("an open chunk was replaced")
    SeriesChunk.objects.filter(id__in=plan.damaged_chunk_ids).update(is_open=False)
    entries.filter(id__in=plan.damaged_entry_ids).update(is_damaged=True)
    entries.exclude(id__in=plan.damaged_entry_ids).delete()
    SeriesChunk.objects.bulk_create(plan.chunks)
    _update_summaries(plan)


def _update_summaries(plan: Plan) -> None:
    for ids in batches(list(plan.new_points)):
        found = Attribute.objects.select_for_update(no_key=True).filter(id__in=ids)
        series = list(found.order_by("id"))
        if len(series) != len(ids):
            raise Overtaken("a series was deleted")
        for attribute in series:
            add_to_summary(attribute, plan.new_points[attribute.id])
        # As one upsert: an UPDATE with a CASE for each row and column takes seconds.
        Attribute.objects.bulk_create(
            series,
            update_conflicts=True,
            unique_fields=["id"],
            update_fields=SUMMARY_FIELDS,
        )
