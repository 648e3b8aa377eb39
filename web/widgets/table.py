"""The runs as rows, with chosen columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from django.utils.translation import gettext
from msgspec import Meta, Struct

from tracker.queries.run.attributes import AttributeRow
from tracker.queries.run.run import silent_for
from tracker.queries.runs.columns import run_seconds
from tracker.queries.runs.filter.fields import FIELDS, FieldValue
from web.pages.compare.cells import row_text
from web.pages.dashboards.widget_kind import Body, Field, Kind, Scene, SeenValues
from web.pages.runs.fields import LABELS, field_of, field_text, path_of
from web.run_names import RunNames
from web.templatetags.format import duration, exact_moment, number
from web.texts import gettext_lazy
from web.widgets.run_numbers import SERIES, summary_value

MAX_COLUMNS = 12
OF_SERIES = re.compile(r"^(last|min|max|mean)\((.+)\)$", re.DOTALL)


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    columns: Annotated[
        list[Annotated[str, Meta(min_length=1, max_length=1_040)]],
        Meta(max_length=MAX_COLUMNS),
    ] = []
    times: bool = False


def body(scene: Scene, settings: Settings) -> Body:
    paths = {parsed(name)[1] for name in settings.columns if not field_of(name)}
    fields = scene.fields(scene.runs, set(filter(field_of, settings.columns)))
    found = scene.values(scene.runs, paths)
    columns = [name for name in settings.columns if _is_seen(name, found, fields)]
    values, names = found.by_run, scene.names
    rows = [
        {
            "run": run,
            "name": names[run.id],
            "place": place,
            "silent_for": silent_for(run),
            "duration": duration(run_seconds(run)) if settings.times else "",
            "cells": [
                _field_cell(name, fields[name][place])
                if name in fields
                else _cell(values[run.id], name)
                for name in columns
            ],
        }
        for place, run in enumerate(scene.runs)
    ]
    numeric = set()
    for name, column in zip(
        columns, zip(*(row["cells"] for row in rows), strict=True), strict=False
    ):
        if any(cell["is_number"] for cell in column):
            numeric.add(name)
            for cell in column:
                cell["is_number"] = True
    gone = [
        path
        for name in columns
        if name not in fields
        and not any((path := parsed(name)[1]) in held for held in values.values())
    ]
    said = gettext("None of these runs has “%(path)s”.")
    notes = [said % {"path": path} for path in dict.fromkeys(gone)]
    if len(columns) < len(settings.columns):
        notes.append(gettext("Some columns are not shared."))
    heads = [(column_label(name), name, name in numeric) for name in columns]
    context = {
        "columns": heads,
        "rows": rows,
        "times": settings.times,
        "run_names": RunNames(names.values()),
    }
    return Body("widgets/table.html", context, notes=notes)


def column_label(column: str) -> str:
    """Return the label of a column, as in the runs table."""
    return str(LABELS.get(column, column.removeprefix("params/")))


def parsed(column: str) -> tuple[str, str]:
    """Return the statistic and the path: min(train/loss) is the lowest value of the
    series.
    """
    found = OF_SERIES.match(column)
    return (found[1], found[2]) if found else ("last", path_of(column))


def _is_seen(
    name: str, found: SeenValues, fields: Mapping[str, Sequence[FieldValue]]
) -> bool:
    return name in fields if field_of(name) else parsed(name)[1] not in found.withheld


def _field_cell(name: str, value: FieldValue) -> dict[str, Any]:
    title = repr(value) if isinstance(value, float) else ""
    is_number = isinstance(value, float)
    return {"text": field_text(name, value), "is_number": is_number, "title": title}


def _cell(held: Mapping[str, AttributeRow], column: str) -> dict[str, Any]:
    """Format a value; NaN is a value, a missing one is a dash."""
    summary, path = parsed(column)
    row = held.get(path)
    if row is None:
        return {"text": "–", "is_number": False, "title": ""}
    if row.kind == SERIES and summary != "last":
        return {"text": number(summary_value(row, summary)), "is_number": True}
    is_number = isinstance(row.value, int | float) and not isinstance(row.value, bool)
    title = repr(row.value) if isinstance(row.value, float) else ""
    text = row_text(row)
    if isinstance(row.value, datetime):
        text = exact_moment(row.value)
    return {"text": text, "is_number": is_number, "title": title}


KIND = Kind(
    name="table",
    label=gettext_lazy("Table"),
    icon="table-2",
    hint=gettext_lazy("Runs as rows, with columns you choose"),
    settings=Settings,
    fields=(
        Field(
            "columns",
            gettext_lazy("Columns"),
            "columns",
            hint=gettext_lazy(
                "Paths such as params/lr or train/loss; for series also"
                " min(train/loss), max(…), mean(…). Run columns: gpu, gpu_idle,"
                " gpu_hours, energy, finding, made_by."
            ),
            most=MAX_COLUMNS,
            offered=FIELDS,
        ),
        Field(
            "times",
            gettext_lazy("Show start time and duration"),
            "check",
        ),
    ),
    body=body,
    width=12,
    height=5,
    title=lambda _: gettext("Runs"),
)
