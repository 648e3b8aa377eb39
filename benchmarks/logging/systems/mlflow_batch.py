"""MLflow's client, which takes a step as a list of its own objects."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.logging.client import Metrics
from benchmarks.logging.systems.mlflow import MLflow


class MLflowBatch(MLflow):
    writing = (
        "`MlflowClient.log_batch` with a step's objects made before, to a SQLite file"
    )

    def load(self) -> None:
        super().load()
        from mlflow import MlflowClient  # type: ignore[import-not-found]  # noqa: PLC0415
        from mlflow.entities import Metric  # type: ignore[import-not-found]  # noqa: PLC0415

        self._client_kind, self._metric = MlflowClient, Metric

    def open(self, run: str) -> None:
        super().open(run)
        self._client = self._client_kind()
        self._run_id = self._run.info.run_id
        self.log = self._log_batch

    def prepare(self, metrics: Metrics, step: int) -> Any:
        now = time.time_ns() // 1_000_000
        return [self._metric(name, value, now, step) for name, value in metrics.items()]

    def _log_batch(self, metrics: Any, step: int) -> None:  # noqa: ARG002 - they know it
        self._client.log_batch(self._run_id, metrics)


CLIENT = MLflowBatch
