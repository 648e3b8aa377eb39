"""The runs as rows, with chosen columns."""

from __future__ import annotations

import re
from typing import Annotated, Any

from django.utils.translation import gettext
from msgspec import Meta, Struct

from tracker.queries.attributes import AttributeRow
from tracker.queries.run import silent_for
from tracker.queries.run_columns import run_seconds
from web.cells import value_text
from web.templatetags.format import duration, number
from web.texts import gettext_lazy
from web.widget_kind import Body, Field, Kind, Scene
from web.widgets.value import SERIES, summary_value

MOST_COLUMNS = 12
OF_SERIES = re.compile(r"^(last|min|max|mean)\((.+)\)$", re.DOTALL)


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    columns: Annotated[
        list[Annotated[str, Meta(min_length=1, max_length=1_040)]],
        Meta(max_length=MOST_COLUMNS),
    ] = []
    times: bool = False


def body(scene: Scene, settings: Settings) -> Body:
    asked = [(name, *parsed(name)) for name in settings.columns]
    found = scene.values(scene.runs, {path for _, _, path in asked})
    columns = [column for column in asked if column[2] not in found.withheld]
    values, names = found.by_run, scene.names
    rows = [
        {
            "run": run,
            "name": names[run.id],
            "place": place,
            "silent_for": silent_for(run),
            "duration": duration(run_seconds(run)) if settings.times else "",
            "cells": [
                _cell(values[run.id].get(path), summary) for _, summary, path in columns
            ],
        }
        for place, run in enumerate(scene.runs)
    ]
    for column in zip(*(row["cells"] for row in rows), strict=True):
        is_number = any(cell["is_number"] for cell in column)
        for cell in column:
            cell["is_number"] = is_number
    gone = [
        path
        for _, _, path in columns
        if not any(path in held for held in values.values())
    ]
    said = gettext("None of these runs has “%(path)s”.")
    notes = [said % {"path": path} for path in dict.fromkeys(gone)]
    if len(columns) < len(asked):
        notes.append(gettext("Some columns are not shared."))
    heads = [name for name, _, _ in columns]
    context = {"columns": heads, "rows": rows, "times": settings.times}
    return Body("widgets/table.html", context, notes=notes)


def parsed(column: str) -> tuple[str, str]:
    """Return what of which path: min(train/loss) is the lowest value of the series."""
    found = OF_SERIES.match(column)
    return (found[1], found[2]) if found else ("last", column)


def _cell(row: AttributeRow | None, summary: str) -> dict[str, Any]:
    """Show a value; NaN is one, and what is not there is a dash."""
    if row is None:
        return {"text": "–", "is_number": False, "title": ""}
    if row.kind == SERIES and summary != "last":
        return {"text": number(summary_value(row, summary)), "is_number": True}
    is_number = isinstance(row.value, int | float) and not isinstance(row.value, bool)
    title = repr(row.value) if isinstance(row.value, float) else ""
    return {"text": value_text(row.value), "is_number": is_number, "title": title}


KIND = Kind(
    name="table",
    label=gettext_lazy("Table"),
    icon="table-2",
    hint=gettext_lazy("Runs as rows, with columns of your choice"),
    settings=Settings,
    fields=(
        Field(
            "columns",
            gettext_lazy("Columns"),
            "columns",
            hint=gettext_lazy(
                "Paths: params/lr, train/loss; of a series also min(train/loss), max(…),"
                " mean(…)."
            ),
            most=MOST_COLUMNS,
        ),
        Field(
            "times",
            gettext_lazy("Also when each run began, and how long it took"),
            "check",
        ),
    ),
    body=body,
    width=12,
    height=5,
    title=lambda _: gettext("Runs"),
)
