"""Import runs of MLflow: metrics, parameters, tags, artifacts and nested runs.

Reads a tracking server, a database such as mlflow.db, or a folder mlruns, without
MLflow. Other tracking URIs, such as postgresql://, are read by MLflow's client, which
must be installed. An experiment becomes a project.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from seamark.commands.importing.files import (
    Imported,
    Importer,
    Point,
    find_marked,
    mark_of,
)
from seamark.commands.importing.lineage import parents_first
from seamark.commands.importing.mlflow_client import ClientStore
from seamark.commands.importing.mlflow_server import Server
from seamark.commands.importing.sources import Mark, Source, import_marked
from seamark.commands.output import Refusal, tell
from seamark.commands.watched_run import add_names
from seamark.errors import AgentError
from seamark.importers.mlflow.database import Database
from seamark.importers.mlflow.folder import Folder
from seamark.importers.mlflow.store import (
    Experiment,
    Metric,
    Store,
    StoredRun,
    Unreadable,
)
from seamark.importers.mlflow.system_metrics import hardware_path
from seamark.importers.mlflow.values import failure_of, to_attributes, to_facts
from seamark.importers.problems import Problems
from seamark.path import clean_path
from seamark.recording.media.media import Image
from seamark.recording.values import to_step
from seamark.settings import Settings

HELP = "import runs of MLflow"
EXAMPLES = (
    "seamark import mlflow mlflow.db",
    "seamark import mlflow mlruns --experiment digits",
    "seamark import mlflow http://127.0.0.1:5000 --experiment digits --no-artifacts",
)

_MICROSECONDS = 1_000  # of MLflow's milliseconds
_KEY_CHARACTERS = 8  # of an id, enough to tell runs of one name apart
_DATABASE = "mlflow.db"
_RUNS = "mlruns"
_LONGEST = 200  # characters of a reason
# Pictures of `log_image`; a slash in the name is stored as `~`, or `#` in older versions.
_PICTURE = re.compile(
    r"images/(?P<name>[^/]+?)[+%]step[+%](?P<step>-?\d+)[+%]timestamp[+%](?P<time>\d+)"
    r"[+%][0-9a-f-]+\.png"
)
# MLflow's thumbnails of these pictures.
_THUMBNAIL = re.compile(r"images/[^/]+[+%]step[+%][^/]+[+%]compressed\.webp")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "uri",
        metavar="URI",
        help="a tracking server's URL, a database file, or a folder with mlflow.db or "
        "mlruns",
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
    with _readable(chosen.uri):
        store = _store(chosen.uri)
        found = [
            run
            for experiment in _experiments(store, chosen)
            for run in store.runs(experiment, _tell_problem)
        ]
    if not found:
        raise Refusal("not_found", f"There is no run in {chosen.uri!a}.")
    # The projects and names of imported runs, by their ids in MLflow.
    places: dict[str, tuple[str, str]] = {}

    def import_run(
        own: argparse.Namespace,
        settings: Settings,
        run: StoredRun,
        mark: Mark,
    ) -> Imported:
        parent = _parent(run, settings, places)
        with _readable(chosen.uri):
            imported = _import(own, settings._replace(parent=parent), store, run, mark)
        places[run.id] = settings.project, settings.run
        return imported

    runs = parents_first(found, lambda run: run.id, lambda run: run.parent)
    return import_marked(chosen, [(_source(run), run) for run in runs], import_run)


def _source(run: StoredRun) -> Source:
    return Source(
        run=run.name or run.id,
        project=run.experiment,
        key=run.id[:_KEY_CHARACTERS],
        mark=run.id,
    )


def _store(place: str) -> Store:
    if place.startswith(("http://", "https://")):
        return Server(place)
    if "://" in place or place == "databricks":
        return ClientStore(place)
    path = Path(place)
    if not path.exists():
        raise Refusal("not_found", f"File not found: {place!a}.")
    if path.is_dir() and (path / _DATABASE).is_file():
        return Database(path / _DATABASE)
    if path.is_file():
        return Database(path)
    for folder in (path, path / _RUNS):
        if folder.is_dir() and Folder.is_one(folder):
            return Folder(folder)
    raise Refusal(
        "not_found",
        f"There is neither {_DATABASE} nor an experiment of MLflow in {place!a}. Name "
        f"the folder {_RUNS}, a database, or a tracking server's URL.",
    )


def _experiments(store: Store, chosen: argparse.Namespace) -> list[Experiment]:
    found = store.experiments()
    names = {each.name for each in found}
    missing = [name for name in chosen.experiment if name not in names]
    if missing:
        raise Refusal(
            "not_found",
            f"There is no experiment {missing[0]!a}; there are "
            f"{', '.join(sorted(map(ascii, names))[:20]) or 'none'}.",
        )
    return [
        each
        for each in found
        if not chosen.experiment or each.name in chosen.experiment
    ]


def _parent(
    run: StoredRun, settings: Settings, places: Mapping[str, tuple[str, str]]
) -> str:
    """Return the name or id of the run that this one is nested in; "" for none."""
    if not run.parent:
        return ""
    project, name = places.get(run.parent, ("", ""))
    if name:
        # A parent has its children's project.
        return name if project == settings.project else ""
    # Imported by an earlier command.
    return find_marked(settings, mark_of(settings, run.parent))


def _import(
    chosen: argparse.Namespace,
    settings: Settings,
    store: Store,
    run: StoredRun,
    mark: Mark,
) -> Imported:
    imported = Imported()
    importer = Importer(settings, imported, chosen.tag)
    problems = imported.problems.setdefault(settings.run, Problems())
    started = (run.start or 0) * _MICROSECONDS
    with importer.importing(mark[0], Path(run.id)):
        importer.run_at(started)
        importer.assign(to_attributes(run.params, {}))
        importer.state(to_facts(run.id, run.tags))
        try:
            for name, points in store.metrics(run, problems.add):
                _log(importer, name, points, problems)
            # After the points: values that precede them count as parameters.
            importer.assign(to_attributes({}, run.tags))
            if not chosen.no_artifacts:
                _upload(importer, store, run, problems)
        except Unreadable:
            # The part that was read is delivered, and stays marked as incomplete.
            importer.finish()
            raise
    end = None if run.end is None else run.end * _MICROSECONDS
    importer.finish(failure_of(run.status), end if end else started)
    return imported


def _log(
    importer: Importer, name: str, metrics: list[Metric], problems: Problems
) -> None:
    # A metric that was logged without steps has step 0 at all points.
    is_counted = len(metrics) > 1 and not any(each.step for each in metrics)
    metrics = sorted(metrics, key=lambda each: (each.step, each.time))
    points: list[Point] = []
    try:
        path, factor = clean_path(name), 1.0
    except AgentError as error:
        problems.add(str(error), 1)
        return
    if (hardware := hardware_path(path)) is not None:
        path, factor = f"{importer.settings.namespace}/{hardware[0]}", hardware[1]
    for number, each in enumerate(metrics):
        try:
            step = to_step(number if is_counted else each.step)
        except AgentError as error:
            problems.add(
                f"{name[:60]!a} has a point that is skipped: {error}", number + 1
            )
            continue
        points.append((each.value * factor, step, max(each.time, 0) * _MICROSECONDS))
    if points:
        importer.extend(path, points)


def _upload(
    importer: Importer, store: Store, run: StoredRun, problems: Problems
) -> None:
    try:
        paths = store.artifacts(run)
    except Unreadable as error:
        # The artifacts may have been deleted, or lie on another machine.
        problems.add(f"artifacts are skipped: {error}"[:_LONGEST], 1)
        return
    for number, path in enumerate(paths, 1):
        if _THUMBNAIL.fullmatch(path):
            continue
        with tempfile.TemporaryDirectory(prefix="seamark-") as folder:
            try:
                file = store.fetch(run, path, Path(folder))
                _store_artifact(importer, path, file)
            except (Unreadable, OSError, AgentError) as error:
                problems.add(f"{path!a} is skipped: {error}"[:_LONGEST], number)


def _store_artifact(importer: Importer, path: str, file: Path) -> None:
    picture = _PICTURE.fullmatch(path)
    if picture is None:
        importer.attach(clean_path(f"artifacts/{path}"), file)
        return
    name = re.sub("[~#]", "/", picture["name"])
    moment = int(picture["time"]) * _MICROSECONDS
    # Read now, because a download is deleted before the picture would be copied.
    image = Image(file.read_bytes(), name=f"{name.rpartition('/')[2]}.png")
    importer.append(clean_path(f"images/{name}"), image, int(picture["step"]), moment)


def _tell_problem(cause: str, _number: int) -> None:
    tell(cause)


@contextmanager
def _readable(place: str) -> Iterator[None]:
    try:
        yield
    except Unreadable as error:
        raise Refusal("unreadable", f"{place!a} cannot be read: {error}.") from error
