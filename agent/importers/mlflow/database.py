"""Reads MLflow's SQLite database, usually `mlflow.db`."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from seamark.importers.mlflow.store import (
    Experiment,
    Metric,
    Report,
    StoredRun,
    Unreadable,
    files_below,
    restored,
)

_HEADER = b"SQLite format 3\0"
_TABLES = frozenset({"experiments", "runs", "metrics", "params", "tags"})
_BUSY_SECONDS = 30.0


class Database:
    """A database of MLflow, opened for reading only."""

    def __init__(self, path: Path) -> None:
        """Open it; raises Unreadable."""
        self._path = path
        with path.open("rb") as file:
            if file.read(len(_HEADER)) != _HEADER:
                raise Unreadable("it is not an SQLite database")
        self._connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS
        )
        rows = self._rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        if not {name for (name,) in rows} >= _TABLES:
            raise Unreadable("it is not a database of MLflow: it has other tables")

    def experiments(self) -> list[Experiment]:
        rows = self._rows(
            "SELECT experiment_id, name FROM experiments"
            " WHERE lifecycle_stage = 'active' ORDER BY experiment_id"
        )
        return [Experiment(str(key), name) for key, name in rows]

    def runs(self, experiment: Experiment, report: Report) -> list[StoredRun]:
        del report  # a damaged database is unreadable as a whole
        rows = self._rows(
            "SELECT run_uuid, name, status, start_time, end_time, artifact_uri FROM runs"
            " WHERE experiment_id = ? AND lifecycle_stage = 'active'"
            " ORDER BY start_time, run_uuid",
            (int(experiment.id),),
        )
        found = []
        for run_id, name, status, start, end, uri in rows:
            tags = self._texts("tags", run_id)
            found.append(
                StoredRun(
                    id=run_id,
                    name=name or tags.get("mlflow.runName", ""),
                    experiment=experiment.name,
                    status=status or "",
                    start=start,
                    end=end,
                    artifact_uri=uri or "",
                    params=self._texts("params", run_id),
                    tags=tags,
                )
            )
        return found

    def metrics(
        self, run: StoredRun, report: Report
    ) -> Iterator[tuple[str, list[Metric]]]:
        del report
        rows = self._rows(
            "SELECT key, value, step, timestamp, is_nan FROM metrics"
            " WHERE run_uuid = ? ORDER BY key, step, timestamp",
            (run.id,),
        )
        for name, group in groupby(rows, key=lambda row: row[0]):
            yield (
                name,
                [
                    Metric(math.nan if is_nan else restored(value), step, moment)
                    for _, value, step, moment, is_nan in group
                ],
            )

    def artifacts(self, run: StoredRun) -> list[str]:
        return files_below(self._artifact_folder(run))

    def fetch(self, run: StoredRun, path: str, folder: Path) -> Path:
        del folder  # local files need no copy
        return self._artifact_folder(run) / path

    def _artifact_folder(self, run: StoredRun) -> Path:
        """Return the local folder of a run's artifacts; raises Unreadable."""
        parts = urlsplit(run.artifact_uri)
        place = unquote(parts.path)
        here = self._path.resolve().parent
        if parts.scheme in ("", "file"):
            # A relative path is relative to the folder in which MLflow ran.
            candidates = [here / place]
        elif parts.scheme == "mlflow-artifacts":
            candidates = [here / "mlartifacts" / place.lstrip("/")]
        else:
            raise Unreadable(
                f"its artifacts are in {parts.scheme}://{parts.netloc}: import from the"
                " tracking server's URL, which reads them"
            )
        # The database may have been moved together with its artifacts.
        below = Path(*Path(place).parts[-3:])
        candidates += [here / name / below for name in ("mlruns", "mlartifacts")]
        for folder in candidates:
            if folder.is_dir():
                return folder
        # MLflow creates the folder with the first artifact.
        return candidates[0]

    def _texts(self, table: str, run_id: str) -> dict[str, str]:
        query = f"SELECT key, value FROM {table} WHERE run_uuid = ?"
        return {key: value or "" for key, value in self._rows(query, (run_id,))}

    # Any: rows of SQLite.
    def _rows(self, query: str, values: Sequence[object] = ()) -> Iterator[Any]:
        try:
            yield from self._connection.execute(query, values)
        except sqlite3.Error as error:
            raise Unreadable(f"the database cannot be read: {error}") from error
