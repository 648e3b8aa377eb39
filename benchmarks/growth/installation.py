"""Seamark on either database, and the resource use of its processes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import psutil
import psycopg

from benchmarks.peers.databases import Database, PostgresDatabase, SqliteDatabase
from benchmarks.peers.seamark import Seamark
from benchmarks.peers.system import Http
from tests.services import Valkey

SQLITE, POSTGRESQL = "sqlite", "postgresql"

# Words in the command line of each program that this process starts.
WEB, WORKER, SCHEDULER = "granian", " worker", " beat"
DATABASE, MESSAGES = "bin/postgres", "valkey-server"

# Compacts all runs like a busy worker, and prints the cost.
COMPACT = """
import json, resource, django
django.setup()
from tracker.models import Run
from tracker.series.compaction import compact_run
runs = list(Run.objects.values_list("id", flat=True))
before = resource.getrusage(resource.RUSAGE_SELF)
points = 0
for run_id in runs:
    while moved := compact_run(run_id):
        points += moved
after = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({
    "points": points,
    "seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    "most_bytes": after.ru_maxrss * 1024,
}))
"""
OLD = """
import datetime, django
django.setup()
from django.db.models import F
from tracker.models import Run
Run.objects.update(created_at=F("created_at") - datetime.timedelta(hours=1))
"""
# Size of the empty journal, which later batches reuse.
JOURNAL_BYTES = """
SELECT coalesce(sum(pg_total_relation_size(inhrelid)), 0) FROM pg_inherits
WHERE inhparent = 'tracker_journalentry'::regclass
"""
# A project of many runs, and a token that reads it.
FILL = """
import sys, django
django.setup()
from benchmarks.many_runs import Fill
from tracker.actions.access import found_installation, make_token
from tracker.actor import Scope
from tracker.models import Member, Role
fill = Fill(int(sys.argv[1]), int(sys.argv[2]))
fill.write()
user = found_installation().user
member = Member.objects.create(
    workspace=fill.project.workspace, user=user, role=Role.VIEWER
)
print(make_token(member, "benchmark", Scope.READ))
"""


@dataclass(frozen=True, slots=True)
class Compacted:
    points: int
    seconds: float
    most_bytes: float


class Installation(Seamark):
    """Started from this process, so its programs are children that can be looked at."""

    def compact(self) -> Compacted:
        return Compacted(**json.loads(self._python(COMPACT)))

    def fill(self, runs: int, attributes: int) -> Http:
        """Make a project of many runs; return a connection that may read it."""
        program = FILL.replace("sys.argv[1]", str(runs))
        token = self._python(program.replace("sys.argv[2]", str(attributes))).strip()
        port = int(self.address["port"])
        return Http(port, {"Authorization": f"Bearer {token}"})

    def make_runs_old(self) -> None:
        """Have all runs seem to have begun an hour ago."""
        self._python(OLD)

    def used_bytes(self) -> int:
        """Return the size of a settled database, without reusable space."""
        return self.stored_bytes() - self.free_bytes()

    @contextmanager
    def logged_bytes(self) -> Iterator[list[float]]:
        """Give a list that will hold the bytes which the database has logged meanwhile."""
        raise NotImplementedError


class OnSqlite(Installation):
    database_kind: type[Database] = SqliteDatabase

    @contextmanager
    def logged_bytes(self) -> Iterator[list[float]]:
        found: list[float] = []
        path = self.folder / "database/data.sqlite3"
        self._database.settle()
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            # While a reader has an old snapshot, the log is not restarted.
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM tracker_run").fetchall()
            yield found
            found.append(path.with_name(f"{path.name}-wal").stat().st_size)


class OnPostgresql(Installation):
    database_kind: type[Database] = PostgresDatabase

    def __init__(self, folder: Path, address: dict[str, str] | None = None) -> None:
        super().__init__(folder, address)
        self._valkey: Valkey | None = None

    def start(self) -> None:
        if self.has_worker and self._valkey is None:
            self._valkey = Valkey()
            self._valkey.start()
        super().start()

    def remove(self) -> None:
        super().remove()
        if self._valkey is not None:
            self._valkey.stop()
            self._valkey = None

    @contextmanager
    def logged_bytes(self) -> Iterator[list[float]]:
        found: list[float] = []
        before = self._position()
        yield found
        found.append(self._position() - before)

    def free_bytes(self) -> int:
        return int(self._number(JOURNAL_BYTES))

    def _position(self) -> float:
        return self._number(
            "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"
        )

    def _number(self, query: LiteralString) -> float:
        with psycopg.connect(self._database.plain_url) as connection:
            return float(connection.execute(query).fetchall()[0][0])

    def _environment(self) -> dict[str, str]:
        redis = {} if self._valkey is None else {"SEAMARK_REDIS_URL": self._valkey.url}
        return {**super()._environment(), **redis}


class OnSqliteAtWork(OnSqlite):
    has_worker = True


class OnPostgresqlAtWork(OnPostgresql):
    has_worker = True


WITHOUT_WORKER: dict[str, type[Installation]] = {
    SQLITE: OnSqlite,
    POSTGRESQL: OnPostgresql,
}
AT_WORK: dict[str, type[Installation]] = {
    SQLITE: OnSqliteAtWork,
    POSTGRESQL: OnPostgresqlAtWork,
}


def program(words: str) -> list[psutil.Process]:
    """Return the processes of a program that this one started; none if it did not."""
    found: list[psutil.Process] = []
    for child in psutil.Process().children():
        if words in command_line(child):
            found += [child, *child.children(recursive=True)]
    return found


def command_line(process: psutil.Process) -> str:
    # PostgreSQL's processes come and go.
    with suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return ""


def processor_seconds(words: str) -> float:
    """Return the CPU time of a program, including its ended children."""
    seconds = 0.0
    for process in program(words):
        with suppress(psutil.NoSuchProcess):
            seconds += sum(process.cpu_times()[:4])
    return seconds


def held_bytes(processes: Iterable[psutil.Process]) -> float:
    """Return the memory of processes; shared memory is counted once."""
    held = 0.0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            # Any: psutil's types lack fields that some kernels do not report.
            info: Any = process.memory_full_info()
            held += info.pss
    return held


@contextmanager
def spending(*programs: str) -> Iterator[dict[str, float]]:
    """Give a mapping that will hold the processor seconds which each program took."""
    spent: dict[str, float] = {}
    before = {words: processor_seconds(words) for words in programs}
    yield spent
    for words, seconds in before.items():
        spent[words] = processor_seconds(words) - seconds
