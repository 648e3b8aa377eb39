"""MLflow, through its tracking server on SQLite, as `mlflow server` starts it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.ingest.driving import drive
from benchmarks.ingest.system import Http, Server, System, free_port
from benchmarks.ingest.workload import Block

EXPERIMENT = "benchmark"
# The most that one request may carry, and that one answer holds.
METRICS_IN_REQUEST = 1_000
POINTS_IN_ANSWER = 25_000

Requests = list[list[Any]]


class MLflow(System[Requests]):
    release = version("mlflow")
    writing = (
        "`MlflowClient.log_batch`, 1,000 points a request, to its server on SQLite"
    )
    reading = "HTTP, `metrics/get-history`"

    def __init__(self, folder: Path, address: dict[str, str] | None = None) -> None:
        super().__init__(folder, address)
        self._server: Server | None = None
        self._http: Http | None = None
        self._run_ids: dict[str, str] = {}
        self._client: Any = None
        self._run_id = ""

    # In the process that measures.

    def start(self) -> None:
        port = free_port()
        # In its folder it makes the database that it makes by default.
        self._server = Server(
            [sys.executable, "-m", "mlflow", "server", "--port", str(port)],
            port=port,
            log=self.folder / "web.log",
            environment={"MLFLOW_DISABLE_TELEMETRY": "true"},
            folder=self.data,
        )
        self._http = Http(port, {"Content-Type": "application/json"})
        self.address["url"] = f"http://127.0.0.1:{port}"

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None

    def count(self, run: str, names: Sequence[str]) -> int:
        return sum(self._count(self._find(run), name) for name in names)

    # In a process that logs.

    def open(self, run: str) -> None:
        os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
        from mlflow import MlflowClient  # type: ignore[import-not-found]  # noqa: PLC0415

        if self._client is None:
            self._client = MlflowClient(self.address["url"])
        found = self._client.get_experiment_by_name(EXPERIMENT)
        experiment = (
            found.experiment_id if found is not None else self._create_experiment()
        )
        self._run_id = self._client.create_run(experiment, run_name=run).info.run_id

    def prepare(self, block: Block) -> Requests:
        from mlflow.entities import Metric  # type: ignore[import-not-found]  # noqa: PLC0415

        points = (
            Metric(name, value, round(1e3 * time), step)
            for step, time, metrics in block.rows()
            for name, value in metrics.items()
        )
        requests = []
        while request := list(islice(points, METRICS_IN_REQUEST)):
            requests.append(request)
        return requests

    def send(self, prepared: Requests) -> None:
        for metrics in prepared:
            self._client.log_batch(self._run_id, metrics)

    def close(self) -> None:
        self._client.set_terminated(self._run_id)

    def _create_experiment(self) -> str:
        from mlflow.exceptions import MlflowException  # type: ignore[import-not-found]  # noqa: PLC0415

        try:
            made: str = self._client.create_experiment(EXPERIMENT)
        except MlflowException:
            # Another process was faster.
            made = self._client.get_experiment_by_name(EXPERIMENT).experiment_id
        return made

    def _find(self, run: str) -> str:
        if run not in self._run_ids:
            path = "/api/2.0/mlflow/experiments/get-by-name"
            answer = self._get(path, [("experiment_name", EXPERIMENT)])
            experiment = json.loads(answer)["experiment"]["experiment_id"]
            body = {"experiment_ids": [experiment], "max_results": 1_000}
            assert self._http is not None
            found = json.loads(
                self._http.post(
                    "/api/2.0/mlflow/runs/search", json.dumps(body).encode()
                )
            )
            for one in found["runs"]:
                self._run_ids[one["info"]["run_name"]] = one["info"]["run_id"]
        return self._run_ids[run]

    def _count(self, run_id: str, name: str) -> int:
        found, page = 0, ""
        while True:
            query = [("run_id", run_id), ("metric_key", name)]
            query += [("max_results", str(POINTS_IN_ANSWER)), ("page_token", page)]
            path = "/api/2.0/mlflow/metrics/get-history"
            answer = json.loads(self._get(path, query if page else query[:-1]))
            found += len(answer.get("metrics", []))
            page = answer.get("next_page_token", "")
            if not page:
                return found

    def _get(self, path: str, query: list[tuple[str, str]]) -> bytes:
        assert self._http is not None
        return self._http.get(f"{path}?{urlencode(query)}")


if __name__ == "__main__":
    drive({"server": MLflow})
