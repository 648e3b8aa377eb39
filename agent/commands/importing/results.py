"""Prints the result of an import."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone

from seamark.commands.importing.files import MICROSECONDS, Imported
from seamark.commands.output import clean, counted, print_json_rows, say, tell
from seamark.settings import Settings


def report(chosen: argparse.Namespace, settings: Settings, imported: Imported) -> int:
    """Print the imported points and the problems; return the exit code."""
    if chosen.json:
        print_json_rows(as_json(settings, imported))
    for name, problems in imported.problems.items():
        for sentence in problems.sentences():
            tell(clean(f"{name}, {sentence}"))
    if not imported.has_run:
        tell("no data imported")
        return 1
    if not chosen.json:
        is_one = imported.points + imported.values + imported.files == 1
        say(
            f"{_summary(imported)} {'is' if is_one else 'are'} in the run "
            f"{clean(settings.run)!a} of "
            f"{clean(settings.project)!a}, stage {clean(settings.stage)!a}"
            f"{f': {imported.url}' if imported.url else '.'}"
        )
    return 0


def _summary(imported: Imported) -> str:
    parts = []
    if imported.points or not (imported.values or imported.files):
        times = f" from {_shown(imported.first)} to {_shown(imported.last)}"
        points = counted(imported.points, "point")
        parts.append(f"{points}{times if imported.points else ''}")
    if imported.values:
        parts.append(counted(imported.values, "value"))
    if imported.files:
        parts.append(counted(imported.files, "file"))
    return ", ".join(parts)


def as_json(settings: Settings, imported: Imported) -> dict[str, object]:
    """Return the result of an import for programs."""
    return {
        **settings_words(settings),
        "points": imported.points,
        "values": imported.values,
        "files": imported.files,
        "from": _shown(imported.first),
        "to": _shown(imported.last),
        "not_understood": [
            {"file": name, "cause": cause, "lines": lines, "count": count}
            for name, problems in imported.problems.items()
            for cause, (lines, count) in problems.causes.items()
        ],
    }


def settings_words(settings: Settings) -> dict[str, str]:
    return {
        "run": settings.run,
        "project": settings.project,
        "stage": settings.stage,
    }


def _shown(moment: int | None) -> str | None:
    if moment is None:
        return None
    at = datetime.fromtimestamp(moment / MICROSECONDS, timezone.utc)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
