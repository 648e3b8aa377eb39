"""GoodSeed, which writes one SQLite file per run, and its server that reads them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.peers.driving import drive
from benchmarks.peers.system import Http, Server, System, free_port
from benchmarks.peers.workload import Block

PROJECT = "benchmark"
CHART_POINTS = 500

Rows = list[tuple[dict[str, float], int]]


class GoodSeed(System[Rows]):
    release = version("goodseed")
    writing = "`log_metrics` per step, one commit each, into a SQLite file per run"
    reading = "HTTP, `/api/runs/…/metrics`, with `pointCount` for charts"

    def __init__(self, folder: Path, address: dict[str, str] | None = None) -> None:
        super().__init__(folder, address)
        self._server: Server | None = None
        self._http: Http | None = None

    def start(self) -> None:
        (self.data / "projects").mkdir(parents=True, exist_ok=True)
        port = free_port()
        serve = [*("serve", str(self.data / "projects")), *("--port", str(port))]
        self._server = Server(
            [sys.executable, "-m", "goodseed.cli", *serve],
            port=port,
            log=self.folder / "web.log",
            folder=self.folder,
        )
        self._http = Http(port)

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None

    def count(self, run: str, names: Sequence[str]) -> int:
        return sum(
            len(json.loads(self._metrics(run, {"path": name}))["metrics"])
            for name in names
        )

    def chart(self, runs: Sequence[str], name: str) -> bytes:
        wanted = {"path": name, "pointCount": str(CHART_POINTS)}
        return b"".join(self._metrics(run, wanted) for run in runs)

    def open(self, run: str) -> None:
        import goodseed  # type: ignore[import-not-found]  # noqa: PLC0415

        self._run = goodseed.Run(
            project=PROJECT,
            run_id=run,
            goodseed_home=self.data,
            storage="local",
            capture_hardware_metrics=False,
            capture_stdout=False,
            capture_stderr=False,
            capture_traceback=False,
            git_ref=False,
        )

    def prepare(self, block: Block) -> Rows:
        return [(metrics, step) for step, _, metrics in block.rows()]

    def send(self, prepared: Rows) -> None:
        for metrics, step in prepared:
            self._run.log_metrics(metrics, step)

    def close(self) -> None:
        self._run.close()

    def _metrics(self, run: str, query: dict[str, str]) -> bytes:
        assert self._http is not None
        return self._http.get(f"/api/runs/{PROJECT}/{run}/metrics?{urlencode(query)}")


if __name__ == "__main__":
    drive({"local": GoodSeed})
