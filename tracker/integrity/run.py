"""Checks all stored data of one run.

Reads are bounded in bytes; only a few numbers per series and row of ticks are kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models.functions import Length

from tracker.actions.runs.run_summaries import is_summary_current
from tracker.integrity.problem import Problem, Repair, Severity
from tracker.integrity.records import RecordWhole, record_chunk_faults
from tracker.integrity.rows import (
    Ticks,
    TicksById,
    chunk_faults,
    is_row_damaged,
    make_row_anew,
    overview_faults,
    read_chunk,
    read_entry,
    read_ticks,
    ticks_overview_faults,
)
from tracker.integrity.series import Whole, series_faults
from tracker.models import (
    Attribute,
    JournalEntry,
    Kind,
    RecordChunk,
    Run,
    SeriesChunk,
    SeriesTicks,
    Spool,
)
from tracker.queries.series.records import RECORD_KINDS
from tracker.series.codec import decode_ticks
from tracker.series.columns import Damaged
from tracker.series.downsample import Buckets
from tracker.series.points import Points

READ_ROWS = 500
READ_BYTES = 16 * 1024 * 1024
CHECKSUM_BYTES = 4

RESTORE = "restore the last backup if these points matter"
REPAIR = "run `python3 manage.py doctor --repair`"
NOTHING_LOST = "nothing is lost"
TELL = "please report it: this is a bug of Seamark"

Row = TypeVar("Row", bound=Model)


@dataclass(slots=True)
class Seen:
    """Progress counters of a check."""

    runs: int = 0
    journal_entries: int = 0
    ticks: int = 0
    chunks: int = 0
    points: int = 0
    unreadable_points: int = 0
    record_chunks: int = 0
    records: int = 0
    unreadable_records: int = 0


@dataclass(slots=True)
class RunWalk:
    """One run, and the results of its check so far."""

    run: Run
    seen: Seen
    series: dict[int, Attribute] = field(default_factory=dict)
    wholes: dict[int, Whole] = field(default_factory=lambda: defaultdict(Whole))
    # Number of chunks that refer to each row of ticks.
    references: Counter[int] = field(default_factory=Counter)
    # Ticks of chunks whose rows contradict their points.
    doubted_ticks: set[int] = field(default_factory=set)

    def problems(self) -> Iterator[Problem]:
        self.seen.runs += 1
        yield from self._attributes()
        yield from self._journal()
        yield from self._chunks()
        yield from self._ticks()
        yield from self._records()
        yield from self._summaries()
        yield from self._spools()
        yield from self._summary_problems()

    def _attributes(self) -> Iterator[Problem]:
        rows = Attribute.objects.filter(run_id=self.run.id)
        for row in rows.filter(kind=Kind.FLOAT_SERIES).iterator(READ_ROWS):
            self.series[row.pk] = row
        astray = rows.exclude(project_id=self.run.project_id).count()
        if astray:
            yield self._wrong(
                "attribute-project",
                "",
                f"{astray:,} attributes belong to another project than the run",
            )

    def _journal(self) -> Iterator[Problem]:
        last_numbers = dict(
            Spool.objects.filter(run_id=self.run.id).values_list("id", "last_number")
        )
        entries = JournalEntry.objects.filter(run_id=self.run.id)
        for entry in _in_portions(entries, "data"):
            self.seen.journal_entries += 1
            where = f"journal entry {entry.pk}"
            if entry.spool_id not in last_numbers:
                yield self._wrong(
                    "journal-spool", where, "its spool is not one of the run"
                )
            elif entry.last_number > last_numbers[entry.spool_id]:
                yield self._wrong(
                    "journal-number",
                    where,
                    f"it goes up to frame {entry.last_number}, its spool only to "
                    f"{last_numbers[entry.spool_id]}",
                )
            yield from self._entry(entry, where)

    def _entry(self, entry: JournalEntry, where: str) -> Iterator[Problem]:
        try:
            tables, faults = read_entry(entry)
        except Damaged as damage:
            self.seen.unreadable_points += entry.point_count
            yield self._damaged(
                "journal-damaged",
                where,
                f"{damage}; its {entry.point_count:,} points are left out",
                repair=None if entry.is_damaged else Repair.ENTRY,
                row_id=entry.pk,
            )
            return
        self.seen.points += entry.point_count
        if entry.is_damaged:
            yield self._wrong(
                "journal-set-aside", where, "it is set aside but can be read"
            )
        for fault in faults:
            yield self._wrong("journal-row", where, fault)
        ids = {key for table in tables for key in table.series_ids.tolist()}
        if unknown := ids - self.series.keys():
            yield self._wrong(
                "journal-series", where, f"{len(unknown):,} of its series do not exist"
            )

    def _chunks(self) -> Iterator[Problem]:
        chunks = SeriesChunk.objects.filter(run_id=self.run.id)
        for portion in _portions(chunks, "data", "overview"):
            ids = {chunk.ticks_id for chunk in portion if chunk.ticks_id is not None}
            rows = SeriesTicks.objects.filter(run_id=self.run.id, id__in=ids)
            steps = {row.pk: read_ticks(row) for row in rows}
            for chunk in portion:
                yield from self._chunk(chunk, steps)

    def _chunk(self, chunk: SeriesChunk, steps: TicksById) -> Iterator[Problem]:
        self.seen.chunks += 1
        where = self._name(chunk)
        whole = self.wholes[chunk.series_id]
        is_damaged = is_row_damaged(chunk)
        if not is_damaged:
            whole.add_row(chunk)
        if chunk.series_id not in self.series:
            yield self._wrong("chunk-series", where, "its series does not exist")
        ticks: Ticks | None = None
        if chunk.ticks_id is not None:
            self.references[chunk.ticks_id] += 1
            ticks = steps.get(chunk.ticks_id)
            if ticks is None:
                yield from self._without_ticks(chunk, where, chunk.ticks_id in steps)
                return
        try:
            points, bucket = read_chunk(chunk, ticks)
        except Damaged as damage:
            yield self._unreadable(chunk, "chunk-damaged", where, str(damage))
            return
        self.seen.points += len(points)
        if is_damaged:
            yield self._damaged_row(chunk, bucket, points)
            make_row_anew(chunk, bucket)
            whole.add_row(chunk)
        whole.add_points(points)
        faults = list(chunk_faults(chunk, bucket, points))
        for fault in faults:
            yield self._wrong("chunk-row", where, fault)
        if faults and chunk.ticks_id is not None:
            self.doubted_ticks.add(chunk.ticks_id)
        yield from self._drawing_buckets(
            overview_faults(chunk, ticks, bucket, points),
            "chunk-overview",
            where,
            # Points that contradict the row may belong to another chunk.
            repair=None if faults else Repair.OVERVIEW,
            row_id=chunk.pk,
        )

    def _damaged_row(
        self, chunk: SeriesChunk, bucket: Buckets, points: Points
    ) -> Problem:
        """Report a damaged row; its values can be recomputed from the points."""
        faults = "; ".join(chunk_faults(chunk, bucket, points))
        return Problem(
            Severity.WARNING,
            "row-damaged",
            self._place(self._name(chunk)),
            f"its row's checksum is wrong ({faults or 'the numbers are right'}); its"
            " points are read instead, which takes longer",
            f"{REPAIR}; {NOTHING_LOST}",
            self.run.id,
            Repair.ROW,
            chunk.pk,
        )

    def _without_ticks(
        self, chunk: SeriesChunk, where: str, is_there: bool
    ) -> Iterator[Problem]:
        if is_there:  # reported with the ticks, once for all of their chunks
            self._leave_out(chunk)
        else:
            what = f"its ticks {chunk.ticks_id} are gone"
            yield self._unreadable(chunk, "chunk-ticks", where, what)

    def _unreadable(
        self, chunk: SeriesChunk, code: str, where: str, why: str
    ) -> Problem:
        self._leave_out(chunk)
        what = f"{why}; its {chunk.count:,} points are left out"
        return self._damaged(code, where, what)

    def _leave_out(self, chunk: SeriesChunk) -> None:
        self.seen.unreadable_points += chunk.count
        whole = self.wholes[chunk.series_id]
        whole.is_complete = False
        if is_row_damaged(chunk):
            whole.add_row(chunk)  # the best available values

    def _ticks(self) -> Iterator[Problem]:
        rows = SeriesTicks.objects.filter(run_id=self.run.id)
        for row in _in_portions(rows, "data", "overview"):
            self.seen.ticks += 1
            where = f"ticks {row.pk}"
            references = self.references[row.pk]
            if references != row.chunk_count:
                yield Problem(
                    Severity.WARNING,
                    "chunk-count",
                    self._place(where),
                    f"{references:,} chunks refer to them, their row says "
                    f"{row.chunk_count:,}",
                    REPAIR,
                    self.run.id,
                    Repair.CHUNK_COUNT,
                    row.pk,
                )
            try:
                ticks = decode_ticks(row.data)
            except Damaged as damage:
                what = f"{damage}; the points of {references:,} chunks are left out"
                yield self._damaged("ticks-damaged", where, what)
                continue
            if not np.isfinite(ticks[0]).all():
                yield self._wrong("ticks-steps", where, "steps are not finite")
            yield from self._drawing_buckets(
                ticks_overview_faults(row, ticks),
                "ticks-overview",
                where,
                repair=None if row.pk in self.doubted_ticks else Repair.TICKS_OVERVIEW,
                row_id=row.pk,
            )

    def _drawing_buckets(
        self,
        faults: Iterator[str],
        code: str,
        where: str,
        *,
        repair: Repair | None,
        row_id: int,
    ) -> Iterator[Problem]:
        """Report damaged drawing buckets; they can be recomputed from the points."""
        try:
            what = "; ".join(faults)
            severity, advice = Severity.ERROR, TELL
        except Damaged as damage:
            what = (
                f"the drawing buckets cannot be read ({damage}); charts read all points "
                "instead, which takes longer"
            )
            code, severity, advice = "overview-damaged", Severity.WARNING, NOTHING_LOST
        if what:
            place = self._place(where)
            advice = f"{REPAIR}; {advice}" if repair else advice
            yield Problem(
                severity, code, place, what, advice, self.run.id, repair, row_id
            )

    def _records(self) -> Iterator[Problem]:
        rows = Attribute.objects.filter(run_id=self.run.id, kind__in=RECORD_KINDS)
        series = {row.pk: RecordWhole(row) for row in rows.iterator(READ_ROWS)}
        chunks = RecordChunk.objects.filter(run_id=self.run.id)
        for chunk in _in_portions(chunks, "data"):
            self.seen.record_chunks += 1
            whole = series.get(chunk.series_id)
            path = whole.row.path if whole else f"series {chunk.series_id}"
            where = f"{path}, chunk {chunk.pk} of records"
            if whole is None:
                yield self._wrong("record-series", where, "its series does not exist")
            else:
                whole.add_row(chunk)
            try:
                faults = list(record_chunk_faults(chunk))
            except Damaged as damage:
                self.seen.unreadable_records += chunk.count
                what = f"{damage}; its {chunk.count:,} records are left out"
                yield self._damaged("record-damaged", where, what)
                continue
            self.seen.records += chunk.count
            for fault in faults:
                yield self._wrong("record-row", where, fault)
        for whole in series.values():
            if what := "; ".join(whole.faults()):
                yield self._wrong("record-summary", whole.row.path, what)

    def _summaries(self) -> Iterator[Problem]:
        for series_id, row in self.series.items():
            faults = list(series_faults(row, self.wholes.get(series_id, Whole())))
            if faults:
                yield Problem(
                    Severity.WARNING,
                    "series-summary",
                    self._place(row.path),
                    "; ".join(faults),
                    REPAIR,
                    self.run.id,
                    Repair.SUMMARY,
                    series_id,
                )

    def _spools(self) -> Iterator[Problem]:
        spools = Spool.objects.filter(run_id=self.run.id)
        astray = spools.exclude(stage__run_id=self.run.id).count()
        if astray:
            what = f"{astray:,} spools belong to a stage of another run"
            yield self._wrong("spool-stage", "", what)
        for spool in spools.only("last_number", "recent_checksums").iterator(READ_ROWS):
            remembered, rest = divmod(len(spool.recent_checksums), CHECKSUM_BYTES)
            if rest or remembered > spool.last_number:
                yield self._wrong(
                    "spool-number",
                    f"spool {spool.pk}",
                    f"it remembers {remembered} frames of {spool.last_number}",
                )

    def _summary_problems(self) -> Iterator[Problem]:
        if not is_summary_current(self.run.id):
            yield Problem(
                Severity.WARNING,
                "run-summary",
                self._place(""),
                "the run summary differs from the rows that it summarizes",
                REPAIR,
                self.run.id,
                Repair.RUN_SUMMARY,
            )

    def _name(self, chunk: SeriesChunk) -> str:
        row = self.series.get(chunk.series_id)
        path = row.path if row else f"series {chunk.series_id}"
        return f"{path}, chunk {chunk.pk}"

    def _place(self, where: str) -> str:
        run = f"run {self.run.name} ({self.run.id})"
        return f"{run}, {where}" if where else run

    def _wrong(self, code: str, where: str, what: str) -> Problem:
        """Report two stored values that contradict each other."""
        return Problem(
            Severity.ERROR, code, self._place(where), what, TELL, self.run.id
        )

    def _damaged(
        self,
        code: str,
        where: str,
        what: str,
        *,
        repair: Repair | None = None,
        row_id: int = 0,
    ) -> Problem:
        """Report bytes that fail their checksum."""
        advice = f"{RESTORE}, or {REPAIR} to set it aside" if repair else RESTORE
        return Problem(
            Severity.ERROR,
            code,
            self._place(where),
            what,
            advice,
            self.run.id,
            repair,
            row_id,
        )


def run_ids(only: UUID | None = None) -> list[UUID]:
    """Return the runs to check, without those that are being deleted."""
    runs = Run.objects.filter(purging_at=None)
    if only is not None:
        runs = runs.filter(id=only)
    return list(runs.order_by("created_at", "id").values_list("id", flat=True))


def _in_portions(rows: QuerySet[Row], *columns: str) -> Iterator[Row]:
    for portion in _portions(rows, *columns):
        yield from portion


def _portions(rows: QuerySet[Row], *columns: str) -> Iterator[Sequence[Row]]:
    """Yield rows by id, in portions limited by the size of these columns."""
    size: Any = sum((Length(column) for column in columns[1:]), Length(columns[0]))
    sizes = np.fromiter(
        rows.order_by("id").annotate(size=size).values_list("id", "size").iterator(),
        dtype=[("id", np.int64), ("size", np.int64)],
    )
    # PostgreSQL needs the run to select the partition; SQLite would scan all rows of
    # the run instead of using the ids.
    by_id = rows if connection.vendor == "postgresql" else QuerySet(rows.model)
    start = 0
    while start < len(sizes):
        reached = np.cumsum(sizes["size"][start : start + READ_ROWS])
        fitting = max(1, int(np.searchsorted(reached, READ_BYTES, side="right")))
        ids = sizes["id"][start : start + fitting].tolist()
        yield cast("list[Row]", list(by_id.filter(id__in=ids).order_by("id")))
        start += fitting
