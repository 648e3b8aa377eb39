"""Widgets in a report's text: a line for each setting, `name: value` (pure).

    ```seamark
    widget: chart
    metrics: train/loss
    query: tags contains "dali"
    first: 5
    ```

A name that stands twice is a list. A value that begins with a quote is a JSON string, so
that any path can be written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tracker.boards.board import RunSet, Widget, checked
from tracker.errors import InvalidInput
from web.pages.dashboards.widget_kind import Field, Kind, settings_of

MAX_LINES = 200
OF_WIDGET = ("widget", "title", "height")
OF_RUNS = ("run", "view", "project", "query", "order", "first")
OF_FOUND = ("view", "query", "order", "first")
USUAL_HEIGHT, MAX_HEIGHT = 4, 12


@dataclass(frozen=True, slots=True)
class Block:
    """A widget of a report, with the runs that it is about and its height in rows."""

    key: str
    widget: Widget
    run_set: RunSet


def key_of(text: str) -> str:
    """Return an id for a block: equal texts have equal ids."""
    return hashlib.blake2b(text.strip().encode(), digest_size=4).hexdigest()


def read_block(text: str, kinds: Mapping[str, Kind]) -> Block:
    """Read a block; raise InvalidInput in words that its writer can act on."""
    fields = _lines(text)
    name = _one(fields, "widget")
    kind = kinds.get(name)
    if kind is None or not kind.is_for_reports:
        known = ", ".join(each for each, of in kinds.items() if of.is_for_reports)
        raise InvalidInput("widget", f"must be one of {known}")
    known_names = {field.name for field in kind.fields} | {*OF_WIDGET, *OF_RUNS}
    strange = [each for each in fields if each not in known_names]
    if strange:
        raise InvalidInput(f"“{strange[0]}”", f"is not a setting of a {name} widget")

    plain = {
        field.name: fields[field.name] if field.is_list else _value(fields, field)
        for field in kind.fields
        if field.name in fields
    }
    height = _one(fields, "height") or kind.height
    widget = checked(
        {
            "id": key_of(text),
            "kind": name,
            "title": _one(fields, "title"),
            "place": {"width": 12, "height": min(int(_whole(height)), MAX_HEIGHT)},
            "settings": settings_of(kind, plain),
        },
        Widget,
    )
    return Block(widget.id, widget, _run_set(fields))


def written(widget: Widget, run_set: RunSet, kind: Kind) -> str:
    """Return the block with these settings."""
    lines = [("widget", widget.kind)]
    if widget.title:
        lines.append(("title", widget.title))
    for field in kind.fields:
        value = widget.settings.get(field.name)
        if isinstance(value, list):
            lines += [(field.name, each) for each in value]
        elif value is not None and value is not False and value != "":
            lines.append((field.name, "yes" if value is True else str(value)))
    if kind.has_runs:
        lines += _written_runs(run_set)
    if widget.place.height != kind.height:
        lines.append(("height", str(widget.place.height)))
    return "".join(f"{name}: {_quoted(value)}\n" for name, value in lines)


def _written_runs(run_set: RunSet) -> list[tuple[str, str]]:
    if run_set.runs is not None:
        return [("run", str(run_id)) for run_id in run_set.runs] or [("run", "")]
    if run_set.view is not None:
        return [("view", str(run_set.view)), ("first", str(run_set.first))]
    lines = [("project", slug) for slug in run_set.projects]
    if run_set.query:
        lines.append(("query", run_set.query))
    if run_set.order != RunSet().order:
        lines.append(("order", run_set.order))
    return [*lines, ("first", str(run_set.first))]


def _lines(text: str) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > MAX_LINES:
        raise InvalidInput("the widget", f"must have at most {MAX_LINES} lines")
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise InvalidInput(
                f"“{line.strip()[:60]}”", "must be a name, a colon and a value"
            )
        fields.setdefault(name.strip(), []).append(_unquoted(value.strip()))
    return fields


def _one(fields: Mapping[str, Sequence[str]], name: str) -> str:
    return fields.get(name, [""])[-1]


def _value(fields: Mapping[str, Sequence[str]], field: Field) -> Any:
    text = _one(fields, field.name)
    return text.lower() in ("yes", "true", "1") if field.input == "check" else text


def _run_set(fields: Mapping[str, Sequence[str]]) -> RunSet:
    plain: dict[str, Any] = {
        name: _one(fields, name) for name in OF_FOUND if name in fields
    }
    if "run" in fields:
        plain["runs"] = [run for run in fields["run"] if run]
    if "project" in fields:
        plain["projects"] = fields["project"]
    return checked(plain, RunSet, typed=True)


def _whole(text: object) -> float:
    try:
        return max(1, int(str(text)))
    except ValueError as error:
        raise InvalidInput("height", "must be a whole number of rows") from error


def _quoted(value: str) -> str:
    is_plain = value == value.strip() and value.isprintable() and "`" not in value
    if is_plain and not value.startswith('"'):
        return value
    # Three backticks would end the block.
    return json.dumps(value).replace("`", "\\u0060")


def _unquoted(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        text = json.loads(value)
    except ValueError:
        return value
    return text if isinstance(text, str) else value
