"""Seamark with its real web server and the agent's records.

Only `SETTLE` depends on the compaction.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from time import time_ns
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from benchmarks import frames
from benchmarks.peers.databases import Database, PostgresDatabase, SqliteDatabase
from benchmarks.peers.driving import drive
from benchmarks.peers.system import Http, Server, System, free_port
from benchmarks.peers.workload import Block
from seamark import messages
from seamark.version import VERSION
from tracker.server import processes

PROJECT = "benchmark"
WORKSPACE = "home"
# Buckets per series that is read back, enough to check its shape.
BUCKETS = 10
SENT_AS = {
    "Content-Type": "application/vnd.seamark.frames",
    "Content-Encoding": "zstd",
}

MAKE_TOKEN = """
import django
django.setup()
from django.core.management import call_command
from tracker.actions.access import found_installation, make_token
from tracker.actor import Scope
call_command("migrate", verbosity=0)
print(make_token(found_installation(), "benchmark", Scope.MANAGE))
"""
# Compacts all runs like a worker until none is left; returns the journal's space once a
# minute.
SETTLE = """
import django
django.setup()
from tracker.embedded.sqlite.space import give_space_back
from tracker.models import Run
from tracker.series.compaction import compact_run
for run in Run.objects.all():
    while compact_run(run.id):
        pass
give_space_back(seconds=20)
"""


def closing(number: int) -> bytes:
    """The frame that ends a spool and with it the run, which is then tidied up."""
    return frames.frame(number, messages.close(failure=None, time=time_ns() // 1_000))


class Seamark(System[bytes]):
    writing = "HTTP, the frames its agent sends, compressed; one commit per batch"
    reading = "HTTP, `/api/v1/…/series`: buckets of all points, and how many they are"
    database_kind: type[Database]
    has_worker = False

    def __init__(self, folder: Path, address: dict[str, str] | None = None) -> None:
        super().__init__(folder, address)
        self._database = self.database_kind(folder)
        self._servers: list[Server] = []
        self._connection: Http | None = None
        self._run_ids: dict[str, str] = {}
        self._spool = ""
        self._numbers = count(1)

    # In the process that measures.

    def start(self) -> None:
        self._database.start()
        if "token" not in self.address:
            self.address["token"] = self._python(MAKE_TOKEN).strip()
        port = free_port()
        self.address["port"] = str(port)
        self._connection = None
        start = partial(Server, environment=self._environment(), folder=processes.ROOT)
        web = processes.web(bind="127.0.0.1", port=port)
        self._servers = [start(web, port=port, log=self.folder / "web.log")]
        if self.has_worker:
            log = self.folder / "worker.log"
            self._servers.append(start(processes.worker(), port=port, log=log))

    def stop(self) -> None:
        while self._servers:
            self._servers.pop().stop()

    def remove(self) -> None:
        self._database.stop()

    def server_seconds(self) -> float | None:
        # Of the web server only, because the worker does not run per batch.
        return self._servers[0].processor_seconds() if self._servers else None

    def count(self, run: str, names: Sequence[str]) -> int:  # noqa: ARG002 - all of them
        if run not in self._run_ids:
            self._find_runs()
        found, cursor = 0, 0
        while cursor is not None:
            query = {"run": self._run_ids[run], "buckets": BUCKETS, "cursor": cursor}
            answer = json.loads(self._series(query))
            found += sum(series["count"] for series in answer["series"])
            cursor = answer["next"]
        return found

    def settle(self) -> None:
        self._python(SETTLE)
        self._database.settle()

    def stored_bytes(self) -> int:
        return self._database.stored_bytes()

    def free_bytes(self) -> int:
        return self._database.free_bytes()

    def chart(self, runs: Sequence[str], name: str) -> bytes:
        return self._chart(runs, name)

    def another_chart(self, runs: Sequence[str], name: str, number: int) -> bytes:
        # Before the first step, so it is the same chart.
        return self._chart(runs, name, low=-1 - number)

    def _chart(self, runs: Sequence[str], name: str, **options: object) -> bytes:
        query = {"run": [self._run_ids[run] for run in runs], "path": name}
        return self._series({**query, **options, "format": "binary"})

    # In a process that logs.

    def open(self, run: str) -> None:
        self._spool = str(uuid4())
        self._numbers = count(2)
        self.send(frames.compress(frames.opening(PROJECT, run)))

    def prepare(self, block: Block) -> bytes:
        return frames.compress(frames.points(next(self._numbers), block))

    def send(self, prepared: bytes) -> None:
        answer = json.loads(
            self._http.post(f"/api/v1/ingest/{self._spool}", prepared, SENT_AS)
        )
        if answer["refused_count"]:
            raise RuntimeError(str(answer["refused"][0]))

    def close(self) -> None:
        self.send(frames.compress(closing(next(self._numbers))))

    def _series(self, query: dict[str, object]) -> bytes:
        path = f"/api/v1/projects/{WORKSPACE}/{PROJECT}/series"
        return self._http.get(f"{path}?{urlencode(query, doseq=True)}")

    def _find_runs(self) -> None:
        path = f"/api/v1/projects/{WORKSPACE}/{PROJECT}/runs?limit=200"
        runs = json.loads(self._http.get(path))["runs"]
        self._run_ids = {run["name"]: run["id"] for run in runs}

    @property
    def _http(self) -> Http:
        if self._connection is None:
            token = {"Authorization": f"Bearer {self.address['token']}"}
            self._connection = Http(int(self.address["port"]), token)
        return self._connection

    def _environment(self) -> dict[str, str]:
        return {
            "DJANGO_SETTINGS_MODULE": "tracker.settings",
            "SEAMARK_DATA": str(self.folder / "settings"),
            "SEAMARK_DATABASE_URL": self._database.django_url,
            "SEAMARK_CONFIG": str(self.folder / "agent.json"),
        }

    def _python(self, program: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, **self._environment()},
            cwd=processes.ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        return done.stdout


class SeamarkOnSqlite(Seamark):
    database_kind = SqliteDatabase
    release = f"{VERSION}, {SqliteDatabase.release}"


class SeamarkOnPostgres(Seamark):
    database_kind = PostgresDatabase
    release = f"{VERSION}, {PostgresDatabase.release}"


class SeamarkOnSqliteAtWork(SeamarkOnSqlite):
    """With the worker that compacts and diagnoses while points arrive."""

    has_worker = True


class SeamarkOnPostgresAtWork(SeamarkOnPostgres):
    """With the worker that compacts and diagnoses while points arrive."""

    has_worker = True


VARIANTS: dict[str, type[System[Any]]] = {
    "sqlite": SeamarkOnSqlite,
    "postgresql": SeamarkOnPostgres,
    "sqlite-worker": SeamarkOnSqliteAtWork,
    "postgresql-worker": SeamarkOnPostgresAtWork,
}

if __name__ == "__main__":
    drive(VARIANTS)
