"""trackio, writing its SQLite file from each process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.ingest.driving import drive
from benchmarks.ingest.system import Http, Server, System, free_port
from benchmarks.ingest.workload import Block

PROJECT = "benchmark"
WRITE_TOKEN = "benchmark"
# The most rows that its queries answer with.
QUERY_ROWS = 5_000
SHOW = "import trackio; trackio.show(open_browser=False, server_port={port})"

Rows = list[tuple[dict[str, float], int]]


class Trackio(System[Rows]):
    release = version("trackio")
    writing = "`trackio.log` per step, which it writes in batches to its SQLite file"
    reading = "HTTP, `query_project` for all rows"

    def __init__(self, folder: Path, address: dict[str, str] | None = None) -> None:
        super().__init__(folder, address)
        self._server: Server | None = None
        self._http: Http | None = None

    def start(self) -> None:
        port = free_port()
        self._server = Server(
            [sys.executable, "-c", SHOW.format(port=port)],
            port=port,
            log=self.folder / "web.log",
            environment={
                "TRACKIO_DIR": str(self.data),
                "TRACKIO_WRITE_TOKEN": WRITE_TOKEN,
            },
            folder=self.folder,
        )
        self._http = Http(port, {"X-Trackio-Write-Token": WRITE_TOKEN})

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None

    def count(self, run: str, names: Sequence[str]) -> int:
        found = after = 0
        while True:
            # The name is our own, and its queries take no parameters.
            answer = self._ask(
                "query_project",
                query=f"SELECT id, metrics FROM metrics WHERE run_name = '{run}'"
                f" AND id > {after} ORDER BY id LIMIT {QUERY_ROWS}",
            )
            for row in answer["rows"]:
                metrics = row["metrics"]
                if isinstance(metrics, str):
                    metrics = json.loads(metrics)
                found += sum(name in metrics for name in names)
            if not answer["rows"]:
                return found
            after = answer["rows"][-1]["id"]

    def open(self, run: str) -> None:
        os.environ["TRACKIO_DIR"] = str(self.data)
        # It reads its folder when it is imported.
        import trackio  # type: ignore[import-not-found]  # noqa: PLC0415

        self._trackio = trackio
        trackio.init(PROJECT, name=run, auto_log_cpu=False, auto_log_gpu=False)

    def prepare(self, block: Block) -> Rows:
        return [(metrics, step) for step, _, metrics in block.rows()]

    def send(self, prepared: Rows) -> None:
        for metrics, step in prepared:
            self._trackio.log(metrics, step=step)

    def close(self) -> None:
        self._trackio.finish()

    def _ask(self, name: str, **arguments: object) -> Any:
        answer = json.loads(self._post(name, **arguments))
        if answer.get("error") is not None:
            raise RuntimeError(answer["error"])
        return answer["data"]

    def _post(self, name: str, **arguments: object) -> bytes:
        assert self._http is not None
        body = {"args": [], "kwargs": {"project": PROJECT, **arguments}}
        return self._http.post(
            f"/api/{name}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )


if __name__ == "__main__":
    drive({"local": Trackio})
