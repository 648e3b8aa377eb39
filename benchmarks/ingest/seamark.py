"""Seamark: the SDK in the process that logs, and the real web server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.ingest.databases import Database, PostgresDatabase, SqliteDatabase
from benchmarks.ingest.driving import drive
from benchmarks.ingest.system import Http, Server, System, free_port
from benchmarks.ingest.workload import Block
from seamark.version import VERSION
from tracker.server import processes

PROJECT = "benchmark"
WORKSPACE = "home"
# Buckets per series that is read back, enough to check its shape.
BUCKETS = 10
# Longer than any delivery, so that no point is left for later.
DELIVERY_SECONDS = 300.0

MAKE_TOKEN = """
import django
django.setup()
from django.core.management import call_command
from tracker.actions.access import found_installation, make_token
from tracker.actor import Scope
call_command("migrate", verbosity=0)
print(make_token(found_installation(), "benchmark", Scope.MANAGE))
"""

Rows = list[tuple[dict[str, float], int]]


class Seamark(System[Rows]):
    writing = "`Run.log` per step; the SDK's thread sends batches over HTTP"
    reading = "HTTP, `/api/v1/…/series`: buckets of all points, and how many they are"
    database_kind: type[Database]

    def __init__(self, folder: Path, address: dict[str, str] | None = None) -> None:
        super().__init__(folder, address)
        self._database = self.database_kind(folder)
        self._servers: list[Server] = []
        self._connection: Http | None = None
        self._run_ids: dict[str, str] = {}

    # In the process that measures.

    def start(self) -> None:
        self._database.start()
        self.address["token"] = self._python(MAKE_TOKEN).strip()
        port = free_port()
        self.address["port"] = str(port)
        start = partial(Server, environment=self._environment(), folder=processes.ROOT)
        web = processes.web(bind="127.0.0.1", port=port)
        self._servers = [
            start(web, port=port, log=self.folder / "web.log"),
            start(processes.worker(), port=port, log=self.folder / "worker.log"),
        ]

    def stop(self) -> None:
        while self._servers:
            self._servers.pop().stop()

    def remove(self) -> None:
        self._database.stop()

    def count(self, run: str, names: Sequence[str]) -> int:  # noqa: ARG002 - all of them
        if run not in self._run_ids:
            self._find_runs()
        if run not in self._run_ids:
            return 0
        found, cursor = 0, 0
        while cursor is not None:
            query = {"run": self._run_ids[run], "buckets": BUCKETS, "cursor": cursor}
            path = f"/api/v1/projects/{WORKSPACE}/{PROJECT}/series"
            answer = json.loads(self._http.get(f"{path}?{urlencode(query)}"))
            found += sum(series["count"] for series in answer["series"])
            cursor = answer["next"]
        return found

    # In a process that logs.

    def open(self, run: str) -> None:
        os.environ.update(
            SEAMARK_URL=f"http://127.0.0.1:{self.address['port']}",
            SEAMARK_TOKEN=self.address["token"],
            SEAMARK_SPOOL=str(self.folder / "spool"),
            SEAMARK_CAPTURE="no",
        )
        import agent  # noqa: PLC0415 - like the peers, only in the process that logs

        self._run = agent.init(run, project=PROJECT, monitor=False)

    def prepare(self, block: Block) -> Rows:
        return [(metrics, step) for step, _, metrics in block.rows()]

    def send(self, prepared: Rows) -> None:
        for metrics, step in prepared:
            self._run.log(metrics, step=step)

    def close(self) -> None:
        self._run.finish(timeout=DELIVERY_SECONDS)

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
            "SEAMARK_DATABASE_URL": self._database.url,
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


VARIANTS: dict[str, type[System[Any]]] = {
    "sqlite": SeamarkOnSqlite,
    "postgresql": SeamarkOnPostgres,
}

if __name__ == "__main__":
    drive(VARIANTS)
