"""One number: a metric over all runs, its run, and the difference from a reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from django.utils.translation import gettext, ngettext
from msgspec import Meta, Struct

from tracker.queries.run.attributes import AttributeRow
from tracker.queries.runs.column_keys import NUMBERS_OF_RUN
from tracker.queries.runs.filter.fields import FieldValue
from web.pages.compare.cells import change_between
from web.pages.dashboards.widget_kind import (
    WITHHELD,
    Body,
    Field,
    Kind,
    Scene,
    SeenValues,
)
from web.pages.runs.fields import LABELS, field_change, field_text, path_of
from web.run_names import RunNames
from web.templatetags.format import number
from web.texts import gettext_lazy

SERIES = "float_series"
SUMMARIES = (
    ("last", gettext_lazy("Last value")),
    ("min", gettext_lazy("Lowest value")),
    ("max", gettext_lazy("Highest value")),
    ("mean", gettext_lazy("Mean of all values")),
)
OVER = (
    ("highest", gettext_lazy("Highest across runs")),
    ("lowest", gettext_lazy("Lowest across runs")),
    ("mean", gettext_lazy("Mean across runs")),
    ("first", gettext_lazy("First run only")),
)

# The same, where they follow the value itself.
SAID_SUMMARIES = {
    "last": gettext_lazy("last value"),
    "min": gettext_lazy("lowest value"),
    "max": gettext_lazy("highest value"),
    "mean": gettext_lazy("mean of all values"),
}
OF_RUNS = {
    "highest": gettext_lazy("highest of %(count)s runs"),
    "lowest": gettext_lazy("lowest of %(count)s runs"),
    "mean": gettext_lazy("mean of %(count)s runs"),
}
OF_NEWEST_RUNS = {
    "highest": gettext_lazy("highest of the %(count)s newest runs"),
    "lowest": gettext_lazy("lowest of the %(count)s newest runs"),
    "mean": gettext_lazy("mean of the %(count)s newest runs"),
}


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
    value: float


def body(scene: Scene, settings: Settings) -> Body:
    reference = next(
        (run for run in scene.runs if str(run.id) == settings.reference), None
    )
    field = number_field(settings.metric)
    if field is not None:
        values = scene.fields(scene.runs, [field])[field]
        known = _known(scene.runs, values)
        problem = gettext("No run has this value.")
        is_metric = True
    else:
        path = path_of(settings.metric)
        found = scene.values(scene.runs, [path])
        rows = [found.by_run[run.id].get(path) for run in scene.runs]
        known = _known(scene.runs, [_number(row, settings.summary) for row in rows])
        is_metric = any(row is not None and row.is_metric for row in rows)
        problem = "" if known else _why_not(found, path)
    if not known:
        return Body(problem=problem)
    lacking = len(scene.runs) - len(known)
    value, best = _over(known, settings.over)
    names = scene.names
    notes = []
    if lacking:
        said = ngettext(
            "%(count)s run without this value is excluded.",
            "%(count)s runs without this value are excluded.",
            lacking,
        )
        notes.append(said % {"count": lacking})
    if settings.reference and reference is None:
        notes.append(gettext("The reference run is no longer among these runs."))
    context = {
        "value": field_text(field, value) if field else number(value),
        "best": best.run if best else None,
        "run_names": RunNames(names.values()),
        "best_name": names[best.run.id] if best else "",
        "reference_name": names[reference.id] if reference else "",
        "place": scene.runs.index(best.run) if best else 0,
        "summary": LABELS[field] if field else SAID_SUMMARIES[settings.summary],
        "over": _runs_text(scene, settings.over),
        "metric": settings.metric,
        "run_count": len(known),
        "reference": reference,
        "change": _change(field, value, reference, known) if is_metric else "",
    }
    return Body("widgets/value.html", context, notes=notes)


def _runs_text(scene: Scene, over: str) -> str:
    """Describe the runs that the value is of: the newest of all, or these."""
    count = len(scene.runs)
    if over == "first" or count == 1:
        return gettext("first run only")
    texts = OF_NEWEST_RUNS if _are_newest(scene) else OF_RUNS
    return texts[over] % {"count": number(count)}


def _are_newest(scene: Scene) -> bool:
    """Return whether the limit leaves out older runs. Visitors by a frozen link see
    these runs only.
    """
    chosen = scene.run_set
    return (
        scene.only is None
        and chosen.runs is None
        and chosen.view is None
        and not chosen.projects
        and chosen.order == "-started"
        and len(scene.runs) == chosen.first
    )


def _why_not(found: SeenValues, metric: str) -> str:
    if found.withheld:
        return WITHHELD
    rows = [held[metric] for held in found.by_run.values() if metric in held]
    if any(row.kind == SERIES and row.value is None for row in rows):
        said = gettext(
            "The first points of “%(path)s” are being processed. Check back soon."
        )
    else:
        said = gettext(
            "None of these runs has a number “%(path)s”. It may have been renamed or"
            " not logged yet."
        )
    return said % {"path": metric}


def number_field(metric: str) -> str | None:
    """Return the number that every run has, if the metric is one, and no attribute."""
    return metric if metric in NUMBERS_OF_RUN else None


def _known(runs: Sequence[Any], values: Sequence[FieldValue]) -> list[Known]:
    """Return the runs with a number."""
    return [
        Known(run, value)
        for run, value in zip(runs, values, strict=True)
        if isinstance(value, float) and not math.isnan(value)
    ]


def _number(row: AttributeRow | None, summary: str) -> float | None:
    return None if row is None else summary_value(row, summary)


def summary_value(row: AttributeRow, summary: str) -> float | None:
    """Return the requested statistic of an attribute; a single value is its own
    summary.
    """
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


def _change(
    field: str | None, value: float, reference: Any, known: Sequence[Known]
) -> str:
    found = [each for each in known if reference is not None and each.run == reference]
    if not found:
        return ""
    if field is not None:
        return field_change(field, value, found[0].value)
    return change_between(value, found[0].value)


def _title(settings: Settings) -> str:
    field = number_field(settings.metric)
    return str(LABELS[field]) if field else path_of(settings.metric)


def _paths(settings: Settings) -> Sequence[str]:
    return [] if number_field(settings.metric) else [path_of(settings.metric)]


KIND = Kind(
    name="value",
    label=gettext_lazy("Value"),
    icon="gauge",
    hint=gettext_lazy("One number across all runs"),
    settings=Settings,
    fields=(
        Field(
            "metric",
            gettext_lazy("Metric"),
            "path",
            hint=gettext_lazy(
                "A path, or a run column: duration, gpu, cpu, gpu_idle, gpu_hours,"
                " energy."
            ),
            is_required=True,
            offered=NUMBERS_OF_RUN,
        ),
        Field("summary", gettext_lazy("Per run"), "choice", options=SUMMARIES),
        Field("over", gettext_lazy("Across runs"), "choice", options=OVER),
        Field(
            "reference",
            gettext_lazy("Compare with"),
            "run",
            hint=gettext_lazy(
                "Name of a reference run. The widget shows the change from it."
            ),
        ),
    ),
    body=body,
    width=3,
    height=2,
    title=_title,
    paths=_paths,
)
