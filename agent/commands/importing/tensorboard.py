"""Import event files of TensorBoard: scalars, histograms, images, texts, parameters.

A folder with event files is a run, as in TensorBoard, and named after the folder. Other
folders are searched, so a whole log folder can be imported at once. The files of train,
validation and other subfolders of a run have the folder's name before their tags.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from seamark.capture.tensorboard import (
    MAX_RECORD_BYTES,
    SPLITS,
    event_files_below,
    loggable,
)
from seamark.commands.importing.files import (
    MICROSECONDS,
    Imported,
    Importer,
    add_files,
    files_of,
)
from seamark.commands.importing.sources import Source, import_each
from seamark.commands.output import Refusal
from seamark.importers.problems import Problems
from seamark.importers.tensorboard import (
    Damaged,
    Event,
    Hyperparameters,
    read_event,
    read_record,
)
from seamark.settings import Settings

HELP = "import event files of TensorBoard"
EXAMPLES = (
    "seamark import tensorboard runs --project digits",
    "seamark import tensorboard lightning_logs/version_3 --project digits --run baseline",
)

# PyTorch's add_hparams writes into a folder that is named after the time.
_TIME = re.compile(r"[0-9]+(\.[0-9]+)?")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_files(parser, "a folder with event files, or an event file")


def perform(chosen: argparse.Namespace) -> int:
    return import_each(chosen, _sources(chosen), _import)


def _sources(chosen: argparse.Namespace) -> list[Source]:
    found: dict[str, dict[Path, str]] = {}
    for path in files_of(chosen):
        if path.is_file():
            found.setdefault(path.resolve().parent.name, {})[path] = ""
            continue
        files = sorted(event_files_below(path))
        if not files:
            raise Refusal(
                "not_found",
                f"There is no event file (*tfevents*) in {str(path)!a}.",
            )
        for file in files:
            run = _run_folder(file, path, files)
            is_root = run == path
            name = path.resolve().name if is_root else str(run.relative_to(path))
            found.setdefault(name, {})[file] = _prefix(file.parent, run)
    if chosen.run:
        # The user's name is that of one run, which has all of the files.
        several = len(found) > 1
        return [
            Source(
                files={
                    file: f"{name}/{prefix}" if several else prefix
                    for name, files in found.items()
                    for file, prefix in files.items()
                }
            )
        ]
    return [Source(run=name, files=files) for name, files in found.items()]


def _run_folder(file: Path, root: Path, files: list[Path]) -> Path:
    """Return the folder of a file's run.

    It is the highest one below `root` that has an event file itself, or the parent of
    folders such as train and validation.
    """
    holding = {each.parent for each in files}
    above = [file.parent, *file.parent.parents]
    candidates = above[: above.index(root) + 1]
    for folder in reversed(candidates):
        if folder in holding:
            is_split = folder.name in SPLITS and folder != root
            return folder.parent if is_split else folder
    return file.parent


def _prefix(folder: Path, run: Path) -> str:
    """Return the beginning of a file's paths: "" for the run's own folder."""
    parts = folder.relative_to(run).parts
    return "".join(f"{part}/" for part in parts if not _TIME.fullmatch(part))


def _import(
    chosen: argparse.Namespace,
    settings: Settings,
    source: Source,
    marks: Mapping[Path, str],
) -> Imported:
    imported = Imported()
    importer = Importer(settings, imported, chosen.tag)
    # Each file begins with an event without values, from its creation.
    starts = {
        path: next((_moment(event, path) for _, event in _events(path, Problems())), 0)
        for path in marks
    }
    params: dict[str, object] = {}
    for path in sorted(marks, key=lambda path: starts[path]):
        problems = imported.problems.setdefault(str(path), Problems())
        with importer.importing(marks[path], path):
            for _, event in _events(path, problems):
                if event.values:
                    importer.run_at(starts[path])
                    _log(importer, event, path, source.files[path], params)
    importer.assign(params)
    importer.finish()
    return imported


def _log(
    importer: Importer,
    event: Event,
    file: Path,
    prefix: str,
    params: dict[str, object],
) -> None:
    moment = _moment(event, file)
    numbers: dict[str, float] = {}
    for tag, value in event.values:
        if isinstance(value, Hyperparameters):
            params.update({f"params/{name}": x for name, x in value.values.items()})
        elif isinstance(value, float):
            numbers[prefix + tag] = value
        else:
            importer.append(prefix + tag, loggable(value), event.step, moment)
    if numbers:
        importer.log_users(numbers, event.step, moment)


def _moment(event: Event, file: Path) -> int:
    return round((event.time or file.stat().st_mtime) * MICROSECONDS)


def _events(path: Path, problems: Problems) -> Iterator[tuple[int, Event]]:
    """Yield a file's events with their numbers, up to the first damaged one."""
    plugins: dict[str, str] = {}
    number = offset = 0
    with path.open("rb") as file:
        while True:
            number += 1
            file.seek(offset)
            try:
                data, size = read_record(file, MAX_RECORD_BYTES)
            except Damaged:
                cause = "the rest is damaged" if offset else "it is not an event file"
                problems.add(cause, number)
                return
            if not size:
                # The file ends, perhaps within a record that was being written.
                return
            offset += size
            if data is None:
                problems.add("the event is too large", number)
                continue
            try:
                yield number, read_event(data, plugins)
            except ValueError:
                problems.add("the event is damaged", number)
