"""Source code, arguments and packages of two runs as texts for a line diff."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from tracker.models import Run, Stage
from tracker.queries.ladders.steps import guess_stage
from tracker.queries.run.attributes import (
    IS_PARAMETER,
    Value,
    list_attributes,
    plain_value,
)
from tracker.queries.run.namespaces import PARAMS
from tracker.queries.run.source import CapturedSource, captured_source


@dataclass(frozen=True, slots=True)
class SourcePart:
    """One text of both runs; None if a run lacks it."""

    name: str
    title: str
    left: str | None
    right: str | None


def stages_of(run_ids: Sequence[UUID]) -> dict[str, int]:
    """Return the stages of these runs, and the number of runs with each."""
    rows = Stage.objects.filter(run__in=list(run_ids)).order_by("name")
    counts: dict[str, int] = {}
    for name in rows.values_list("name", flat=True):
        counts[name] = counts.get(name, 0) + 1
    return counts


def chosen_stage(stages: dict[str, int], requested: str) -> str | None:
    return requested if requested in stages else guess_stage(stages)


def source_parts(left: Run, right: Run, stage: str | None) -> list[SourcePart]:
    """Return every text that at least one of the two runs has."""
    texts = [_texts(run, stage) for run in (left, right)]
    return [
        SourcePart(name, title, *(text.get(name) for text in texts))
        for name, title in TITLES.items()
        if any(name in text for text in texts)
    ]


TITLES = {
    "arguments": "Command line",
    "configuration": "Configuration",
    "script": "Script",
    "commit": "Commit",
    "changes": "Changes since the commit",
    "packages": "Packages",
    "environment": "Environment",
}


def _texts(run: Run, stage: str | None) -> dict[str, str]:
    captured = captured_source(run, stage) if stage else CapturedSource()
    params = {
        row.path.removeprefix(PARAMS): row.value
        for row in list_attributes(run, where=IS_PARAMETER)
        if row.value is not None
    }
    found = {
        "arguments": _arguments(captured.text("source", "arguments")),
        "configuration": _assignments(params),
        "script": captured.text("source", "text"),
        "commit": _commit(captured),
        "changes": captured.text("git", "diff"),
        "packages": captured.text("packages", "list"),
        "environment": _assignments(captured.part("environment")),
    }
    return {name: text for name, text in found.items() if text}


def _arguments(line: str) -> str:
    """Put each argument on its own line, together with its value."""
    try:
        words = shlex.split(line)
    except ValueError:  # an unbalanced quotation mark
        words = line.split()
    lines: list[str] = []
    for word in words:
        follows_option = lines and lines[-1].startswith("-") and " " not in lines[-1]
        if follows_option and not word.startswith("-") and "=" not in lines[-1]:
            lines[-1] += f" {shlex.quote(word)}"
        else:
            lines.append(shlex.quote(word))
    return "\n".join(lines)


def _commit(captured: CapturedSource) -> str:
    git = captured.part("git")
    named = {
        name: git[name]
        for name in ("commit", "branch", "message", "is_dirty")
        if name in git
    }
    return _assignments(named)


def _assignments(values: Mapping[str, Value]) -> str:
    return "\n".join(
        f"{name} = {plain_value(value)}" for name, value in sorted(values.items())
    )
