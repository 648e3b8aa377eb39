"""Fills a database with a project of very many runs, as fast as possible.

The content of runs is random with a fixed seed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Index, Model

from tracker.actions.runs.run_summaries import gather_everything
from tracker.models import (
    Attribute,
    Diagnosis,
    Finding,
    Kind,
    Project,
    Run,
    Stage,
    Workspace,
)
from tracker.server.statements import key, moment

START = datetime(2026, 1, 2, tzinfo=UTC)
RUN_COLUMNS = (
    *("id", "project_id", "name", "state", "created_at", "started_at", "ended_at"),
    *("last_seen_at", "trashed_at"),
)
STAGE_COLUMNS = ("run_id", "name", "state", "started_at", "ended_at", "failure")
FINDING_COLUMNS = (
    *("run_id", "stage_id", "rule", "scope", "is_open", "is_primary", "explained_by"),
    *("severity", "confidence", "title", "body", "opened_at", "changed_at", "history"),
    "dismissed_reason",
)
DIAGNOSIS_COLUMNS = (
    *("run_id", "stage_id", "diagnosed_at", "is_final", "step_count", "healthy"),
    *("unanswered", "failed", "rules_version", "ledger"),
)
ATTRIBUTE_COLUMNS = (
    *("run_id", "project_id", "path", "kind", "updated_at", "number", "is_nan"),
    *("text", "items", "count", "finite_count", "minimum", "maximum", "total"),
    *("first_step", "last_step", "first_time", "last_time"),
)
STATES = ("finished", "finished", "finished", "failed", "crashed", "running")
OPTIMIZERS = ("adam", "adamw", "sgd", "lion")
TAGS = ("baseline", "dali", "nightly", "fast", "amp")
MONITORED = (
    "monitoring/train/gpu/0/utilization_percent",
    "monitoring/train/job/cpu_cores",
)
ROWS_AT_ONCE = 5_000
STEPS = 1_000
PART_NAN = 0.001
# One of this many runs is in the trash.
TRASHED = 1_000

Row = tuple[Any, ...]


class Fill:
    """One project; `run_count` runs with `attribute_count` attributes each."""

    def __init__(
        self, run_count: int, attribute_count: int, slug: str = "runs"
    ) -> None:
        # Projects of one database share no ids.
        self.random = random.Random(slug)
        self.run_count = run_count
        self.attribute_count = attribute_count
        workspace, _ = Workspace.objects.get_or_create(name="Many", slug="many")
        self.project = Project.objects.create(workspace=workspace, name=slug, slug=slug)
        # In their order, so that indexes that begin with them grow at their end.
        self.ids = sorted(
            UUID(int=self.random.getrandbits(128), version=4) for _ in range(run_count)
        )
        self.starts = list(range(run_count))
        self.random.shuffle(self.starts)

    def write(self) -> None:
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET statement_timeout = 0")
        with Without(Attribute, Run):
            insert(Run, RUN_COLUMNS, self.runs())
            insert(Stage, STAGE_COLUMNS, self.stages())
            insert(Attribute, ATTRIBUTE_COLUMNS, self.attributes())
        stages = dict(Stage.objects.values_list("run_id", "id"))
        insert(Finding, FINDING_COLUMNS, self.findings(stages))
        insert(Diagnosis, DIAGNOSIS_COLUMNS, self.diagnoses(stages))
        gather_everything(self.ids)
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                # As autovacuum would do later. SQLite has no equivalent.
                cursor.execute("VACUUM ANALYZE")

    def runs(self) -> Iterator[Row]:
        for run_id, place in zip(self.ids, self.starts, strict=True):
            start = START + timedelta(minutes=place)
            end = start + timedelta(seconds=self.random.randint(60, 80_000))
            state = self.random.choice(STATES)
            yield (
                *(key(run_id), self.project.pk, f"run {place:06}", state),
                *(moment(start), moment(start)),
                *(None if state == "running" else moment(end), moment(end)),
                moment(end) if place % TRASHED == 0 else None,
            )

    def stages(self) -> Iterator[Row]:
        for run_id, place in zip(self.ids, self.starts, strict=True):
            start = moment(START + timedelta(minutes=place))
            yield key(run_id), "train", "finished", start, None, ""

    def findings(self, stages: dict[UUID, int]) -> Iterator[Row]:
        now = moment(START)
        for run_id in self.ids[::3]:
            severity = self.random.choice(("notice", "warning", "critical"))
            yield (
                *(key(run_id), stages[run_id], "data-wait-dominates", "", True, True),
                *("", severity, 0.9, "Training waits for data", "{}", now, now, "[]"),
                "",
            )

    def diagnoses(self, stages: dict[UUID, int]) -> Iterator[Row]:
        """Yield rows of runs that all held a GPU; for every tenth, its use is unknown."""
        now = moment(START)
        for number, run_id in enumerate(self.ids):
            hours, idle = 20 * self.random.random(), self.random.random()
            seconds = {"computing": (1 - idle) * hours, "idle": idle * hours}
            uses = {"unknown": hours} if number % 10 == 0 else seconds
            ledger = {
                **{use: 3_600 * said for use, said in uses.items()},
                "gpus": 1,
                "energy_joules": hours * 1e6,
            }
            yield (
                *(key(run_id), stages[run_id], now, True, 0, "[]", "{}", "[]", ""),
                json.dumps(ledger),
            )

    def attributes(self) -> Iterator[Row]:
        for number, (run_id, place) in enumerate(
            zip(self.ids, self.starts, strict=True)
        ):
            start = (key(run_id), self.project.pk)
            for path, kind, *values in self.contents(number, place):
                yield (*start, path, kind, moment(START), *values)

    def contents(self, number: int, place: int) -> Iterator[Row]:
        draw = self.random.random
        share = place / self.run_count  # all different: any part of the runs
        yield "params/share", Kind.FLOAT, *plain(number=share)
        yield "params/seed", Kind.INTEGER, *plain(number=float(number))
        size = float(2 ** self.random.randint(4, 8))
        yield "params/batch_size", Kind.INTEGER, *plain(number=size)
        yield (
            "params/amp",
            Kind.BOOLEAN,
            *plain(number=float(self.random.randint(0, 1))),
        )
        name = self.random.choice(OPTIMIZERS)
        yield "params/optimizer", Kind.STRING, *plain(text=name)
        yield "note", Kind.STRING, *plain(text=f"note {number} " + "of much text " * 8)
        tags = sorted(self.random.sample(TAGS, self.random.randint(0, 3)))
        yield "tags", Kind.STRING_SET, *plain(items=json.dumps(tags))
        cores = "monitoring/train/facts/effective_cores"
        yield cores, Kind.FLOAT, *plain(number=8.0)
        for path in (*MONITORED, "train/loss", "val/accuracy"):
            yield path, Kind.FLOAT_SERIES, *self.series(draw())
        for place_of in range(12, self.attribute_count):
            path = f"train/group_{place_of % 5}/metric_{place_of:03}"
            yield path, Kind.FLOAT_SERIES, *self.series(draw())

    def series(self, last: float) -> Row:
        draw = self.random.random
        is_nan = draw() < PART_NAN
        total = draw() * STEPS
        return (
            *(None if is_nan else last, is_nan, None, None, STEPS, STEPS),
            *(last - draw(), last + draw(), total, 0.0, STEPS - 1.0, 1, 2),
        )


def plain(
    *, number: float | None = None, text: str | None = None, items: str | None = None
) -> Row:
    return number, False, text, items, 0, 0, None, None, 0.0, None, None, None, None


class Without:
    """Drops a model's own indexes, and rebuilds them at the end."""

    def __init__(self, *models: type[Model]) -> None:
        self.indexes: list[tuple[type[Model], Index]] = [
            (model, index)
            for model in models
            for index in model._meta.indexes  # noqa: SLF001 - Django's own
        ]

    def __enter__(self) -> None:
        with connection.schema_editor() as editor:
            for model, index in self.indexes:
                editor.remove_index(model, index)

    def __exit__(self, *_: object) -> None:
        with connection.schema_editor() as editor:
            for model, index in self.indexes:
                editor.add_index(model, index)


def insert(model: type[Model], columns: Sequence[str], rows: Iterable[Row]) -> None:
    table = model._meta.db_table  # noqa: SLF001 - Django's own
    names = ", ".join(columns)
    # One commit for all, not one for each row.
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            return
        marks = ", ".join("%s" for _ in columns)
        statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"
        rows = iter(rows)
        while some := list(islice(rows, ROWS_AT_ONCE)):
            cursor.executemany(statement, some)
