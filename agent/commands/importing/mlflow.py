"""Import runs of MLflow: metrics, parameters, tags, artifacts and nested runs.

Reads a tracking server, a database such as mlflow.db, or a folder mlruns by MLflow's own
client: run the command in an environment with MLflow. An experiment becomes a project.
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seamark.commands.importing.files import Imported, Importer
from seamark.commands.importing.sources import Source, import_each
from seamark.commands.output import MISUSED, Refusal
from seamark.commands.watched_run import add_names
from seamark.importers.mlflow_values import failure_of, to_attributes, to_facts
from seamark.importers.problems import Problems
from seamark.settings import Settings

if TYPE_CHECKING:
    # Any: MLflow is not a dependency.
    MlflowClient = Any
    MlflowRun = Any

HELP = "import runs of MLflow"
EXAMPLES = (
    "seamark import mlflow mlflow.db",
    "seamark import mlflow http://127.0.0.1:5000 --experiment digits --no-artifacts",
)

_RUNS_AT_ONCE = 1_000
_MICROSECONDS = 1_000  # of MLflow's milliseconds
_DATABASE = "mlflow.db"
_LONGEST = 200  # characters of a reason

logger = logging.getLogger("seamark")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "uri",
        metavar="URI",
        help="a tracking URI, a database file, or a folder with mlflow.db or runs",
    )
    parser.add_argument(
        "--experiment",
        action="append",
        default=[],
        help="only this experiment; may be repeated",
    )
    parser.add_argument(
        "--no-artifacts", action="store_true", help="do not import artifacts"
    )
    parser.add_argument(
        "--again", action="store_true", help="import runs that the project already has"
    )
    add_names(parser)


def perform(chosen: argparse.Namespace) -> int:
    client = _client(_tracking_uri(chosen.uri))
    runs = {run.info.run_id: (run, project) for run, project in _runs(client, chosen)}
    if not runs:
        raise Refusal("not_found", f"There is no run in {chosen.uri!a}.")
    if len(runs) > 1 and chosen.run:
        raise Refusal(
            "invalid_usage",
            f"--run names one run, but there are {len(runs):,}; leave it out.",
            MISUSED,
        )
    names: dict[str, str] = {}

    def import_one(
        own: argparse.Namespace,
        settings: Settings,
        source: Source,
        marks: Mapping[Path, str],
    ) -> Imported:
        run, _ = runs[source.key]
        parent = names.get(run.data.tags.get("mlflow.parentRunId", ""), "")
        names[source.key] = settings.run
        return _import(own, settings._replace(parent=parent), client, run, marks)

    sources = [
        Source(run=run.info.run_name or key, project=project, key=key)
        for key, (run, project) in runs.items()
    ]
    return import_each(chosen, sources, import_one)


def _tracking_uri(place: str) -> str:
    """Return the URI of a file or folder; other URIs are those of MLflow."""
    if "://" in place:
        return place
    path = Path(place).resolve()
    if path.is_dir() and (path / _DATABASE).is_file():
        path /= _DATABASE
    if not path.exists():
        raise Refusal("not_found", f"File not found: {place!a}.")
    return path.as_uri() if path.is_dir() else f"sqlite:///{path}"


def _client(uri: str) -> MlflowClient:
    # A recent MLflow reads folders of runs only if this is set.
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    try:
        from mlflow import MlflowClient  # type: ignore[import-not-found, unused-ignore] # noqa: PLC0415 - optional
    except ImportError:
        raise Refusal(
            "not_installed",
            "MLflow is not installed here. Install the SDK into the environment that "
            "has it, and run this command there.",
        ) from None
    return MlflowClient(tracking_uri=uri)


def _runs(
    client: MlflowClient, chosen: argparse.Namespace
) -> Iterator[tuple[MlflowRun, str]]:
    """Yield the runs with the names of their experiments, the oldest first."""
    with _readable():
        experiments = {each.name: each for each in client.search_experiments()}
    missing = [name for name in chosen.experiment if name not in experiments]
    if missing:
        raise Refusal("not_found", f"There is no experiment {missing[0]!a}.")
    for name in chosen.experiment or experiments:
        token = None
        while True:
            with _readable():
                page = client.search_runs(
                    [experiments[name].experiment_id],
                    max_results=_RUNS_AT_ONCE,
                    order_by=["attributes.start_time ASC"],
                    page_token=token,
                )
            yield from ((run, name) for run in page)
            token = page.token
            if not token:
                break


def _import(
    chosen: argparse.Namespace,
    settings: Settings,
    client: MlflowClient,
    run: MlflowRun,
    marks: Mapping[Path, str],
) -> Imported:
    imported = Imported()
    importer = Importer(settings, imported, chosen.tag)
    ((key, mark),) = marks.items()
    with importer.importing(mark, key):
        importer.run_at(run.info.start_time * _MICROSECONDS)
        importer.assign(to_attributes(run.data.params, run.data.tags))
        importer.state(to_facts(str(key), run.data.tags))
        for name in run.data.metrics:
            with _readable():
                points = client.get_metric_history(str(key), name)
            _log(importer, name, points)
        if not chosen.no_artifacts:
            problems = imported.problems.setdefault(settings.run, Problems())
            _upload(importer, client, str(key), problems)
    end = run.info.end_time
    importer.finish(
        failure_of(run.info.status), None if end is None else end * _MICROSECONDS
    )
    return imported


# Any: metrics of MLflow.
def _log(importer: Importer, name: str, points: list[Any]) -> None:
    # A metric that was logged without steps has step 0 at all points.
    is_counted = len(points) > 1 and not any(point.step for point in points)
    for number, point in enumerate(sorted(points, key=lambda x: (x.step, x.timestamp))):
        step = number if is_counted else point.step
        importer.log_users({name: point.value}, step, point.timestamp * _MICROSECONDS)


def _upload(
    importer: Importer, client: MlflowClient, run_id: str, problems: Problems
) -> None:
    with _readable():
        paths = list(_artifacts(client, run_id, None))
    for number, path in enumerate(paths, 1):
        with tempfile.TemporaryDirectory(prefix="seamark-") as folder:
            try:
                with _readable():
                    file = Path(client.download_artifacts(run_id, path, folder))
            except Refusal as refusal:
                # The file may have been deleted from its store.
                problems.add(f"{path!a} is skipped: {refusal}"[:_LONGEST], number)
                continue
            importer.attach(f"artifacts/{path}", file)


def _artifacts(client: MlflowClient, run_id: str, folder: str | None) -> Iterator[str]:
    for each in client.list_artifacts(run_id, folder):
        if each.is_dir:
            yield from _artifacts(client, run_id, each.path)
        else:
            yield each.path


@contextmanager
def _readable() -> Iterator[None]:
    """Raise Refusal if MLflow fails: its stores raise errors of many libraries."""
    try:
        yield
    except Exception as error:
        logger.debug("MLflow failed", exc_info=True)
        raise Refusal("unreadable", f"MLflow cannot read this: {error}") from error
