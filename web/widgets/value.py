"""One number: a metric over all runs, whose it is, and how far from a reference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from tracker.queries.attributes import AttributeRow
from web.cells import change_text
from web.templatetags.format import number
from web.widget_kind import WITHHELD, Body, Field, Kind, Scene, SeenValues

SERIES = "float_series"
SUMMARIES = (
    ("last", "Last value"),
    ("min", "Lowest value"),
    ("max", "Highest value"),
    ("mean", "Mean of all values"),
)
OVER = (
    ("highest", "Highest of the runs"),
    ("lowest", "Lowest of the runs"),
    ("mean", "Mean of the runs"),
    ("first", "The first run only"),
)


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    metric: Annotated[str, Meta(min_length=1, max_length=1_024)]
    summary: Literal["last", "min", "max", "mean"] = "last"
    over: Literal["highest", "lowest", "mean", "first"] = "highest"
    # The id of a run.
    reference: Annotated[str, Meta(max_length=36)] = ""


@dataclass(frozen=True, slots=True)
class Known:
    """A run with its number."""

    run: Any
    row: AttributeRow
    value: float


def body(scene: Scene, settings: Settings) -> Body:
    reference = next(
        (run for run in scene.runs if str(run.id) == settings.reference), None
    )
    found = scene.values(scene.runs, [settings.metric])
    known, lacking = _known(scene.runs, found.by_run, settings)
    if not known:
        return Body(problem=_why_not(found, settings.metric))
    value, best = _over(known, settings.over)
    notes = []
    if lacking:
        which = "1 run has" if lacking == 1 else f"{lacking} runs have"
        notes.append(
            f"{which} no such number and {'is' if lacking == 1 else 'are'} left out."
        )
    if settings.reference and reference is None:
        notes.append("The reference is not among these runs any more.")
    context = {
        "value": number(value),
        "best": best.run if best else None,
        "place": scene.runs.index(best.run) if best else 0,
        "summary": dict(SUMMARIES)[settings.summary].lower(),
        "over": dict(OVER)[settings.over].lower(),
        "metric": settings.metric,
        "run_count": len(known),
        "reference": reference,
        "change": _change(value, reference, known),
    }
    return Body("widgets/value.html", context, notes=notes)


def _why_not(found: SeenValues, metric: str) -> str:
    if found.withheld:
        return WITHHELD
    rows = [held[metric] for held in found.by_run.values() if metric in held]
    if any(row.kind == SERIES and row.value is None for row in rows):
        return f"The first points of “{metric}” are being counted. Look again soon."
    return (
        f"None of these runs has “{metric}” as a number. It may have been renamed, or"
        " not be logged yet."
    )


def _known(
    runs: Sequence[Any],
    values: Mapping[UUID, Mapping[str, AttributeRow]],
    settings: Settings,
) -> tuple[list[Known], int]:
    """Return the runs with a number, and how many have none."""
    known = []
    for run in runs:
        row = values[run.id].get(settings.metric)
        value = None if row is None else summary_value(row, settings.summary)
        if row is not None and value is not None and not math.isnan(value):
            known.append(Known(run, row, value))
    return known, len(runs) - len(known)


def summary_value(row: AttributeRow, summary: str) -> float | None:
    """Return what is asked of an attribute; a single value is its own summary."""
    if row.kind == SERIES and summary != "last":
        return {"min": row.minimum, "max": row.maximum, "mean": row.mean}[summary]
    if isinstance(row.value, bool) or not isinstance(row.value, int | float):
        return None
    try:
        return float(row.value)
    except OverflowError:
        return None


def _over(known: Sequence[Known], over: str) -> tuple[float, Known | None]:
    if over == "mean":
        # In two steps, as a sum of huge numbers need not be one.
        return math.fsum(each.value / len(known) for each in known), None
    if over == "first":
        return known[0].value, known[0]
    best = (max if over == "highest" else min)(known, key=lambda each: each.value)
    return best.value, best


def _change(value: float, reference: Any, known: Sequence[Known]) -> str:
    found = [each for each in known if reference is not None and each.run == reference]
    if not found:
        return ""
    here = replace(found[0].row, value=value)
    return change_text(here, replace(found[0].row, value=found[0].value))


KIND = Kind(
    name="value",
    label="Value",
    icon="gauge",
    hint="One number over all runs, and whose it is",
    settings=Settings,
    fields=(
        Field("metric", "Metric", "path", is_required=True),
        Field("summary", "Of each run", "choice", options=SUMMARIES),
        Field("over", "Of all runs", "choice", options=OVER),
        Field(
            "reference",
            "Against",
            "run",
            hint="A run's name: the change against it is shown. Empty: no change.",
        ),
    ),
    body=body,
    width=3,
    height=2,
    title=lambda settings: settings.metric,
    paths=lambda settings: [settings.metric],
)
