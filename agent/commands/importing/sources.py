"""Imports runs of another tracker, each under the name that it has there."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from seamark.commands.importing.files import (
    ALREADY_IMPORTED,
    Imported,
    mark_of,
    marks_of,
    refuse_imported,
    settings_of,
)
from seamark.commands.importing.results import as_json, report
from seamark.commands.output import (
    MISUSED,
    Refusal,
    counted,
    print_json_rows,
    say,
    tell,
)
from seamark.errors import AgentError
from seamark.reading.runs import read_runs
from seamark.setting_values import usable_name
from seamark.settings import Mode, Settings


@dataclass(frozen=True)
class Source:
    """A run of another tracker."""

    # Without a name, one is generated, as for scripts.
    run: str = ""
    project: str = ""
    # The run's id in the other tracker; it tells runs of one name apart.
    key: str = ""
    # Distinguishes a run without files from all others; by default the key.
    mark: str = ""
    # Files, and the beginning of their series' paths.
    files: Mapping[Path, str] = field(default_factory=dict)


Run = TypeVar("Run")
# The path of a run's mark, and the value that it stores.
Mark = tuple[str, Path]
# Imports a run whose files have these marks; a run without files has one mark.
ImportOne = Callable[
    [argparse.Namespace, Settings, Source, Mapping[Path, str]], Imported
]


def import_each(
    chosen: argparse.Namespace, sources: Sequence[Source], import_one: ImportOne
) -> int:
    """Import each run, print the results, and return the exit code.

    A run that fails does not stop the others.
    """
    names: set[tuple[str, str]] = set()
    if len(sources) == 1:
        return report(chosen, *_import(chosen, sources[0], import_one, names))
    done: list[dict[str, Any]] = []
    failed: list[dict[str, str]] = []
    for source in sources:
        try:
            settings, imported = _import(chosen, source, import_one, names)
        except AgentError as error:
            if not chosen.json:
                tell(str(error))
            failed.append(
                {"run": source.run, "code": error.code, "message": str(error)}
            )
            continue
        if not chosen.json:
            report(chosen, settings, imported)
        done.append(as_json(settings, imported))
    if chosen.json:
        print_json_rows({"runs": done, "failed": failed})
    else:
        say(f"{counted(len(done), 'run')} imported, {len(failed)} skipped.")
    # Repeating a command is no failure, for example to import new runs of a folder.
    return int(any(each["code"] != ALREADY_IMPORTED for each in failed))


def import_marked(
    chosen: argparse.Namespace,
    runs: Sequence[tuple[Source, Run]],
    import_run: Callable[[argparse.Namespace, Settings, Run, Mark], Imported],
) -> int:
    """Import runs that have a mark of their own instead of files."""
    if len(runs) > 1 and (chosen.run or os.environ.get("SEAMARK_RUN")):
        raise Refusal(
            "invalid_usage",
            f"--run names one run, but there are {len(runs):,}. Omit --run, or import"
            " only one run.",
            MISUSED,
        )
    by_mark = {source.mark: run for source, run in runs}

    def import_one(
        own: argparse.Namespace,
        settings: Settings,
        source: Source,
        marks: Mapping[Path, str],
    ) -> Imported:
        ((file, mark),) = marks.items()
        return import_run(own, settings, by_mark[source.mark], (mark, file))

    return import_each(chosen, [source for source, _ in runs], import_one)


def _import(
    chosen: argparse.Namespace,
    source: Source,
    import_one: ImportOne,
    names: set[tuple[str, str]],
) -> tuple[Settings, Imported]:
    own = argparse.Namespace(**vars(chosen))
    is_named = bool(chosen.run or os.environ.get("SEAMARK_RUN"))
    if not chosen.project and not os.environ.get("SEAMARK_PROJECT"):
        own.project = _usable("project", source.project)
    settings = settings_of(own)
    marks = marks_of(own, settings, source.files, anywhere=not is_named)
    if source.key and not source.files:
        marks = {Path(source.key): mark_of(settings, source.mark or source.key)}
        if settings.mode is Mode.ONLINE and not chosen.again:
            refuse_imported(settings, [*marks.values()])
    if not is_named and (name := _usable("run", source.run)):
        own.run = _free_name(name, source.key, settings, names)
        names.add((settings.project, own.run))
        settings = settings_of(own)
    return settings, import_one(own, settings, source, marks)


def _usable(kind: str, name: str) -> str | None:
    return usable_name(kind, name.replace("\0", "")) or None


def _free_name(
    name: str, key: str, settings: Settings, names: set[tuple[str, str]]
) -> str:
    """Return a name that no run of the project has: the server would join that run."""
    endings = count(2)
    candidate = name
    while (settings.project, candidate) in names or _exists(candidate, settings):
        ending = f"-{key or next(endings)}"
        key = ""
        candidate = usable_name("run", name + ending)
    return candidate


def _exists(name: str, settings: Settings) -> bool:
    if settings.mode is not Mode.ONLINE:
        return False
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    query = f'name = "{quoted}"'
    try:
        found = read_runs(
            query, project=settings.project, sort="started", columns=(), limit=1
        )
    except AgentError:
        # A warning was printed when earlier imports could not be checked.
        return False
    return len(found) > 0
