"""Import runs of W&B: system metrics, logged history and parameters.

Accepts a run folder with W&B's binary file (*.wandb), or that file; or a file of JSON
lines, such as wandb-events.jsonl, wandb-history.jsonl or an export of W&B's API, or the
folder that contains them. Files next to them are read too: wandb-metadata.json, the
parameters in config.yaml, and wandb-summary.json.
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
    marks_of,
    report,
    settings_of,
)
from seamark.commands.output import Refusal
from seamark.importers.problems import Problems
from seamark.importers.reading import FileFacts, Reading
from seamark.importers.text import lines_of, open_log
from seamark.importers.wandb import (
    Machine,
    are_events,
    machine_of,
    read_events,
    read_history,
    read_metadata,
)
from seamark.importers.wandb_fields import OF_ONE_PROCESS
from seamark.importers.wandb_file import (
    is_run_file,
    read_rows,
    read_stats,
    read_values,
)
from seamark.importers.wandb_values import read_config, read_summary, summary_values

HELP = "import system metrics, history and parameters of W&B"
EXAMPLES = (
    "seamark import wandb wandb/offline-run-20260812_101500-abc123 --run abc123",
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
    add_files(parser, "a file of JSON lines, or a W&B run folder")
    add_times(parser)


def perform(chosen: argparse.Namespace) -> int:
    clock = clock_of(chosen)
    settings = settings_of(chosen)
    imported, file_facts = Imported(), FileFacts()
    importer = Importer(settings, imported, chosen.tag)

    def read(
        path: Path, problems: Problems, file_facts: FileFacts
    ) -> Iterator[Reading]:
        if _is_run_file(path):
            yield from _run_file_readings(path, problems, file_facts)
            return
        machine = _machine(path, file_facts)
        machine.start = clock.start
        with open_log(path) as file:
            lines = lines_of(file, problems, _LONGEST_LINE)
            yield from _readings(path, lines, problems, machine)

    marks = marks_of(chosen, settings, _found(chosen))
    importer.log_files(marks, read, file_facts)
    # Reversed: the values of the first of several folders take precedence.
    files = [path for path in marks if not _is_run_file(path)]
    for folder in reversed(dict.fromkeys(path.parent for path in files)):
        importer.assign(_values(folder, importer.ends, imported))
    for path in reversed([path for path in marks if _is_run_file(path)]):
        importer.assign(_run_file_values(path, importer.ends))
    readings = (f"{p}\t{unit}\tprocess\t{_INFERRED}\tW&B" for p, unit in OF_ONE_PROCESS)
    importer.state({**file_facts.facts, "readings": "\n".join(readings)})
    importer.finish()
    return report(chosen, settings, imported)


def _found(chosen: argparse.Namespace) -> Iterator[Path]:
    for path in files_of(chosen):
        if not path.is_dir():
            yield path
            continue
        folder = path / "files" if (path / "files").is_dir() else path
        there = [folder / name for name in _FILES if (folder / name).is_file()]
        there = there or sorted(path.glob("*.wandb"))
        if not there:
            raise Refusal(
                "not_found",
                f"There is neither {' nor '.join(_FILES)} nor a run file (*.wandb) in "
                f"{str(path)!a}. Name the folder of one run.",
            )
        yield from there


def _is_run_file(path: Path) -> bool:
    with path.open("rb") as file:
        return is_run_file(file.read(_BEGINNING_BYTES))


def _run_file_readings(
    path: Path, problems: Problems, file_facts: FileFacts
) -> Iterator[Reading]:
    """Yield the system metrics and the history of W&B's binary file."""
    with path.open("rb") as file:
        machine = machine_of(read_values(file, Problems()).machine, file_facts)
    with path.open("rb") as file:
        yield from read_events(read_stats(file, problems), problems, machine)
    with path.open("rb") as file:
        yield from read_history(read_rows(file, Problems()), problems, machine)


def _run_file_values(path: Path, ends: Mapping[str, float]) -> dict[str, object]:
    with path.open("rb") as file:
        values = read_values(file, Problems())
    found: dict[str, object] = {
        **{f"params/{name}": value for name, value in values.config.items()},
        **{
            f"summary/{name}": value
            for name, value in summary_values(values.summary, ends).items()
        },
    }
    if values.tags:
        found["tags"] = set(values.tags)
    if values.notes:
        found["description"] = values.notes
    return found


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
