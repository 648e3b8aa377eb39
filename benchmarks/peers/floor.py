"""The floor: a tracker that only stores batches."""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.floor.storage import open_storage
from benchmarks.peers.databases import Database, PostgresDatabase, SqliteDatabase
from benchmarks.peers.driving import drive
from benchmarks.peers.system import Http, Server, System, free_port
from benchmarks.peers.workload import Block
from tracker.server.processes import BLOCKING_THREADS, IDLE_THREAD_SECONDS, ROOT

GRANIAN = f"granian {version('granian')}"

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode


class Floor(System[bytes]):
    """Keeps steps, times and values of each series; or steps and times once for all."""

    writing = "HTTP, one row of raw columns per batch, one commit each"
    shares_steps = False
    reading = "HTTP, the rows as they are; charts thinned from all points"
    database_kind: type[Database]

    def __init__(self, folder: Path, address: dict[str, str] | None = None) -> None:
        super().__init__(folder, address)
        self._database = self.database_kind(folder)
        self._server: Server | None = None
        self._connection: Http | None = None
        self._run = ""

    def start(self) -> None:
        self._database.start()
        url = self._database.plain_url
        open_storage(url).prepare()
        port = free_port()
        self.address["port"] = str(port)
        self._connection = None
        self._server = Server(
            [
                *(sys.executable, "-m", "granian", "benchmarks.floor.web:application"),
                *("--interface", "wsgi", "--no-ws", "--log-level", "warning"),
                *("--port", str(port), "--workers", "1"),
                *("--blocking-threads", str(BLOCKING_THREADS)),
                *("--blocking-threads-idle-timeout", str(IDLE_THREAD_SECONDS)),
            ],
            port=port,
            log=self.folder / "web.log",
            environment={"FLOOR_STORAGE": url},
            folder=ROOT,
        )

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None

    def remove(self) -> None:
        self._database.stop()

    def server_seconds(self) -> float | None:
        return self._server.processor_seconds() if self._server else None

    def count(self, run: str, names: Sequence[str]) -> int:  # noqa: ARG002 - all of them
        found = after = 0
        while rows := _decode(self._http.get(f"/{run}?after={after}")):
            found += sum(self._count(data) for _, data in rows)
            after = rows[-1][0]
        return found

    def settle(self) -> None:
        self._database.settle()

    def stored_bytes(self) -> int:
        return self._database.stored_bytes()

    def free_bytes(self) -> int:
        return self._database.free_bytes()

    def chart(self, runs: Sequence[str], name: str) -> bytes:
        return b"".join(self._http.get(f"/{run}/{name}") for run in runs)

    def open(self, run: str) -> None:
        self._run = run

    def prepare(self, block: Block) -> bytes:
        count = len(block.steps)
        steps = struct.pack(f"<{count}d", *block.steps)
        times = struct.pack(f"<{count}q", *(round(1e6 * time) for time in block.times))
        columns = {
            name: struct.pack(f"<{count}d", *values)
            for name, values in block.values.items()
        }
        if self.shares_steps:
            return _encode({"steps": steps, "times": times, "values": columns})
        return _encode({name: [steps, times, own] for name, own in columns.items()})

    def send(self, prepared: bytes) -> None:
        self._http.post(f"/{self._run}", prepared)

    @property
    def _http(self) -> Http:
        if self._connection is None:
            self._connection = Http(int(self.address["port"]))
        return self._connection

    def _count(self, data: dict[str, Any]) -> int:
        columns = (
            data["values"].values()
            if self.shares_steps
            else (values for _, _, values in data.values())
        )
        return sum(len(column) // 8 for column in columns)


class FloorOnSqlite(Floor):
    database_kind = SqliteDatabase
    release = f"{GRANIAN}, {SqliteDatabase.release}"


class FloorOnPostgres(Floor):
    database_kind = PostgresDatabase
    release = f"{GRANIAN}, {PostgresDatabase.release}"


class SharedOnSqlite(FloorOnSqlite):
    writing = "the same, but steps and times once for all series of a batch"
    shares_steps = True


class SharedOnPostgres(FloorOnPostgres):
    writing = SharedOnSqlite.writing
    shares_steps = True


if __name__ == "__main__":
    drive(
        {
            "sqlite": FloorOnSqlite,
            "postgresql": FloorOnPostgres,
            "sqlite-shared": SharedOnSqlite,
            "postgresql-shared": SharedOnPostgres,
        }
    )
