"""Logged histograms of the runs over steps or time, as heat maps or ridges."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.utils.translation import gettext
from msgspec import Meta, Struct

from tracker.queries.series.histograms import read_histograms
from tracker.queries.series.series import Axis
from web.figures.histogram import HistogramRow, histogram_rows
from web.figures.ridges import MAX_RIDGES, ridge_figure
from web.pages.charts.chart_options import ChartOptions
from web.pages.dashboards.widget_kind import (
    WITHHELD,
    Body,
    Field,
    FigureView,
    Kind,
    Scene,
)
from web.texts import gettext_lazy

# Each run has its own heat map; with more, they would be too small to read.
MAX_RUNS = 6
# Columns of a heat map.
MAX_HISTOGRAMS = 200
HISTOGRAM_SERIES = "histogram_series"
VIEWS = (
    ("map", gettext_lazy("Heat map")),
    ("ridges", gettext_lazy("Ridges")),
)
AXES = (
    ("step", gettext_lazy("Step")),
    ("relative", gettext_lazy("Relative time")),
    ("time", gettext_lazy("Time")),
)


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    path: Annotated[str, Meta(min_length=1, max_length=1_024)]
    axis: Literal["step", "relative", "time"] = "step"
    view: Literal["map", "ridges"] = "map"


def body(scene: Scene, settings: Settings) -> Body:
    found = scene.values(scene.runs, [settings.path])
    if settings.path in found.withheld:
        return Body(problem=WITHHELD)
    if not _drawn(scene, settings):
        said = gettext("No histograms at “%(path)s”.")
        return Body(problem=said % {"path": settings.path})
    return Body("widgets/figure.html", {"title": settings.path})


def figure(scene: Scene, settings: Settings, view: ChartOptions) -> FigureView:
    runs, axis = _drawn(scene, settings), Axis(settings.axis)
    rows = []
    for place, run in runs[:MAX_RUNS]:
        found = read_histograms(
            run,
            settings.path,
            most=MAX_RIDGES if settings.view == "ridges" else MAX_HISTOGRAMS,
            axis=axis,
            low=view.low,
            high=view.high,
        )
        rows.append(
            HistogramRow(
                scene.names[run.id],
                scene.slot(place),
                found.x,
                found.histograms,
                found.count,
            )
        )
    drawn = (
        ridge_figure(rows, axis=axis)
        if settings.view == "ridges"
        else histogram_rows(rows, axis=axis, low=view.low, high=view.high)
    )
    if len(runs) > MAX_RUNS:
        said = gettext("Showing the first %(count)s of %(all)s runs.")
        drawn["notes"].append(said % {"count": MAX_RUNS, "all": len(runs)})
    return FigureView(drawn, is_live=scene.shown.is_live)


# Any: rows of the runs table, which pages do not import.
def _drawn(scene: Scene, settings: Settings) -> list[tuple[int, Any]]:
    """Return the runs with such histograms, and their places among the widget's."""
    values = scene.values(scene.runs, [settings.path]).by_run
    return [
        (place, run)
        for place, run in enumerate(scene.runs)
        if (row := values.get(run.id, {}).get(settings.path)) is not None
        and row.kind == HISTOGRAM_SERIES
    ]


KIND = Kind(
    name="histograms",
    label=gettext_lazy("Logged histogram"),
    icon="layers",
    hint=gettext_lazy("Logged histograms over steps, as heat maps or ridges"),
    settings=Settings,
    fields=(
        Field(
            "path",
            gettext_lazy("Path"),
            "path",
            hint=gettext_lazy("For example weights/layer1"),
            is_required=True,
            of_kind=HISTOGRAM_SERIES,
        ),
        Field("axis", gettext_lazy("Axis"), "choice", options=AXES),
        Field("view", gettext_lazy("View"), "choice", options=VIEWS),
    ),
    body=body,
    figure=figure,
    height=5,
    title=lambda settings: settings.path,
    paths=lambda settings: [settings.path],
)
