"""Fills a database of the first migration, as the first version would have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from django.core.management.color import no_style
from django.db import connection
from django.db.migrations.state import StateApps

from tests.migrations.first_version import chunk_rows, encode_entry, summary_of
from tests.tracker.series.examples import SECOND, START, noise, points
from tests.tracker.series.test_codec import GOLDEN, golden_points
from tracker.series.points import Points, concatenate

SINCE = datetime(2026, 1, 2, 12, tzinfo=UTC)
# The series that are named in the golden journal entry.
GOLDEN_IDS = {"golden/strange": 7, "golden/far": 2**40}

# Path: kind, and the columns of the row.
VALUES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "params/lr": ("float", {"number": 3e-4}),
    "params/nan": ("float", {"is_nan": True}),
    "params/seed": ("integer", {"number": 7.0}),
    "params/huge": ("integer", {"number": 1e30, "text": str(10**30 + 1)}),
    "params/fast": ("boolean", {"number": 1.0}),
    "params/note": ("string", {"text": "größer als zuvor"}),
    "params/long": ("string", {"text": "x" * 5_000}),
    "params/began": ("datetime", {"text": "2026-01-02T12:00:00+00:00"}),
    "tags": ("string_set", {"items": ["fast", "new"]}),
}
# Those values as they are read back.
READ_BACK = {
    "params/lr": 3e-4,
    "params/seed": 7,
    "params/huge": 10**30 + 1,
    "params/fast": True,
    "params/note": "größer als zuvor",
    "params/long": "x" * 5_000,
    "params/began": SINCE,
    "tags": ["fast", "new"],
}


@dataclass(frozen=True)
class FilledRun:
    """A run, and every point of it by path."""

    id: UUID
    spool_id: UUID
    last_number: int
    points: Mapping[str, Points]


class Filler:
    """Adds rows through the models as they were at one migration."""

    def __init__(self, apps: StateApps) -> None:
        self._apps = apps
        workspace = self.add("Workspace", name="Vision", slug="vision")
        user = self.add("User", username="ada", password="!")
        member = self.add("Member", workspace=workspace, user=user, role="owner")
        self.add(
            "Token", member=member, name="ci", scope="full", digest="0", prefix="s"
        )
        self.projects = [
            self.add("Project", workspace=workspace, name=name, slug=name)
            for name in ("digits", "letters")
        ]

    def add(self, model: str, **columns: Any) -> Any:
        return self._apps.get_model("tracker", model).objects.create(**columns)

    def fill(self) -> list[FilledRun]:
        """Add a run that finished, one whose process is still logging, and a third.

        The third is made of the very bytes that the first version wrote.
        """
        digits, letters = self.projects
        # First, as it says itself which ids its series have.
        golden = self._golden_run(digits)
        finished = self._run(digits, "finished", _shared_and_own(), VALUES)
        running = self._run(letters, "running", _many_entries(), {})
        for project, run in ((digits, finished), (letters, running)):
            ladder = self.add("Ladder", project=project, name="faster")
            self.add("Rung", ladder=ladder, run_id=run.id, position=0)
        return [finished, running, golden]

    def _run(
        self,
        project: Any,
        state: str,
        logged: Mapping[str, tuple[Points, Sequence[Points]]],
        values: Mapping[str, tuple[str, dict[str, Any]]],
    ) -> FilledRun:
        """Add a run with series of which a part is in chunks and the rest is not."""
        spool = self._spool(project, state, state)
        run = spool.run
        for path, (kind, columns) in values.items():
            self.add("Attribute", run=run, path=path, kind=kind, **columns)
        series = {
            path: self._series(run, path, in_chunks)
            for path, (in_chunks, _) in logged.items()
        }
        entries = _entries(
            {series[path].id: parts for path, (_, parts) in logged.items()}
        )
        for number, (count, data) in enumerate(entries, start=2):
            self._entry(spool, number, count, data)
        points = {path: _all_of(*parts) for path, parts in logged.items()}
        return self._filled(spool, len(entries) + 1, points)

    def _golden_run(self, project: Any) -> FilledRun:
        spool = self._spool(project, "golden", "finished")
        for path, series_id in GOLDEN_IDS.items():
            self._series(spool.run, path, Points.empty(), id=series_id)
        self._count_ids_from("Attribute")
        entry = (GOLDEN / "journal-v1.bin").read_bytes()
        self._entry(spool, 2, len(golden_points()) + 3, entry)
        golden_bytes = {
            "data": (GOLDEN / "chunk-v1.bin").read_bytes(),
            "overview": (GOLDEN / "overview-v1.bin").read_bytes(),
        }
        self._series(spool.run, "golden/chunk", golden_points(), instead=golden_bytes)
        return self._filled(
            spool,
            2,
            {
                "golden/strange": golden_points().sorted_by_step(),
                "golden/far": points([1, 2, 3]),
                "golden/chunk": golden_points().sorted_by_step(),
            },
        )

    def _spool(self, project: Any, name: str, state: str) -> Any:
        """Add a run with one stage and one process."""
        ended_at = SINCE + timedelta(hours=1) if state == "finished" else None
        times = {"started_at": SINCE, "ended_at": ended_at}
        run = self.add("Run", project=project, name=name, state=state, **times)
        stage = self.add("Stage", run=run, name="train", state=state, **times)
        return self.add(
            "Spool",
            id=uuid4(),
            run=run,
            stage=stage,
            host="node-1",
            process_id=4242,
            agent_version="0.1.0",
            state=state,
            last_seen_at=datetime.now(UTC),
            **times,
        )

    def _filled(
        self, spool: Any, last_number: int, every: Mapping[str, Points]
    ) -> FilledRun:
        spool.last_number = last_number
        spool.save()
        self.add("Work", run=spool.run, kind="compact", due_at=datetime.now(UTC))
        return FilledRun(spool.run.id, spool.id, last_number, every)

    def _series(
        self,
        run: Any,
        path: str,
        in_chunks: Points,
        *,
        instead: Mapping[str, bytes] = MappingProxyType({}),
        **columns: Any,
    ) -> Any:
        """Add a series and its chunks; with other bytes than they would have."""
        series = self.add(
            "Attribute",
            run=run,
            path=path,
            kind="float_series",
            **summary_of(in_chunks),
            **columns,
        )
        for chunk in chunk_rows(in_chunks):
            self.add("SeriesChunk", run=run, series=series, **{**chunk, **instead})
        return series

    def _entry(self, spool: Any, number: int, count: int, data: bytes) -> None:
        self.add(
            "JournalEntry",
            run=spool.run,
            spool=spool,
            point_count=count,
            data=data,
            first_number=number,
            last_number=number,
        )

    def _count_ids_from(self, model: str) -> None:
        """Have the database go on from the highest id there is."""
        table = self._apps.get_model("tracker", model)
        with connection.cursor() as cursor:
            for statement in connection.ops.sequence_reset_sql(no_style(), [table]):
                cursor.execute(statement)


def _shared_and_own() -> dict[str, tuple[Points, list[Points]]]:
    """Series with full and open chunks, and with one entry each in the journal."""
    losses = noise(9_000)
    losses[5:9] = np.nan, np.inf, -np.inf, -0.0
    return {
        "train/loss": (points(losses), [_later(9_000, noise(500, seed=1))]),
        "train/accuracy": (
            points(np.round(noise(9_000, seed=2), 2)),
            [_later(9_000, np.round(noise(500, seed=3), 2))],
        ),
        "only/nan": (points([np.nan] * 3), [_later(3, np.array([np.nan]))]),
        "only/journal": (Points.empty(), [points(noise(300, seed=4))]),
        "only/chunk": (points(noise(8_192, seed=5)), []),
        # Late points lie before what is in chunks, and repeat its steps.
        "late": (
            points([1.0, 2.0, 3.0]),
            [points([4.0, 5.0], steps=[-1, 1], times=[START + 7, START + 8 * SECOND])],
        ),
    }


def _many_entries() -> dict[str, tuple[Points, list[Points]]]:
    parts = [_later(40 * part, noise(40, seed=part)) for part in range(12)]
    return {"train/loss": (parts[0], parts[1:]), "step/seconds": (parts[0], parts[1:])}


def _later(first: int, values: np.ndarray) -> Points:
    steps = first + np.arange(len(values))
    return points(values, steps=steps, times=START + steps * SECOND)


def _entries(parts: Mapping[int, Sequence[Points]]) -> list[tuple[int, bytes]]:
    """Return a batch after the other, of all series that have so many parts."""
    entries = []
    for place in range(max(map(len, parts.values()))):
        batch = {key: some[place] for key, some in parts.items() if len(some) > place}
        entries.append((sum(map(len, batch.values())), encode_entry(batch)))
    return entries


def _all_of(in_chunks: Points, in_journal: Sequence[Points]) -> Points:
    return concatenate([in_chunks, *in_journal]).sorted_by_step()
