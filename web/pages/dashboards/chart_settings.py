"""Settings of a line chart on dashboards, in reports and in panels, with their form."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from tracker.queries.series.series import Axis
from web.figures.board import BoardStyle
from web.figures.chart import SERIES as OVER
from web.figures.smoothing import MAX_SMOOTHING
from web.pages.charts.chart_options import ChartOptions
from web.pages.compare.state import SMOOTHERS
from web.pages.dashboards.widget_kind import Field
from web.texts import gettext_lazy

MAX_METRICS = 6
AXES = (
    ("step", gettext_lazy("Step")),
    ("relative", gettext_lazy("Relative time")),
    ("time", gettext_lazy("Time")),
    (OVER, gettext_lazy("Epoch or another series")),
)
WIDTHS = {"thin": 1.0, "normal": 1.6, "thick": 3.0}
LINE_WIDTHS = (
    ("normal", gettext_lazy("Normal")),
    ("thin", gettext_lazy("Thin")),
    ("thick", gettext_lazy("Thick")),
)
DASHES = (
    ("auto", gettext_lazy("By metric")),
    ("solid", gettext_lazy("Solid")),
    ("dash", gettext_lazy("Dashed")),
    ("dot", gettext_lazy("Dotted")),
)
POINTS = (
    ("auto", gettext_lazy("Automatic")),
    ("always", gettext_lazy("Always")),
    ("never", gettext_lazy("Never")),
    ("only", gettext_lazy("Points only")),
)
AXIS_SECTION, LINE_SECTION = gettext_lazy("Axes"), gettext_lazy("Lines")

Path = Annotated[str, Meta(min_length=1, max_length=1_024)]
Optional = Annotated[str, Meta(max_length=1_024)]
End = Annotated[float, Meta(ge=-1e300, le=1e300)] | None


class Settings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    metrics: Annotated[list[Path], Meta(max_length=MAX_METRICS)] = []
    pattern: Optional = ""
    group: Optional = ""
    axis: Literal["step", "relative", "time", "series"] = "step"
    over: Optional = ""
    x_low: End = None
    x_high: End = None
    y_low: End = None
    y_high: End = None
    log: bool = False
    logx: bool = False
    clip: bool = False
    smoothing: Annotated[float, Meta(ge=0, le=MAX_SMOOTHING)] = 0.0
    smoother: Literal["ema", "step-ema", "gaussian", "mean"] = "ema"
    width: Literal["normal", "thin", "thick"] = "normal"
    dash: Literal["auto", "solid", "dash", "dot"] = "auto"
    points: Literal["auto", "always", "never", "only"] = "auto"

    def __post_init__(self) -> None:
        for low, high in ((self.x_low, self.x_high), (self.y_low, self.y_high)):
            if low is not None and high is not None and low >= high:
                raise ValueError("An axis must begin below its end")

    def seen_by(self, view: ChartOptions) -> ChartOptions:
        """Return the options that draw its lines for this reader and range of the axis."""
        is_over = self.axis == OVER
        low, high = view.low, view.high
        if low is None and high is None:
            low, high = self.x_ends
        # Points are read for a range with two ends.
        has_range = low is not None and high is not None
        return ChartOptions(
            axis=Axis.STEP if is_over else Axis(self.axis),
            over=self.over if is_over else "",
            log=self.log,
            log_x=self.logx,
            clips=self.clip,
            smoothing=self.smoothing,
            smoother=self.smoother,
            low=low if has_range else None,
            high=high if has_range else None,
        )

    @property
    def x_ends(self) -> tuple[float | None, float | None]:
        """Return the ends of the horizontal axis; an axis of dates has none."""
        if self.axis == "time":
            return None, None
        return self.x_low, self.x_high

    def style(self, view: ChartOptions) -> BoardStyle:
        """Return how lines are drawn; a zoomed view has its own horizontal range."""
        is_zoomed = view.low is not None or view.high is not None
        return BoardStyle(
            width=WIDTHS[self.width],
            dash="" if self.dash == "auto" else self.dash,
            points=self.points,
            x_ends=(None, None) if is_zoomed else self.x_ends,
            y_ends=(self.y_low, self.y_high),
        )


def _end(name: str, label: str) -> Field:
    return Field(name, label, "limit", section=AXIS_SECTION)


FIELDS = (
    Field(
        "metrics",
        gettext_lazy("Metrics"),
        "paths",
        hint=gettext_lazy(
            "Series paths, for example train/loss. Several metrics differ in line"
            " style."
        ),
        is_required=True,
        instead="pattern",
        most=MAX_METRICS,
    ),
    Field(
        "pattern",
        gettext_lazy("Regular expression"),
        "line",
        hint=gettext_lazy(
            "Adds the first matching series, for example ^(train|val)/loss$"
        ),
    ),
    Field(
        "group",
        gettext_lazy("Group runs by"),
        "path",
        hint=gettext_lazy(
            "Draws the mean of each group with a min–max band, for example by params/lr"
        ),
    ),
    Field(
        "axis",
        gettext_lazy("X axis"),
        "choice",
        options=AXES,
        section=AXIS_SECTION,
    ),
    Field(
        "over",
        gettext_lazy("X axis series"),
        "path",
        hint=gettext_lazy("For example train/epoch, if the X axis is a series"),
        section=AXIS_SECTION,
        of_kind="float_series",
    ),
    _end("x_low", gettext_lazy("X axis min")),
    _end("x_high", gettext_lazy("X axis max")),
    _end("y_low", gettext_lazy("Y axis min")),
    _end("y_high", gettext_lazy("Y axis max")),
    Field("log", gettext_lazy("Logarithmic Y axis"), "check", section=AXIS_SECTION),
    Field(
        "logx",
        gettext_lazy("Logarithmic X axis"),
        "check",
        section=AXIS_SECTION,
    ),
    Field(
        "clip",
        gettext_lazy("Ignore outliers in chart scaling"),
        "check",
        section=AXIS_SECTION,
    ),
    Field(
        "smoothing",
        gettext_lazy("Smoothing"),
        "number",
        hint=gettext_lazy("0 to 0.99"),
        step="0.01",
        lowest="0",
        highest="0.99",
        section=LINE_SECTION,
    ),
    Field(
        "smoother",
        gettext_lazy("Smoothing method"),
        "choice",
        options=tuple(SMOOTHERS.items()),
        section=LINE_SECTION,
    ),
    Field(
        "width",
        gettext_lazy("Line width"),
        "choice",
        options=LINE_WIDTHS,
        section=LINE_SECTION,
    ),
    Field(
        "dash",
        gettext_lazy("Line style"),
        "choice",
        options=DASHES,
        section=LINE_SECTION,
    ),
    Field(
        "points", gettext_lazy("Points"), "choice", options=POINTS, section=LINE_SECTION
    ),
)
