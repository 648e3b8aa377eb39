"""The reader's chart options: part of the address of pages and figures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from tracker.errors import InvalidInput
from tracker.queries.series.chart_lines import Across
from tracker.queries.series.series import Axis
from web.figures.chart import SERIES, Look
from web.figures.smoothing import EMA, MAX_SMOOTHING, SMOOTHERS, Smoothing

AXES = (*Axis, SERIES)


@dataclass(frozen=True, slots=True)
class ChartOptions:
    axis: Axis = Axis.STEP
    over: str = ""  # path of the series on the x axis
    log: bool = False
    log_x: bool = False
    clips: bool = False
    # Histograms as ridges instead of heat maps.
    ridges: bool = False
    smoothing: float = 0.0
    smoother: str = EMA
    low: float | None = None
    high: float | None = None

    @property
    def axis_name(self) -> str:
        return SERIES if self.over else self.axis.value

    @property
    def query(self) -> str:
        """Return the non-default options as part of an address.

        All of them, because they are part of the cache key and the version.
        """
        options: dict[str, str] = {}
        if self.over or self.axis != Axis.STEP:
            options["axis"] = self.axis_name
        if self.over:
            options["over"] = self.over
        if self.log:
            options["log"] = "1"
        if self.log_x:
            options["logx"] = "1"
        if self.clips:
            options["clip"] = "1"
        if self.ridges:
            options["ridges"] = "1"
        if self.smoothing:
            options["smoothing"] = repr(self.smoothing)
        if self.smoother != EMA:
            options["smoother"] = self.smoother
        if self.low is not None:
            options["low"] = repr(self.low)
        if self.high is not None:
            options["high"] = repr(self.high)
        return urlencode(options)

    @property
    def look(self) -> Look:
        return Look(
            axis=self.axis_name,
            over=self.over,
            log=self.log,
            log_x=self.has_log_x,
            smoothing=Smoothing(self.smoothing, self.smoother),
            clips=self.clips,
            low=self.low,
            high=self.high,
        )

    @property
    def across(self) -> Across:
        return Across(self.axis, self.over, self.has_log_x, self.low, self.high)

    @property
    def has_log_x(self) -> bool:
        # Logarithms of dates are not readable.
        return self.log_x and (bool(self.over) or self.axis != Axis.TIME)


def read_options(parameters: QueryDict) -> ChartOptions:
    axis = parameters.get("axis", Axis.STEP)
    if axis not in AXES:
        raise InvalidInput("axis", f"must be one of {', '.join(AXES)}")
    over = parameters.get("over", "") if axis == SERIES else ""
    if "\0" in over or (axis == SERIES and not over):
        raise InvalidInput("over", "must name a series")

    smoothing = read_number(parameters, "smoothing") or 0.0
    if not 0 <= smoothing <= MAX_SMOOTHING:
        raise InvalidInput("smoothing", f"must be from 0 to {MAX_SMOOTHING}")
    smoother = parameters.get("smoother") or EMA
    if smoother not in SMOOTHERS:
        raise InvalidInput("smoother", f"must be one of {', '.join(SMOOTHERS)}")
    return ChartOptions(
        axis=Axis.STEP if over else Axis(axis),
        over=over,
        log=parameters.get("log") == "1",
        log_x=parameters.get("logx") == "1",
        clips=parameters.get("clip") == "1",
        ridges=parameters.get("ridges") == "1",
        smoothing=smoothing,
        smoother=smoother,
        low=read_number(parameters, "low"),
        high=read_number(parameters, "high"),
    )


def named_path(parameters: QueryDict) -> str:
    path = parameters.get("path", "")
    if not path or "\0" in path:
        raise InvalidInput("path", "must name a series")
    return path


def read_number(parameters: QueryDict, name: str) -> float | None:
    text = parameters.get(name, "")
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(name, "must be a finite number")
    return number
