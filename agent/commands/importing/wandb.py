"""Import runs of W&B: history, media, parameters and system metrics.

Accepts W&B's folder of runs, or run folders with the binary file (*.wandb). Each run
keeps its name and project, unless others are given. Also accepts files of JSON lines,
such as wandb-events.jsonl, wandb-history.jsonl or an export of W&B's API, or the folder
that contains them; they become one run. Files next to them are read too:
wandb-metadata.json, the parameters in config.yaml, and wandb-summary.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path

from seamark.commands.importing.files import (
    Imported,
    Importer,
    add_files,
    add_times,
    clock_of,
    files_of,
)
from seamark.commands.importing.sources import Source, import_each
from seamark.commands.importing.wandb_media import with_media
from seamark.commands.output import Refusal
from seamark.importers.nvidia_query import Clock
from seamark.importers.problems import Problems
from seamark.importers.reading import FileFacts, Reading
from seamark.importers.text import lines_of, open_log
from seamark.importers.wandb import (
    Machine,
    are_events,
    drop_other_gpus,
    machine_of,
    read_events,
    read_history,
    read_metadata,
)
from seamark.importers.wandb_fields import OF_ONE_PROCESS
from seamark.importers.wandb_file import (
    Values,
    is_run_file,
    read_rows,
    read_stats,
    read_values,
)
from seamark.importers.wandb_values import read_config, read_summary, summary_values
from seamark.settings import Settings

HELP = "import history, media, parameters and system metrics from W&B"
EXAMPLES = (
    "seamark import wandb wandb",
    "seamark import wandb wandb/offline-run-20260812_101500-abc123 --project digits",
    "seamark import wandb wandb/run-20260812_101500-abc123/files --run abc123",
    "seamark import wandb events.jsonl history.jsonl --project digits --stage train",
)

_EVENTS = "wandb-events.jsonl"
_FILES = (_EVENTS, "wandb-history.jsonl")
_METADATA = "wandb-metadata.json"
_CONFIG, _SUMMARY = "config.yaml", "wandb-summary.json"
_LARGEST_METADATA = 10 * 2**20  # bytes
_LARGEST_CONFIG, _LARGEST_SUMMARY = 2**20, 10 * 2**20  # bytes
_LOOKED_AT = 20  # lines
_BEGINNING_BYTES = 16
_LOOKED_AT_CHARACTERS = 1 << 20
# With histograms of all weights and gradients, a line of history takes megabytes.
_LONGEST_LINE = 32 << 20  # characters
# Confidence of per-process metrics, because the job may have several processes.
_INFERRED = 0.4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_files(parser, "a W&B folder of runs, a run folder, or a JSON Lines file")
    add_times(parser)


def perform(chosen: argparse.Namespace) -> int:
    clock = clock_of(chosen)

    def import_one(
        own: argparse.Namespace,
        settings: Settings,
        _source: Source,
        marks: Mapping[Path, str],
    ) -> Imported:
        return _import(own, settings, marks, clock)

    return import_each(chosen, _sources(chosen), import_one)


def _sources(chosen: argparse.Namespace) -> list[Source]:
    """Return the runs: those of run files by their ids, and one of all other files."""
    paths = list(dict.fromkeys(_found(chosen)))
    if chosen.run:
        return [Source(files=dict.fromkeys(paths, ""))]
    others: dict[Path, str] = {}
    files: dict[str, dict[Path, str]] = {}
    values: dict[str, Values] = {}
    for path in paths:
        if not _is_run_file(path):
            others[path] = ""
            continue
        found = _run_values(path)
        key = found.run_id or path.stem
        # A resumed run has a file for each attempt.
        files.setdefault(key, {})[path] = ""
        values[key] = found
    sources = [
        Source(
            run=values[key].name or key,
            project=values[key].project,
            key=key,
            files=own,
        )
        for key, own in files.items()
    ]
    return [*sources, Source(files=others)] if others or not sources else sources


def _import(
    chosen: argparse.Namespace,
    settings: Settings,
    marks: Mapping[Path, str],
    clock: Clock,
) -> Imported:
    imported, file_facts = Imported(), FileFacts()
    importer = Importer(settings, imported, chosen.tag)

    def read(
        path: Path, problems: Problems, file_facts: FileFacts
    ) -> Iterator[Reading]:
        if _is_run_file(path):
            readings = _run_file_readings(path, problems, file_facts)
            folder = path.parent / "files"
            yield from (with_media(each, folder, problems) for each in readings)
            return
        machine = _machine(path, file_facts)
        machine.start = clock.start
        with open_log(path) as file:
            lines = lines_of(file, problems, _LONGEST_LINE)
            readings = _readings(path, lines, problems, machine)
            yield from (with_media(each, path.parent, problems) for each in readings)
        drop_other_gpus(machine, file_facts)

    importer.log_files(marks, read, file_facts)
    # Reversed: the values of the first of several folders take precedence.
    files = [path for path in marks if not _is_run_file(path)]
    for folder in reversed(dict.fromkeys(path.parent for path in files)):
        importer.assign(_values(folder, importer.ends, imported))
    failure = ""
    for path in reversed([path for path in marks if _is_run_file(path)]):
        values = _run_values(path)
        importer.assign(_run_file_values(values, importer.ends))
        if values.run_id:
            # No attribute of the user: it would be a column of the runs table.
            file_facts.add("wandb/run_id", values.run_id)
        if values.exit_code:
            failure = f"W&B: exit code {values.exit_code}"
    readings = (f"{p}\t{unit}\tprocess\t{_INFERRED}\tW&B" for p, unit in OF_ONE_PROCESS)
    importer.state({**file_facts.facts, "readings": "\n".join(readings)})
    importer.finish(failure)
    return imported


def _found(chosen: argparse.Namespace) -> Iterator[Path]:
    for path in files_of(chosen):
        if not path.is_dir():
            yield path
            continue
        there = _files_of_run(path)
        if not there:
            # A folder of runs, or the folder of a script that has one.
            folder = path / "wandb" if (path / "wandb").is_dir() else path
            there = [
                file
                for child in sorted(folder.iterdir())
                # `latest-run` is a link to one of the others.
                if child.is_dir() and not child.is_symlink()
                for file in _files_of_run(child)
            ]
        if not there:
            raise Refusal(
                "not_found",
                f"There is neither {' nor '.join(_FILES)} nor a run file (*.wandb) in "
                f"{str(path)!a}. Pass a run folder or W&B's folder of runs.",
            )
        yield from there


def _files_of_run(path: Path) -> list[Path]:
    folder = path / "files" if (path / "files").is_dir() else path
    there = [folder / name for name in _FILES if (folder / name).is_file()]
    return there or sorted(path.glob("*.wandb"))


def _is_run_file(path: Path) -> bool:
    with path.open("rb") as file:
        return is_run_file(file.read(_BEGINNING_BYTES))


def _run_file_readings(
    path: Path, problems: Problems, file_facts: FileFacts
) -> Iterator[Reading]:
    """Yield the system metrics and the history of W&B's binary file."""
    found = _run_values(path).machine
    # Old versions of W&B, and runs that were killed, describe the machine only there.
    metadata = path.parent / "files" / _METADATA
    machine = machine_of(found, file_facts) if found else _machine(metadata, file_facts)
    with path.open("rb") as file:
        yield from read_events(read_stats(file, problems), problems, machine)
    drop_other_gpus(machine, file_facts)
    with path.open("rb") as file:
        yield from read_history(read_rows(file, Problems()), problems, machine)


def _run_values(path: Path) -> Values:
    with path.open("rb") as file:
        return read_values(file, Problems())


def _run_file_values(values: Values, ends: Mapping[str, float]) -> dict[str, object]:
    found: dict[str, object] = {
        **{f"params/{name}": value for name, value in values.config.items()},
        **{
            f"summary/{name}": value
            for name, value in summary_values(values.summary, ends).items()
        },
    }
    if values.tags:
        found["tags"] = set(values.tags)
    texts = {
        "description": values.notes,
        "wandb/group": values.group,
        "wandb/job_type": values.job_type,
    }
    return found | {path: text for path, text in texts.items() if text}


def _machine(path: Path, file_facts: FileFacts) -> Machine:
    metadata = path.parent / _METADATA
    try:
        if metadata.stat().st_size > _LARGEST_METADATA:
            return Machine()
        return read_metadata(metadata.read_text("utf-8", "replace"), file_facts)
    except OSError:
        return Machine()


def _values(
    folder: Path, ends: Mapping[str, float], imported: Imported
) -> dict[str, object]:
    """Return the parameters and summary of a W&B folder, by path."""

    def values_of(
        name: str, largest: int, read: Callable[[str, Problems], dict[str, object]]
    ) -> dict[str, object]:
        problems = imported.problems.setdefault(str(folder / name), Problems())
        text = _text(folder / name, largest, problems)
        return read(text, problems) if text else {}

    params = values_of(_CONFIG, _LARGEST_CONFIG, read_config)
    summary = values_of(
        _SUMMARY,
        _LARGEST_SUMMARY,
        lambda text, problems: read_summary(text, ends, problems),
    )
    return {
        **{f"params/{name}": value for name, value in params.items()},
        **{f"summary/{path}": value for path, value in summary.items()},
    }


def _text(path: Path, largest: int, problems: Problems) -> str:
    """Return a file's text; "" if it is missing or too large."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except OSError:
        problems.add("it cannot be read", 1)
        return ""
    if len(data) > largest:
        problems.add(f"it is larger than {largest >> 20} MiB", 1)
        return ""
    return data.decode("utf-8-sig", "replace")


def _readings(
    path: Path, lines: Iterator[str], problems: Problems, machine: Machine
) -> Iterator[Reading]:
    """Read events or history, detected by the file's name or its first lines."""
    name = path.name.removesuffix(".gz")
    is_of_events = name == _EVENTS
    if name not in _FILES:
        first = list(_beginning(lines))
        is_of_events, lines = are_events(first), chain(first, lines)
    read = read_events if is_of_events else read_history
    return read(lines, problems, machine)


def _beginning(lines: Iterator[str]) -> Iterator[str]:
    characters = 0
    for line in islice(lines, _LOOKED_AT):
        yield line
        characters += len(line)
        if characters > _LOOKED_AT_CHARACTERS:
            return
