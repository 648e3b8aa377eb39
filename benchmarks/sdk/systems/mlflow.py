"""MLflow without a server, on a SQLite file; every call commits."""

from __future__ import annotations

from typing import ClassVar

from benchmarks.sdk.client import PROJECT, Client, Metrics


class MLflow(Client):
    package = "mlflow"
    writing = "`log_metrics`, synchronous, to a SQLite file"
    environment: ClassVar[dict[str, str]] = {
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_ENABLE_ASYNC_LOGGING": "false",
    }

    def load(self) -> None:
        import mlflow  # type: ignore[import-not-found]  # noqa: PLC0415

        self._mlflow = mlflow

    def open(self, run: str) -> None:
        self._mlflow.set_tracking_uri(f"sqlite:///{self.folder}/mlflow.db")
        self._mlflow.set_experiment(PROJECT)
        self._run = self._mlflow.start_run(run_name=run, log_system_metrics=False)
        self.log = self._log

    def close(self) -> None:
        self._mlflow.end_run()

    def _log(self, metrics: Metrics, step: int) -> None:
        self._mlflow.log_metrics(metrics, step, synchronous=True)


CLIENT = MLflow
