"""One or several series of the runs, over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.utils.translation import gettext, ngettext
from msgspec.structs import replace

from tracker.queries.compare.comparison import overlaid_series
from tracker.queries.run.attributes import AttributeRow
from tracker.queries.series.chart_lines import read_chart_lines
from tracker.queries.series.writers import read_writers
from web.figures.board import BoardLine, board_figure, colour_of
from web.figures.chart import SERIES as OVER
from web.figures.comparison import lacking_note, writers_note
from web.figures.traces import RUN_COLOURS, run_round
from web.pages.charts.chart_options import ChartOptions
from web.pages.dashboards.chart_groups import group_path, run_groups
from web.pages.dashboards.chart_settings import FIELDS, MAX_METRICS, Settings
from web.pages.dashboards.widget_kind import (
    WITHHELD,
    Body,
    FigureView,
    Kind,
    Scene,
)
from web.pages.runs.path_search import find_paths
from web.run_names import RunNames
from web.texts import gettext_lazy

# A widget has no room for more names.
MAX_RUNS = 20
# Maximum number of runs that are grouped.
MAX_GROUPED = 100
BUCKETS = 500
SERIES = "float_series"


def body(scene: Scene, settings: Settings) -> Body:
    settings, every, mistake = _resolved(scene, settings)
    if mistake:
        return Body(problem=mistake)
    drawn = _drawn(scene, settings)
    found = scene.values(drawn, _paths(settings))
    if {settings.over, group_path(settings.group)} & found.withheld:
        return Body(problem=WITHHELD)
    values = found.by_run
    rows = {path: _rows(values, path) for path in settings.metrics}
    named = [path for path in settings.metrics if path not in found.withheld]
    gone = [path for path in named if not _is_series(rows[path])]
    if not named:
        return Body(problem=WITHHELD)
    if settings.axis == OVER and not settings.over:
        return Body(problem=gettext("Enter the series for the X axis."))
    if len(gone) == len(named):
        return Body(problem=_why_not(gone, rows))
    notes = []
    if gone:
        said = gettext("None of these runs has a series %(paths)s.")
        notes.append(said % {"paths": _listed(gone)})
    if len(drawn) < len(scene.runs):
        said = gettext("Showing the first %(count)s of %(all)s runs.")
        notes.append(said % {"count": len(drawn), "all": len(scene.runs)})
    if count := len(every) - len(settings.metrics):
        said = ngettext(
            "%(count)s more series matches.", "%(count)s more series match.", count
        )
        notes.append(said % {"count": count})
    groups = run_groups(scene, drawn, settings.group)
    several, names = len(settings.metrics) > 1, scene.names
    context = {
        "named": named,
        "run_names": RunNames(names.values()),
        "groups": groups.legend if groups else [],
        "group_label": groups.label if groups else "",
        "runs": [
            (
                run,
                names[run.id],
                colour_of(scene.slot(place)),
                run_round(scene.slot(place)),
            )
            for place, run in enumerate(drawn)
            if values[run.id].keys() & set(settings.metrics)
        ]
        if groups is None and (len(drawn) > 1 or not several)
        else [],
        "metrics": [
            (
                path,
                place if settings.dash == "auto" else None,
                colour_of(place) if len(drawn) == 1 and not groups else None,
            )
            for place, path in enumerate(settings.metrics)
            if path not in found.withheld
        ]
        if several
        else [],
        "only_run": names[drawn[0].id] if several and len(drawn) == 1 else "",
    }
    return Body("widgets/chart.html", context, notes=notes)


def figure(scene: Scene, settings: Settings, view: ChartOptions) -> FigureView:
    settings, _, _ = _resolved(scene, settings)
    drawn = _drawn(scene, settings)
    wanted = [(run, path) for path in settings.metrics for run in drawn]
    options = settings.seen_by(view)
    read = read_chart_lines(wanted, options.across, buckets=BUCKETS)
    places = [
        (metric, run)
        for metric in range(len(settings.metrics))
        for run in range(len(drawn))
    ]
    names = scene.names
    found = [
        (BoardLine(line, names[drawn[run].id], scene.slot(run), metric, run), outside)
        for (metric, run), line, outside in zip(
            places, read.lines, read.outside, strict=True
        )
        if line.count and line.run_id not in read.lacking
    ]
    groups = run_groups(scene, drawn, settings.group)
    described = board_figure(
        [line for line, _ in found],
        options.look,
        metric_count=len(settings.metrics),
        run_count=len(drawn),
        outside=[outside for _, outside in found],
        groups=groups.of_runs if groups else None,
        style=settings.style(view),
    )
    if lacking := [names[run.id] for run in drawn if run.id in read.lacking]:
        described["notes"].append(lacking_note(lacking, settings.over))
    if shared := _shared(drawn, settings, names):
        described["notes"].append(writers_note(shared))
    return FigureView(described, is_live=scene.shown.is_live)


def _resolved(scene: Scene, settings: Settings) -> tuple[Settings, Sequence[str], str]:
    """Return the settings with the first series of the expression, all of them, and an
    error.
    """
    metrics = list(settings.metrics)
    if settings.pattern:
        logged = overlaid_series([run.id for run in scene.runs])
        found = find_paths(logged, settings.pattern, is_regex=True)
        if found.mistake:
            said = gettext("Invalid regular expression: %(why)s")
            return settings, metrics, said % {"why": found.mistake}
        metrics = list(dict.fromkeys([*metrics, *found.paths]))
    if metrics:
        return replace(settings, metrics=metrics[:MAX_METRICS]), metrics, ""
    return settings, metrics, gettext("No series matches the regular expression.")


def _shared(
    drawn: Sequence[Any], settings: Settings, names: Mapping[UUID, str]
) -> list[tuple[str, list[int]]]:
    """Return the runs in which several logged to a series at once, and their ranks."""
    writers = read_writers([run.id for run in drawn], settings.metrics)
    ranks = {
        run_id: [writer.rank for writer in those]
        for (run_id, _), those in writers.items()
    }
    return [(names[run.id], ranks[run.id]) for run in drawn if run.id in ranks]


def _drawn(scene: Scene, settings: Settings) -> tuple[Any, ...]:
    """With several metrics the dash shows the metric, and cannot also show the group of
    runs.
    """
    if settings.group:
        return scene.runs[:MAX_GROUPED]
    most = MAX_RUNS if len(settings.metrics) == 1 else RUN_COLOURS
    return scene.runs[:most]


def _paths(settings: Settings) -> list[str]:
    counted = [settings.over] if settings.axis == OVER and settings.over else []
    grouped = [group_path(settings.group)] if settings.group else []
    return [*settings.metrics, *counted, *grouped]


def _rows(values: dict[Any, dict[str, AttributeRow]], path: str) -> list[AttributeRow]:
    return [found[path] for found in values.values() if path in found]


def _is_series(rows: Sequence[AttributeRow]) -> bool:
    return any(row.kind == SERIES for row in rows)


def _why_not(gone: Sequence[str], rows: dict[str, list[AttributeRow]]) -> str:
    if any(rows[path] for path in gone):
        said = gettext(
            "%(paths)s is not a numeric series. Use a table or value widget instead."
        )
    else:
        said = gettext(
            "None of these runs has %(paths)s. It may have been renamed or not logged"
            " yet."
        )
    return said % {"paths": _listed(gone)}


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(f"“{path}”" for path in paths)


KIND = Kind(
    name="chart",
    label=gettext_lazy("Chart"),
    icon="chart-line",
    hint=gettext_lazy("Metrics over steps or time"),
    settings=Settings,
    fields=FIELDS,
    body=body,
    figure=figure,
    title=lambda settings: ", ".join(
        filter(None, [*settings.metrics, settings.pattern])
    ),
    paths=_paths,
)
