"""Aim, writing its repository from each process, or through its tracking server."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.peers.driving import drive
from benchmarks.peers.system import Http, Server, System, free_port
from benchmarks.peers.workload import Block

EXPERIMENT = "benchmark"
AIM = "from aim.cli.cli import cli_entry_point; cli_entry_point()"
# Maximum that its pages request.
CHART_POINTS = 500

Rows = list[tuple[dict[str, float], int]]


class Aim(System[Rows]):
    release = version("aim")
    writing = "`Run.track` with all metrics of a step, into its repository"
    reading = "`Repo.query_metrics`; charts over HTTP, `/api/runs/search/metric`"
    has_server = False

    def __init__(self, folder: Path, address: dict[str, str] | None = None) -> None:
        super().__init__(folder, address)
        self._servers: list[Server] = []
        self._http: Http | None = None

    # In the process that measures.

    def start(self) -> None:
        from aim import Repo  # type: ignore[import-not-found]  # noqa: PLC0415

        if not Repo.exists(str(self.data)):
            Repo.from_path(str(self.data), init=True)
        self._http = Http(self._serve("up", "--workers", "1"))
        self.address["repo"] = str(self.data)
        if self.has_server:
            self.address["repo"] = f"aim://127.0.0.1:{self._serve('server')}"

    def stop(self) -> None:
        while self._servers:
            self._servers.pop().stop()

    def count(self, run: str, names: Sequence[str]) -> int:
        from aim import Repo  # noqa: PLC0415

        wanted = set(names)
        query = f"run.name == '{run}'"
        found = 0
        for metrics in Repo(str(self.data)).query_metrics(query).iter_runs():
            for metric in metrics:
                if metric.name in wanted:
                    found += len(metric.values.sparse_list()[0])
        return found

    def chart(self, runs: Sequence[str], name: str) -> bytes:
        assert self._http is not None
        query = f"metric.name == '{name}' and run.name in {list(runs)}"
        wanted = urlencode({"q": query, "p": CHART_POINTS, "report_progress": "false"})
        return self._http.get(f"/api/runs/search/metric/?{wanted}")

    # In a process that logs.

    def open(self, run: str) -> None:
        from aim import Run  # noqa: PLC0415

        self._run: Any = Run(
            repo=self.address["repo"],
            experiment=EXPERIMENT,
            system_tracking_interval=None,
            capture_terminal_logs=False,
        )
        self._run.name = run

    def prepare(self, block: Block) -> Rows:
        return [(metrics, step) for step, _, metrics in block.rows()]

    def send(self, prepared: Rows) -> None:
        for metrics, step in prepared:
            self._run.track(metrics, step=step)

    def close(self) -> None:
        self._run.close()

    def _serve(self, *command: str) -> int:
        port = free_port()
        self._servers.append(
            Server(
                [
                    *(sys.executable, "-c", AIM, *command, "--yes"),
                    *("--repo", str(self.data), "--port", str(port)),
                ],
                port=port,
                log=self.folder / f"{command[0]}.log",
                folder=self.folder,
            )
        )
        return port


class AimServer(Aim):
    writing = "`Run.track` with all metrics of a step, to its tracking server"
    has_server = True


if __name__ == "__main__":
    drive({"local": Aim, "server": AimServer})
