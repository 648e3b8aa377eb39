"""Reads other stores of MLflow, such as PostgreSQL, by MLflow's own client."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seamark.commands.output import Refusal
from seamark.importers.mlflow.store import (
    Experiment,
    Metric,
    Report,
    StoredRun,
    Unreadable,
    restored,
)

if TYPE_CHECKING:
    # Any: MLflow is not a dependency.
    MlflowClient = Any

_RUNS_AT_ONCE = 1_000

logger = logging.getLogger("seamark")


class ClientStore:
    """A store at any tracking URI; needs MLflow."""

    def __init__(self, uri: str) -> None:
        self._client = _client(uri)

    def experiments(self) -> list[Experiment]:
        with _readable():
            found = self._client.search_experiments()
        return [Experiment(each.experiment_id, each.name) for each in found]

    def runs(self, experiment: Experiment, report: Report) -> list[StoredRun]:
        del report  # a store is readable as a whole, or not at all
        found: list[StoredRun] = []
        token = None
        while True:
            with _readable():
                page = self._client.search_runs(
                    [experiment.id],
                    max_results=_RUNS_AT_ONCE,
                    order_by=["attributes.start_time ASC"],
                    page_token=token,
                )
            found += [
                StoredRun(
                    id=run.info.run_id,
                    name=run.info.run_name or "",
                    experiment=experiment.name,
                    status=run.info.status,
                    start=run.info.start_time,
                    end=run.info.end_time,
                    params=run.data.params,
                    tags=run.data.tags,
                    metrics=tuple(run.data.metrics),
                )
                for run in page
            ]
            token = page.token
            if not token:
                return found

    def metrics(
        self, run: StoredRun, report: Report
    ) -> Iterator[tuple[str, list[Metric]]]:
        del report
        for name in run.metrics:
            with _readable():
                points = self._client.get_metric_history(run.id, name)
            yield name, [Metric(restored(p.value), p.step, p.timestamp) for p in points]

    def artifacts(self, run: StoredRun) -> list[str]:
        with _readable():
            return list(self._listed(run.id, None))

    def fetch(self, run: StoredRun, path: str, folder: Path) -> Path:
        with _readable():
            return Path(self._client.download_artifacts(run.id, path, str(folder)))

    def _listed(self, run_id: str, folder: str | None) -> Iterator[str]:
        for each in self._client.list_artifacts(run_id, folder):
            if each.is_dir:
                yield from self._listed(run_id, each.path)
            else:
                yield each.path


def _client(uri: str) -> MlflowClient:
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    try:
        from mlflow import MlflowClient  # type: ignore[import-not-found, unused-ignore] # noqa: PLC0415 - optional
    except ImportError:
        raise Refusal(
            "not_installed",
            f"Reading {uri.partition('://')[0]}:// needs MLflow, which is not installed "
            "here. Install it, or start `mlflow server --backend-store-uri …` and import "
            "from its URL.",
        ) from None
    with _readable():
        return MlflowClient(tracking_uri=uri)


@contextmanager
def _readable() -> Iterator[None]:
    """Raise Unreadable if MLflow fails: its stores raise errors of many libraries."""
    try:
        yield
    except Exception as error:
        logger.debug("MLflow failed", exc_info=True)
        raise Unreadable(f"MLflow cannot read it: {error}") from error
