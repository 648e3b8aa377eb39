"""One or several series of the runs, over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

from django.utils.translation import gettext
from msgspec import Meta, Struct
from msgspec.structs import replace

from tracker.queries.compare.comparison import overlaid_series
from tracker.queries.run.attributes import AttributeRow
from tracker.queries.series.chart_lines import read_chart_lines
from tracker.queries.series.series import Axis
from tracker.queries.series.writers import read_writers
from web.figures.board import BoardLine, board_figure, colour_of
from web.figures.chart import SERIES as OVER
from web.figures.comparison import lacking_note, writers_note
from web.figures.smoothing import MAX_SMOOTHING
from web.figures.traces import RUN_COLOURS, run_round
from web.pages.charts.chart_options import ChartOptions
from web.pages.compare.state import SMOOTHERS
from web.pages.dashboards.widget_kind import (
    WITHHELD,
    Body,
    Field,
    FigureView,
    Kind,
    Scene,
)
from web.pages.runs.path_search import find_paths
from web.texts import gettext_lazy

MAX_METRICS = 6
# A widget has room for the names of no more.
MAX_RUNS = 20
BUCKETS = 500
SERIES = "float_series"
AXES = (
    ("step", gettext_lazy("Step")),
    ("relative", gettext_lazy("Time since the start")),
    ("time", gettext_lazy("Time")),
    (OVER, gettext_lazy("Epoch, or another series")),
)

Path = Annotated[str, Meta(min_length=1, max_length=1_024)]


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    metrics: Annotated[list[Path], Meta(max_length=MAX_METRICS)] = []
    pattern: Annotated[str, Meta(max_length=1_024)] = ""
    axis: Literal["step", "relative", "time", "series"] = "step"
    over: Annotated[str, Meta(max_length=1_024)] = ""
    smoothing: Annotated[float, Meta(ge=0, le=MAX_SMOOTHING)] = 0.0
    smoother: Literal["ema", "step-ema", "gaussian", "mean"] = "ema"
    log: bool = False
    logx: bool = False
    clip: bool = False

    def seen_by(self, view: ChartOptions) -> ChartOptions:
        """Return the options that draw its lines for this reader and range of the axis."""
        is_over = self.axis == OVER
        return ChartOptions(
            axis=Axis.STEP if is_over else Axis(self.axis),
            over=self.over if is_over else "",
            log=self.log,
            log_x=self.logx,
            clips=self.clip,
            smoothing=self.smoothing,
            smoother=self.smoother,
            low=view.low,
            high=view.high,
        )


def body(scene: Scene, settings: Settings) -> Body:
    settings, mistake = _resolved(scene, settings)
    if mistake:
        return Body(problem=mistake)
    drawn = _drawn(scene, settings)
    found = scene.values(drawn, _paths(settings))
    if settings.over in found.withheld:
        return Body(problem=WITHHELD)
    values = found.by_run
    rows = {path: _rows(values, path) for path in settings.metrics}
    named = [path for path in settings.metrics if path not in found.withheld]
    gone = [path for path in named if not _is_series(rows[path])]
    if not named:
        return Body(problem=WITHHELD)
    if settings.axis == OVER and not settings.over:
        return Body(problem=gettext("Name the series that the horizontal axis counts."))
    if len(gone) == len(named):
        return Body(problem=_why_not(gone, rows))
    notes = []
    if gone:
        said = gettext("No run here has %(paths)s as a series.")
        notes.append(said % {"paths": _listed(gone)})
    if len(drawn) < len(scene.runs):
        said = gettext("The first %(count)s of %(all)s runs are drawn.")
        notes.append(said % {"count": len(drawn), "all": len(scene.runs)})
    several, names = len(settings.metrics) > 1, scene.names
    context = {
        "named": named,
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
        if len(drawn) > 1 or not several
        else [],
        "metrics": [
            (path, place, colour_of(place) if len(drawn) == 1 else None)
            for place, path in enumerate(settings.metrics)
            if path not in found.withheld
        ]
        if several
        else [],
        "only_run": names[drawn[0].id] if several and len(drawn) == 1 else "",
    }
    return Body("widgets/chart.html", context, notes=notes)


def figure(scene: Scene, settings: Settings, view: ChartOptions) -> FigureView:
    settings, _ = _resolved(scene, settings)
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
        (BoardLine(line, names[drawn[run].id], scene.slot(run), metric), outside)
        for (metric, run), line, outside in zip(
            places, read.lines, read.outside, strict=True
        )
        if line.count and line.run_id not in read.lacking
    ]
    described = board_figure(
        [line for line, _ in found],
        options.look,
        metric_count=len(settings.metrics),
        run_count=len(drawn),
        outside=[outside for _, outside in found],
    )
    if lacking := [names[run.id] for run in drawn if run.id in read.lacking]:
        described["notes"].append(lacking_note(lacking, settings.over))
    if shared := _shared(drawn, settings, names):
        described["notes"].append(writers_note(shared))
    return FigureView(described, is_live=scene.shown.is_live)


def _resolved(scene: Scene, settings: Settings) -> tuple[Settings, str]:
    """Return the settings with the series that the expression finds, or an error."""
    metrics = list(settings.metrics)
    if settings.pattern:
        every = overlaid_series([run.id for run in scene.runs])
        found = find_paths(every, settings.pattern, is_regex=True)
        if found.mistake:
            said = gettext("Invalid regular expression: %(why)s")
            return settings, said % {"why": found.mistake}
        metrics = list(dict.fromkeys([*metrics, *found.paths]))[:MAX_METRICS]
    if metrics:
        return replace(settings, metrics=metrics), ""
    return settings, gettext("No series matches the regular expression.")


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
    most = MAX_RUNS if len(settings.metrics) == 1 else RUN_COLOURS
    return scene.runs[:most]


def _paths(settings: Settings) -> list[str]:
    counted = [settings.over] if settings.axis == OVER and settings.over else []
    return [*settings.metrics, *counted]


def _rows(values: dict[Any, dict[str, AttributeRow]], path: str) -> list[AttributeRow]:
    return [found[path] for found in values.values() if path in found]


def _is_series(rows: Sequence[AttributeRow]) -> bool:
    return any(row.kind == SERIES for row in rows)


def _why_not(gone: Sequence[str], rows: dict[str, list[AttributeRow]]) -> str:
    if any(rows[path] for path in gone):
        said = gettext(
            "%(paths)s is logged, but not as a series of numbers. A table or a value can"
            " show it."
        )
    else:
        said = gettext(
            "None of these runs has %(paths)s. It may have been renamed, or not be logged"
            " yet."
        )
    return said % {"paths": _listed(gone)}


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(f"“{path}”" for path in paths)


KIND = Kind(
    name="chart",
    label=gettext_lazy("Chart"),
    icon="chart-line",
    hint=gettext_lazy("Series of the runs, over each other"),
    settings=Settings,
    fields=(
        Field(
            "metrics",
            gettext_lazy("Metrics"),
            "paths",
            hint=gettext_lazy(
                "Paths of series, such as train/loss. Several are distinguished by dashes."
            ),
            is_required=True,
            instead="pattern",
            most=MAX_METRICS,
        ),
        Field(
            "pattern",
            gettext_lazy("Regular expression"),
            "line",
            hint=gettext_lazy("Adds the first matching series: ^(train|val)/loss$"),
        ),
        Field("axis", gettext_lazy("Horizontal axis"), "choice", options=AXES),
        Field(
            "over",
            gettext_lazy("Series on the horizontal axis"),
            "path",
            hint=gettext_lazy("Such as train/epoch, where that is chosen above"),
        ),
        Field(
            "smoothing",
            gettext_lazy("Smoothing"),
            "number",
            hint=gettext_lazy("0 to 0.99"),
            step="0.01",
            lowest="0",
            highest="0.99",
        ),
        Field(
            "smoother",
            gettext_lazy("Kind of smoothing"),
            "choice",
            options=tuple(SMOOTHERS.items()),
        ),
        Field("log", gettext_lazy("Logarithmic vertical axis"), "check"),
        Field("logx", gettext_lazy("Logarithmic horizontal axis"), "check"),
        Field("clip", gettext_lazy("Leave outliers out of the height"), "check"),
    ),
    body=body,
    figure=figure,
    title=lambda settings: ", ".join(
        filter(None, [*settings.metrics, settings.pattern])
    ),
    paths=_paths,
)
