"""Values of the runs as bars, a distribution, a scatter plot or parallel coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from django.utils.translation import gettext
from msgspec import Meta, Struct

from tracker.disclosure import seen_by
from tracker.queries.compare.values import OF_SERIES, Column, read_columns
from web.figures.run_values import (
    Axis,
    RunValue,
    bars_figure,
    distribution_figure,
    parallel_figure,
)
from web.figures.scatter import Dimension, ScatterRun, scatter_figure
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

MAX_BARS = 60
MAX_AXES = 12
Path = Annotated[str, Meta(min_length=1, max_length=1_024)]
Optional = Annotated[str, Meta(max_length=1_024)]
ORDERS = (
    ("runs", gettext_lazy("Same as the runs")),
    ("highest", gettext_lazy("Highest first")),
    ("lowest", gettext_lazy("Lowest first")),
)
VALUE_HINT = gettext_lazy(
    "For example val/accuracy, min(val/loss), params/lr or (duration)"
)


class BarSettings(Struct, frozen=True, forbid_unknown_fields=True):
    metric: Path
    order: Literal["runs", "highest", "lowest"] = "runs"
    log: bool = False


class HistogramSettings(Struct, frozen=True, forbid_unknown_fields=True):
    metric: Path
    bins: Annotated[int, Meta(ge=0, le=100)] = 0


class ScatterSettings(Struct, frozen=True, forbid_unknown_fields=True):
    x: Path
    y: Path
    colour: Optional = ""
    size: Optional = ""
    logx: bool = False
    log: bool = False


class ParallelSettings(Struct, frozen=True, forbid_unknown_fields=True):
    axes: Annotated[list[Path], Meta(min_length=1, max_length=MAX_AXES)]
    colour: Optional = ""
    log_axes: Annotated[list[Path], Meta(max_length=MAX_AXES)] = []


def _columns(scene: Scene, dimensions: Sequence[str]) -> list[Column]:
    columns = read_columns(scene.runs, dimensions, seen_by(scene.actor))
    if not scene.is_shared:
        return columns
    # The name of a hidden value is hidden too.
    return [each if each.is_known else Column("", each.values) for each in columns]


def _body(scene: Scene, dimensions: Sequence[str]) -> Body:
    known = [column for column in _columns(scene, dimensions) if column.is_known]
    if len(known) < len(dimensions):
        if scene.values(scene.runs, _paths(dimensions)).withheld:
            return Body(problem=WITHHELD)
        held = {column.dimension for column in known}
        paths = ", ".join(f"“{name}”" for name in dimensions if name not in held)
        return Body(
            problem=gettext("No run has a value for %(paths)s.") % {"paths": paths}
        )
    return Body("widgets/figure.html", {"title": ", ".join(dimensions)})


def _bars(scene: Scene, settings: BarSettings, _view: ChartOptions) -> FigureView:
    (column,) = _columns(scene, [settings.metric])
    names = list(scene.names.values())
    runs = [
        RunValue(names[place], scene.slot(place), value)
        for place, value in enumerate(column.values)
        if isinstance(value, float)
    ]
    if settings.order != "runs":
        runs.sort(key=lambda run: run.value, reverse=settings.order == "highest")
    figure = bars_figure(runs[:MAX_BARS], column.label, log=settings.log)
    if len(runs) > MAX_BARS:
        said = gettext("Showing the first %(count)s of %(all)s runs.")
        figure["notes"].append(said % {"count": MAX_BARS, "all": len(runs)})
    return FigureView(figure, is_live=scene.shown.is_live)


def _histogram(
    scene: Scene, settings: HistogramSettings, _view: ChartOptions
) -> FigureView:
    (column,) = _columns(scene, [settings.metric])
    values = [value for value in column.values if isinstance(value, float)]
    figure = distribution_figure(values, column.label, bins=settings.bins)
    return FigureView(figure, is_live=scene.shown.is_live)


def _scatter(
    scene: Scene, settings: ScatterSettings, _view: ChartOptions
) -> FigureView:
    wanted = (settings.x, settings.y, settings.size, settings.colour)
    read = _columns(scene, list(dict.fromkeys(filter(None, wanted))))
    columns = {column.dimension: column for column in read}
    nothing = Column("", [None] * len(scene.runs))
    values = [columns.get(name, nothing) for name in wanted]
    names = list(scene.names.values())
    points = [
        ScatterRun(
            str(run.id),
            names[place],
            scene.slot(place),
            *(column.values[place] for column in values),
        )
        for place, run in enumerate(scene.runs)
    ]
    figure = scatter_figure(
        points,
        x=Dimension(values[0].label, is_log=settings.logx),
        y=Dimension(values[1].label, is_log=settings.log),
        size=Dimension(values[2].label),
        colour=Dimension(values[3].label),
    )
    # The widget sets the height.
    del figure["layout"]["height"]
    return FigureView(figure, is_live=scene.shown.is_live)


def _parallel(
    scene: Scene, settings: ParallelSettings, _view: ChartOptions
) -> FigureView:
    wanted = [*settings.axes, *filter(None, [settings.colour])]
    axes = [
        Axis(column.label, column.values, column.dimension in settings.log_axes)
        for column in _columns(scene, wanted)
    ]
    slots = [scene.slot(place) for place in range(len(scene.runs))]
    count = len(settings.axes)
    colour = axes[count] if settings.colour else None
    names = list(scene.names.values())
    figure = parallel_figure(names, slots, axes[:count], colour)
    return FigureView(figure, is_live=scene.shown.is_live)


# Any: the settings of a kind.
def _dimensions(settings: Any) -> list[str]:
    if isinstance(settings, ParallelSettings):
        return list(dict.fromkeys(filter(None, [*settings.axes, settings.colour])))
    if isinstance(settings, ScatterSettings):
        named = [settings.x, settings.y, settings.size, settings.colour]
        return list(dict.fromkeys(filter(None, named)))
    return [settings.metric]


def _paths(dimensions: Sequence[str]) -> list[str]:
    """Return the attributes that these dimensions name, such as a for min(a)."""
    named = [OF_SERIES.match(dimension) for dimension in dimensions]
    return [
        match[2] if match else dimension
        for match, dimension in zip(named, dimensions, strict=True)
    ]


# Any: arguments of Kind.
def _kind(**described: Any) -> Kind:
    return Kind(
        body=lambda scene, settings: _body(scene, _dimensions(settings)),
        title=lambda settings: ", ".join(_dimensions(settings)),
        paths=lambda settings: _paths(_dimensions(settings)),
        **described,
    )


def _value(name: str, label: str, *, is_required: bool = False) -> Field:
    return Field(name, label, "path", hint=VALUE_HINT, is_required=is_required)


BAR = _kind(
    name="bar",
    label=gettext_lazy("Bar chart"),
    icon="chart-bar",
    hint=gettext_lazy("One value per run"),
    settings=BarSettings,
    fields=(
        _value("metric", gettext_lazy("Metric"), is_required=True),
        Field("order", gettext_lazy("Order"), "choice", options=ORDERS),
        Field("log", gettext_lazy("Logarithmic axis"), "check"),
    ),
    figure=_bars,
)
HISTOGRAM = _kind(
    name="histogram",
    label=gettext_lazy("Histogram"),
    icon="chart-no-axes-column",
    hint=gettext_lazy("Number of runs by value"),
    settings=HistogramSettings,
    fields=(
        _value("metric", gettext_lazy("Metric"), is_required=True),
        Field(
            "bins",
            gettext_lazy("Bins"),
            "number",
            hint=gettext_lazy("0: automatic"),
            step="1",
            lowest="0",
            highest="100",
        ),
    ),
    figure=_histogram,
)
SCATTER = _kind(
    name="scatter",
    label=gettext_lazy("Scatter plot"),
    icon="chart-scatter",
    hint=gettext_lazy("Two values per run"),
    settings=ScatterSettings,
    fields=(
        _value("x", gettext_lazy("X axis"), is_required=True),
        _value("y", gettext_lazy("Y axis"), is_required=True),
        _value("colour", gettext_lazy("Color")),
        _value("size", gettext_lazy("Size")),
        Field("logx", gettext_lazy("Logarithmic X axis"), "check"),
        Field("log", gettext_lazy("Logarithmic Y axis"), "check"),
    ),
    figure=_scatter,
)
PARALLEL = _kind(
    name="parallel",
    label=gettext_lazy("Parallel coordinates"),
    icon="chart-line",
    hint=gettext_lazy("Parameters and metrics as axes"),
    settings=ParallelSettings,
    fields=(
        Field(
            "axes",
            gettext_lazy("Axes"),
            "paths",
            hint=VALUE_HINT,
            is_required=True,
            most=MAX_AXES,
        ),
        _value("colour", gettext_lazy("Color")),
        Field("log_axes", gettext_lazy("Logarithmic axes"), "paths", most=MAX_AXES),
    ),
    figure=_parallel,
    width=12,
)
KINDS = (BAR, SCATTER, PARALLEL, HISTOGRAM)
