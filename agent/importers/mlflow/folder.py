"""Reads MLflow's folder of runs, `mlruns`.

`<experiment>/<run>/` has `meta.yaml` and the folders `metrics`, `params`, `tags` and
`artifacts`, with a file per metric, parameter, tag and artifact. A slash in a name is a
subfolder.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from seamark.importers.mlflow.store import (
    Experiment,
    Metric,
    Report,
    StoredRun,
    Unreadable,
    files_below,
    oldest_first,
)

_META = "meta.yaml"
_STATUSES = {
    "1": "RUNNING",
    "2": "SCHEDULED",
    "3": "FINISHED",
    "4": "FAILED",
    "5": "KILLED",
}
_LARGEST_VALUE = 1 << 20  # bytes
_WITHOUT_STEP = 2  # fields of a line


class Folder:
    """A folder of experiments, or of one experiment."""

    def __init__(self, root: Path) -> None:
        self._folders: dict[str, Path] = {}
        candidates = [root] if (root / _META).is_file() else sorted(root.iterdir())
        for folder in candidates:
            if folder.is_dir() and (folder / _META).is_file():
                self._folders[folder.name] = folder

    @staticmethod
    def is_one(path: Path) -> bool:
        """Return whether a folder has experiments, or is one."""
        is_experiment = (path / _META).is_file()
        return is_experiment or any(path.glob(f"*/{_META}"))

    def experiments(self) -> list[Experiment]:
        found = []
        for name, folder in self._folders.items():
            meta = _meta(folder)
            if "experiment_id" in meta and meta.get("lifecycle_stage") != "deleted":
                found.append(Experiment(name, meta.get("name") or name))
        return found

    def runs(self, experiment: Experiment, report: Report) -> list[StoredRun]:
        found = []
        folders = sorted(self._folders[experiment.id].iterdir())
        for number, folder in enumerate(folders, 1):
            if not (folder / _META).is_file():
                continue
            try:
                meta = _meta(folder)
                run_id = meta.get("run_id") or meta.get("run_uuid")
                if run_id and meta.get("lifecycle_stage") != "deleted":
                    found.append(_run(folder, run_id, meta, experiment))
            except (Unreadable, OSError, ValueError) as error:
                report(f"the run {folder.name!a} cannot be read: {error}", number)
        return oldest_first(found)

    def metrics(
        self, run: StoredRun, report: Report
    ) -> Iterator[tuple[str, list[Metric]]]:
        folder = Path(run.artifact_uri).parent / "metrics"
        for name in files_below(folder):
            points: list[Metric] = []
            try:
                with (folder / name).open(encoding="utf-8", errors="replace") as file:
                    for number, line in enumerate(file, 1):
                        point = _metric(line)
                        if point is None:
                            report(f"{name[:60]!a} has a damaged line", number)
                        else:
                            points.append(point)
            except OSError as error:
                report(f"{name[:60]!a} is skipped: {error.strerror}", 1)
            if points:
                yield name, points

    def artifacts(self, run: StoredRun) -> list[str]:
        return files_below(Path(run.artifact_uri))

    def fetch(self, run: StoredRun, path: str, folder: Path) -> Path:
        del folder  # local files need no copy
        return Path(run.artifact_uri) / path


def _run(
    folder: Path, run_id: str, meta: Mapping[str, str], experiment: Experiment
) -> StoredRun:
    tags = _texts(folder / "tags")
    status = meta.get("status", "")
    return StoredRun(
        id=run_id,
        name=meta.get("run_name") or meta.get("name") or tags.get("mlflow.runName", ""),
        experiment=experiment.name,
        status=_STATUSES.get(status, status),
        start=_number(meta.get("start_time")),
        end=_number(meta.get("end_time")),
        # The stored location may be that of another machine.
        artifact_uri=str(folder / "artifacts"),
        params=_texts(folder / "params"),
        tags=tags,
    )


def _texts(folder: Path) -> dict[str, str]:
    found = {}
    for name in files_below(folder):
        with (folder / name).open("rb") as file:
            found[name] = file.read(_LARGEST_VALUE).decode("utf-8", "replace")
    return found


def _metric(line: str) -> Metric | None:
    """Return the point of a line: `timestamp value [step] [data set]`."""
    fields = line.split()
    if len(fields) < _WITHOUT_STEP:
        return None
    try:
        step = int(fields[2]) if len(fields) > _WITHOUT_STEP else 0
        return Metric(float(fields[1]), step, int(fields[0]))
    except ValueError:
        return None


def _number(text: str | None) -> int | None:
    return int(float(text)) if text else None


def _meta(folder: Path) -> dict[str, str]:
    """Return the scalars of `meta.yaml`, which is a flat mapping; raises Unreadable."""
    try:
        text = (folder / _META).read_text("utf-8", "replace")
    except OSError as error:
        raise Unreadable(f"{_META} cannot be read ({error.strerror})") from error
    found = read_flat_yaml(text)
    if not found:
        raise Unreadable(f"{_META} is empty or damaged")
    return found


def read_flat_yaml(text: str) -> dict[str, str]:
    """Return the scalars of a flat mapping in YAML as texts; null is ""."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if line[:1] in (" ", "\t", "-", ""):
            if name:
                found[name] = _continued(found[name], line)
            continue
        name, colon, value = line.partition(":")
        if colon:
            found[name] = value.strip()
        else:
            name = ""
    return {name: _scalar(value) for name, value in found.items()}


def _continued(value: str, line: str) -> str:
    """Join a folded line: PyYAML breaks texts after 80 characters."""
    line = line.strip()
    if value.endswith("\\"):
        return value[:-1] + line.removeprefix("\\")
    return f"{value} {line}".strip()


def _scalar(text: str) -> str:
    if text[:1] == "'" and text.endswith("'"):
        return text[1:-1].replace("''", "'")
    if text[:1] == '"' and text.endswith('"'):
        try:
            return str(ast.literal_eval(text))
        except (ValueError, SyntaxError):
            return text[1:-1]
    return "" if text in ("null", "~") else text
