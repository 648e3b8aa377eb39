"""Differences of code, packages and machine between two runs (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext, ngettext

from tracker.queries.run.attributes import plain_value
from tracker.queries.run.source import CapturedSource
from web.pages.run.command_line import arguments_of
from web.pages.run_files.source_cards import Values, machine_rows, package_rows
from web.pages.run_files.text_diff import TextDiff, compare_texts

# A few hundred packages can differ; more is another environment.
MAX_CHANGES = 60
LONGEST_VALUE = 300


@dataclass(frozen=True, slots=True)
class Change:
    """None: there was none."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Changes:
    """Some of the differences; `hidden` more exist."""

    title: str
    rows: tuple[Change, ...]
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class SourceChanges:
    """`unknown` names the parts that one of the two lacks."""

    groups: tuple[Changes, ...]
    script: TextDiff | None
    unknown: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        return not self.groups and self.script is None and not self.unknown


def source_changes(before: CapturedSource, after: CapturedSource) -> SourceChanges:
    """Compare the captured source of the same stage in two runs."""
    parts = {
        gettext("Code"): ("git", _code),
        gettext("Arguments"): ("source", _arguments),
        gettext("Packages"): ("packages", _packages),
        gettext("Environment"): ("environment", _as_text),
        gettext("Machine"): ("facts", _machine),
    }
    groups, unknown = [], []
    for title, (part, read) in parts.items():
        old, new = before.part(part), after.part(part)
        if old and new:
            groups.append(_changes(title, read(old), read(new)))
        elif old or new:
            unknown.append(title.lower())
    return SourceChanges(
        tuple(group for group in groups if group.rows),
        _script(before.text("source", "text"), after.text("source", "text")),
        tuple(unknown),
    )


def _changes(
    title: str, before: Mapping[str, str], after: Mapping[str, str]
) -> Changes:
    names = sorted({*before, *after})
    rows = [
        Change(name, _cut(before.get(name)), _cut(after.get(name)))
        for name in names
        if before.get(name) != after.get(name)
    ]
    return Changes(title, tuple(rows[:MAX_CHANGES]), max(0, len(rows) - MAX_CHANGES))


def _code(values: Values) -> dict[str, str]:
    shown = {
        "commit": gettext("commit"),
        "branch": gettext("branch"),
        "is_dirty": gettext("uncommitted changes"),
    }
    found = {
        label: plain_value(values[name])
        for name, label in shown.items()
        if name in values
    }
    diff = values.get("diff")
    if isinstance(diff, str) and diff:
        count = len(diff.splitlines())
        template = ngettext("%(count)s line of diff", "%(count)s lines of diff", count)
        found[gettext("uncommitted diff")] = template % {"count": f"{count:,}"}
    return found


def _arguments(values: Values) -> dict[str, str]:
    command = values.get("arguments")
    rows = arguments_of(command) if isinstance(command, str) else []
    found = {row.name: row.value or gettext("set") for row in rows}
    for name in ("script", "python", "folder"):
        if isinstance(values.get(name), str):
            found[name] = plain_value(values[name])
    return found


def _packages(values: Values) -> dict[str, str]:
    return dict(package_rows(values))


def _as_text(values: Values) -> dict[str, str]:
    return {name: plain_value(value) for name, value in values.items()}


def _machine(values: Values) -> dict[str, str]:
    return {label: plain_value(value) for label, _, value in machine_rows(values)}


def _script(before: str, after: str) -> TextDiff | None:
    if not before or not after or before == after:
        return None
    found = compare_texts(before, after)
    # Differences may follow after the compared part; the page notes that.
    return None if found.is_same and not found.is_cut else found


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= LONGEST_VALUE:
        return text
    return f"{text[:LONGEST_VALUE]}…"
