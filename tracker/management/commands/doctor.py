"""Checks all stored data and settings, and prints advice."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError
from django.utils import timezone

from tracker.embedded.data_folder import running_url
from tracker.embedded.refusal import Refusal
from tracker.integrity.databases import look_at_database, look_at_redis
from tracker.integrity.files import file_problems
from tracker.integrity.host import look_at_host
from tracker.integrity.problem import Problem, Severity
from tracker.integrity.repair import repair
from tracker.integrity.report import Report
from tracker.integrity.run import RunWalk, run_ids
from tracker.integrity.snapshot import snapshot
from tracker.integrity.tables import (
    ladder_problems,
    process_problems,
    purge_problems,
    table_counts,
    work_problems,
)
from tracker.management.starting import refuse_newer_database
from tracker.models import Run
from tracker.queries.health import has_current_schema, missing_processes

# Per run and kind, to limit memory for a badly damaged run.
KEPT = 1_000


class Command(BaseCommand):
    help = (
        "Check for damaged data and unsafe settings. Exit codes: 0 no problems, 1"
        " warnings, 2 data is damaged or at risk."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument("--run", type=UUID, help="check only the data of one run")
        parser.add_argument(
            "--repair",
            action="store_true",
            help="repair damage where no data is lost",
        )
        parser.add_argument(
            "--quick",
            action="store_true",
            help="check the sizes of files without reading them",
        )
        parser.add_argument(
            "--thorough",
            action="store_true",
            help="also compare every SQLite index with its table",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        report = Report(
            show=self.stdout.write,
            show_progress=self.stderr.write,
            as_json=options["json"],
        )
        try:
            self._refuse_what_is_no_database()
            self._look(report, options)
        except DatabaseError as error:
            self._give_up(f"Cannot use the database: {error}")
        sys.exit(report.finish())

    def _refuse_what_is_no_database(self) -> None:
        name = settings.DATABASES["default"]["NAME"]
        # Connecting would create one.
        if settings.IS_SQLITE and not Path(name).exists():
            self._give_up(f"No database found at {name}.")
        try:
            refuse_newer_database()
        except Refusal as refusal:
            self._give_up(str(refusal))
        if not has_current_schema():
            self._give_up(
                "The database schema is outdated; start the server, or run `python3 manage.py migrate`."
            )

    def _give_up(self, why: str) -> None:
        self.stderr.write(why)
        sys.exit(Severity.ERROR)

    def _look(self, report: Report, options: dict[str, Any]) -> None:
        only: UUID | None = options["run"]
        chosen = run_ids(only)
        if only is None:
            for problem in look_around(is_thorough=options["thorough"]):
                report.add(problem)
            for problem in file_problems(reads=not options["quick"]):
                report.add(problem)
            report.rows = table_counts()
        elif not chosen:
            self._give_up(f"Run {only} not found.")
        for run_id in chosen:
            # Repaired after the snapshot, which is read-only, has ended.
            for problem in look_at_run(run_id, report, run_count=len(chosen)):
                is_repaired = options["repair"] and repair(problem)
                report.add(problem, is_repaired=is_repaired)


def look_at_run(run_id: UUID, report: Report, *, run_count: int) -> list[Problem]:
    found: list[Problem] = []
    kinds: Counter[tuple[str, Severity]] = Counter()
    with snapshot():
        run = Run.objects.filter(id=run_id, purging_at=None).first()
        if run is None:
            return []  # deleted concurrently
        for problem in RunWalk(run, report.seen).problems():
            kind = (problem.code, problem.severity)
            kinds[kind] += 1
            if kinds[kind] <= KEPT:
                found.append(problem)
            report.progress(run_count)
        report.progress(run_count)
    for (code, severity), count in kinds.items():
        report.add_unlisted(code, severity, max(0, count - KEPT))
    return found


def look_around(*, is_thorough: bool) -> Iterator[Problem]:
    """Check the machine, the settings, the database and its pending work."""
    yield from look_at_host(
        settings.DATA_FOLDER,
        keeps_database=settings.IS_SQLITE,
        debug=settings.DEBUG,
    )
    yield from look_at_database(is_thorough=is_thorough)
    if settings.REDIS_URL:
        yield from look_at_redis(settings.REDIS_URL)
    # On one machine, background processes run only with the server.
    if settings.REDIS_URL or running_url(settings.DATA_FOLDER):
        yield from process_problems(missing_processes())
    now = timezone.now()
    yield from work_problems(now)
    yield from purge_problems(now)
    yield from ladder_problems()
