"""The form in which a widget is made and changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.http import QueryDict
from msgspec.structs import replace

from tracker.access.runs import runs_beside
from tracker.actor import Actor
from tracker.boards.board import COLUMNS, Place, RunSet, Widget, checked
from tracker.errors import InvalidInput
from tracker.queries.ladders.ladders import ladder_summaries
from web.numbers import whole_number
from web.pages.compare.state import as_id
from web.pages.dashboards.widget_kind import Field, Kind, Options, settings_of
from web.pages.runs.run_set_form import (
    RunSetForm,
    form_of,
    name_beside,
    read_run_set,
    run_id_of,
)
from web.texts import gettext_lazy

PREFIX = "set-"
PLACE_FIELDS = (
    ("x", gettext_lazy("First column"), 1, COLUMNS),
    ("y", gettext_lazy("First row"), 1, 1_001),
    ("width", gettext_lazy("Columns"), 2, COLUMNS),
    ("height", gettext_lazy("Rows"), 1, 24),
)


@dataclass(frozen=True, slots=True)
class ShownField:
    field: Field
    values: Sequence[str]
    options: Options
    is_checked: bool

    @property
    def name(self) -> str:
        return PREFIX + self.field.name

    @property
    def value(self) -> str:
        return self.values[0] if self.values else ""


@dataclass(frozen=True, slots=True)
class Section:
    """Fields below a title; it is open if one of them was set."""

    title: str
    fields: Sequence[ShownField]

    @property
    def is_open(self) -> bool:
        return any(shown.values or shown.is_checked for shown in self.fields)


@dataclass(frozen=True, slots=True)
class WidgetForm:
    kind: Kind
    widget: Widget
    fields: Sequence[ShownField]
    runs: RunSetForm

    @property
    def sections(self) -> list[Section]:
        """Return the fields by section; those without one come first."""
        grouped = groupby(self.fields, key=lambda shown: shown.field.section)
        return [Section(title, list(fields)) for title, fields in grouped]

    @property
    def place(self) -> Sequence[tuple[str, str, int, int, int]]:
        """Return the fields of the place, in which people count from one."""
        place = self.widget.place
        values = (place.x + 1, place.y + 1, place.width, place.height)
        return [
            (*field[:2], value, *field[2:])
            for field, value in zip(PLACE_FIELDS, values, strict=True)
        ]


def widget_form(
    actor: Actor, project: Any, kind: Kind, widget: Widget, run_set: RunSet | None
) -> WidgetForm:
    fields = [_shown(actor, project, field, widget) for field in kind.fields]
    return WidgetForm(kind, widget, fields, form_of(actor, project, run_set))


def read_widget(
    actor: Actor, posted: QueryDict, project: Any, kind: Kind, widget: Widget
) -> Widget:
    """Return the widget of the form with its runs; raise InvalidInput on errors."""
    made = read_panel(actor, posted, project, kind, widget)
    if not kind.has_runs:
        return made
    return replace(made, run_set=read_run_set(actor, posted, project))


def read_panel(
    actor: Actor, posted: QueryDict, project: Any, kind: Kind, widget: Widget
) -> Widget:
    """Return the widget of the form without runs; raise InvalidInput on errors."""
    plain: dict[str, Any] = {}
    for field in kind.fields:
        name = PREFIX + field.name
        if field.is_list:
            typed = (text.strip() for text in posted.getlist(name))
            plain[field.name] = list(dict.fromkeys(text for text in typed if text))
        elif field.input == "check":
            plain[field.name] = name in posted
        else:
            text = posted.get(name, "")
            plain[field.name] = text if field.input == "text" else text.strip()
            if field.input == "run" and plain[field.name]:
                plain[field.name] = str(run_id_of(actor, project, plain[field.name]))
    described = {
        "id": widget.id,
        "kind": kind.name,
        "title": posted.get("title", "").strip(),
        "place": _read_place(posted, widget.place),
        "settings": settings_of(kind, plain),
    }
    return checked(described, Widget)


def read_place(posted: QueryDict) -> Place:
    """Parse a position from scripts: columns and rows from zero."""
    names = ("x", "y", "width", "height")
    return checked({name: posted.get(name, "") for name in names}, Place, typed=True)


def _read_place(posted: QueryDict, place: Place) -> dict[str, int]:
    found = {"x": place.x, "y": place.y, "width": place.width, "height": place.height}
    for name, label, lowest, highest in PLACE_FIELDS:
        text = posted.get(name, "").strip()
        if not text:
            continue
        requirement = f"must be from {lowest} to {highest}"
        number = whole_number(text, label, requirement)
        if not lowest <= number <= highest:
            raise InvalidInput(label, requirement)
        found[name] = number - 1 if name in ("x", "y") else number
    return found


def _shown(actor: Actor, project: Any, field: Field, widget: Widget) -> ShownField:
    value = widget.settings.get(field.name)
    values = [str(each) for each in value] if isinstance(value, list) else []
    if not isinstance(value, list) and value is not None and value is not False:
        values = [str(value)]
    options = field.options
    if field.input == "ladder":
        options = [(str(each.id), each.name) for each in ladder_summaries(project.id)]
    if field.input == "run" and values:
        values = [_run_name(actor, project, values[0])]
    return ShownField(field, values, options, is_checked=value is True)


def _run_name(actor: Actor, project: Any, text: str) -> str:
    run_id = as_id(text)
    runs = runs_beside(actor, project, [run_id], with_trash=True) if run_id else []
    if not runs:
        return ""
    if runs[0].trashed_at is not None:
        return str(run_id)
    return name_beside(project, runs[0])
