"""One number: a metric over all runs, its run, and the difference from a reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from django.utils.translation import gettext, ngettext
from msgspec import Meta, Struct

from tracker.queries.runs.column_keys import NUMBERS_OF_RUN
from tracker.queries.runs.over_runs import HIGHEST, LOWEST, OverRuns
from web.pages.compare.cells import change_between
from web.pages.dashboards.widget_kind import BestOf, Body, Field, Kind, Scene
from web.pages.runs.fields import LABELS, field_change, field_text, path_of
from web.run_names import RunNames
from web.templatetags.format import number
from web.texts import gettext_lazy
from web.widgets.run_numbers import (
    column_key,
    number_field,
    over_all,
    over_shown,
    why_none,
)

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
INCLUDED = (
    ("all", gettext_lazy("All matching runs")),
    ("shown", gettext_lazy("Shown runs only")),
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
    include: Literal["all", "shown"] = "all"
    # The id of a run.
    reference: Annotated[str, Meta(max_length=36)] = ""


def body(scene: Scene, settings: Settings) -> Body:
    is_over_all = _is_over_all(scene, settings)
    find = over_all if is_over_all else over_shown
    metric, summary = settings.metric, settings.summary
    found = find(scene, metric, summary, settings.over, settings.reference)
    over, reference = found.over, found.reference
    if over.value is None:
        return Body(problem=why_none(scene, metric))
    field = number_field(metric)
    runs = [run for run in (over.run, reference) if run is not None]
    names = scene.names_of(runs)
    context = {
        "value": field_text(field, over.value) if field else number(over.value),
        "best": over.run,
        "run_names": RunNames((*scene.names.values(), *names.values())),
        "best_name": names[over.run.id] if over.run else "",
        "reference_name": names[reference.id] if reference else "",
        "summary": LABELS[field] if field else SAID_SUMMARIES[summary],
        "over": _runs_text(scene, settings.over, over.run_count, is_all=is_over_all),
        "metric": metric,
        "run_count": over.known_count,
        "reference": reference,
        "change": _change(field, over.value, found.reference_value)
        if found.is_metric
        else "",
    }
    notes = _notes(settings, over, has_reference=reference is not None)
    return Body("widgets/value.html", context, notes=notes)


def _is_over_all(scene: Scene, settings: Settings) -> bool:
    is_about_all = settings.include == "all" and settings.over != "first"
    return is_about_all and scene.has_every_match


def _notes(settings: Settings, over: OverRuns, *, has_reference: bool) -> list[str]:
    notes = []
    if lacking := over.run_count - over.known_count:
        said = ngettext(
            "%(count)s run without this value is excluded.",
            "%(count)s runs without this value are excluded.",
            lacking,
        )
        notes.append(said % {"count": number(lacking)})
    if settings.reference and not has_reference:
        notes.append(gettext("The reference run is no longer among these runs."))
    return notes


def _runs_text(scene: Scene, over: str, count: int, *, is_all: bool) -> str:
    """Describe the runs that the value is of."""
    if over == "first" or count == 1:
        return gettext("first run only")
    is_limited = not is_all and _are_newest(scene)
    texts = OF_NEWEST_RUNS if is_limited else OF_RUNS
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


def _change(field: str | None, value: float, reference: float | None) -> str:
    if reference is None:
        return ""
    if field is not None:
        return field_change(field, value, reference)
    return change_between(value, reference)


def _title(settings: Settings) -> str:
    field = number_field(settings.metric)
    return str(LABELS[field]) if field else path_of(settings.metric)


def _paths(settings: Settings) -> Sequence[str]:
    return [] if number_field(settings.metric) else [path_of(settings.metric)]


def _best_of(settings: Settings) -> BestOf | None:
    if settings.include != "all" or settings.over not in (HIGHEST, LOWEST):
        return None
    return BestOf(column_key(settings.metric, settings.summary), settings.over)


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
        Field("include", gettext_lazy("Include"), "choice", options=INCLUDED),
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
    best_of=_best_of,
)
