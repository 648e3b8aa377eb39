"""Lines of one or more series over steps or time.

The page shows the values under the pointer, so Plotly's hover is disabled: the figure's
`lines` list the traces to read, their style, and their lowest and highest values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from web.figures.layout import STEP, fit_ticks, framed, x_axis, y_axis
from web.figures.smoothing import NO_SMOOTHING, Smoothing, smoothed
from web.figures.text import literal
from web.figures.texts import gettext, ngettext
from web.figures.traces import (
    Figure,
    Trace,
    band_trace,
    compact,
    drawable,
    faint,
    line_trace,
    run_colour,
)

Floats = NDArray[np.float64]
# Axes of smaller values have exponents, not prefixes such as µ.
SMALL = 1e-3
# Each tick has its own power of ten: 8e-5, not 0.8e-4.
POWERS = {"tickformat": "~e", "labelalias": {"0e+0": "0"}}

LEGEND = {
    "orientation": "h",
    # By group, Plotly would keep lines further apart.
    "traceorder": "normal",
    "y": 1.02,
    "yanchor": "bottom",
    "x": 0,
}


class Line(Protocol):
    """The part of `tracker.queries.series.series.read_line`'s result that is drawn."""

    @property
    def path(self) -> str: ...
    @property
    def x(self) -> Floats: ...
    @property
    def mean(self) -> Floats: ...
    @property
    def minimum(self) -> Floats: ...
    @property
    def maximum(self) -> Floats: ...
    @property
    def exact(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class NamedLine:
    """A line with its displayed name; `position` selects its colour.

    `slots` are the indices of its runs among the compared ones.
    """

    line: Line
    name: str
    position: int = 0
    slots: tuple[int, ...] = ()
    colour: str = ""  # if not that of its position
    dash: str = ""  # if not solid
    run: str = ""  # name of its run, if `name` contains more


def series_figure(
    lines: Sequence[NamedLine],
    *,
    axis: str = STEP,
    log: bool = False,
    smoothing: Smoothing = NO_SMOOTHING,
    low: float | None = None,
    high: float | None = None,
    legend: bool = False,
    has_bands: bool = True,
) -> Figure:
    """Draw each line: its band where points were summarized, then itself.

    With smoothing the line itself stays, paler, below the smooth one.
    """
    traces: list[Trace] = []
    readable: list[Trace] = []
    for place, named in enumerate(lines):
        drawn = _traces(named, log=log, smoothing=smoothing, has_bands=has_bands)
        readable.append(_readable(named, drawn, first=len(traces)))
        # A click on a line in the legend also toggles its band.
        group = {"legendgroup": str(place)} if legend else {}
        traces += [trace | group for trace in drawn]
    xaxis = {**x_axis(axis, low=low, high=high), "showspikes": False}
    yaxis = y_axis(log=log)
    if 0 < _largest(lines) < SMALL:
        yaxis |= POWERS
    if not log:
        yaxis |= _flat_range(lines)
    layout = framed(
        xaxis, yaxis, hovermode=False, showlegend=legend, legend=dict(LEGEND)
    )
    fit_ticks(layout, *shown_range(lines, low, high))
    return {
        "data": traces,
        "layout": layout,
        "notes": _notes(lines, log=log),
        "lines": readable,
        "axis": str(axis),
    }


def shown_range(
    lines: Sequence[NamedLine], low: float | None, high: float | None
) -> tuple[float, float]:
    """Return the ends of the horizontal axis; those of the lines unless both are given."""
    if low is not None and high is not None:
        return low, high
    x = np.concatenate([np.zeros(0), *(named.line.x for named in lines)])
    x = x[np.isfinite(x)]
    return (float(x.min()), float(x.max())) if x.size else (0.0, 0.0)


def _largest(lines: Sequence[NamedLine]) -> float:
    """Return the largest absolute value of the lines; infinity without any value."""
    ends = [
        side for named in lines for side in (named.line.minimum, named.line.maximum)
    ]
    values = np.concatenate([np.zeros(0), *ends])
    values = values[np.isfinite(values)]
    return float(np.abs(values).max()) if values.size else math.inf


def _flat_range(lines: Sequence[NamedLine]) -> dict[str, list[float]]:
    """Show a level line between a tenth less and a tenth more, not from -1 to 1."""
    values = {
        value
        for named in lines
        for column in (named.line.minimum, named.line.maximum)
        for value in np.unique(column[drawable(column)])[:2].tolist()
    }
    level = values.pop() if len(values) == 1 else 0.0
    return {"range": sorted([level * 0.9, level * 1.1])} if level else {}


def _traces(
    named: NamedLine, *, log: bool, smoothing: Smoothing, has_bands: bool
) -> list[Trace]:
    line, colour = named.line, _colour(named)
    drawn: list[Trace] = []
    if has_bands and not line.exact:
        low, high = line.minimum, line.maximum
        if log:
            low, high = _positive(low, high)
        drawn.append(band_trace(line.x, low, high, colour=colour))
    mean = np.where(line.maximum > 0, line.mean, np.nan) if log else line.mean
    raw = line_trace(
        line.x,
        mean,
        name=literal(named.name),
        colour=colour,
        dash=named.dash or "solid",
    )
    drawn.append(raw)
    if smoothing.weight > 0:
        drawn.append(_smooth(raw, line, colour=colour, smoothing=smoothing))
    return drawn


def _colour(named: NamedLine) -> str:
    return named.colour or run_colour(named.position)


def _readable(named: NamedLine, drawn: Sequence[Trace], *, first: int) -> Trace:
    """Name the trace of a line and of its smoothed copy, with its summary.

    The name is plain text, which pages must escape.
    """
    places = [
        first + number for number, trace in enumerate(drawn) if "fill" not in trace
    ]
    read: Trace = {
        "name": named.name,
        "path": named.line.path,
        "colour": _colour(named),
        "dash": named.dash or "solid",
        "trace": places[0],
    }
    if named.run:
        read["run"] = named.run
    if not named.line.exact:
        read["low"] = compact(named.line.minimum)
        read["high"] = compact(named.line.maximum)
    if len(places) > 1:
        read["smooth"] = places[1]
    return read


def _smooth(raw: Trace, line: Line, *, colour: str, smoothing: Smoothing) -> Trace:
    smooth = line_trace(
        line.x,
        smoothed(line.x, line.mean, smoothing),
        name=raw["name"],
        colour=colour,
        width=2,
        dash=raw["line"]["dash"],
    )
    smooth["mode"] = "lines"
    smooth["hoverinfo"] = "skip"
    smooth["showlegend"] = False
    raw["line"] = {**raw["line"], "color": faint(colour, 45), "width": 1}
    raw["marker"] = {**raw["marker"], "color": faint(colour, 45)}
    return smooth


def _positive(minimum: Floats, maximum: Floats) -> tuple[Floats, Floats]:
    """Raise values ≤ 0 to the smallest positive value, for a logarithmic axis.

    Where the maximum is ≤ 0, the line has a gap.
    """
    shown = np.concatenate([minimum, maximum])
    shown = shown[np.isfinite(shown) & (shown > 0)]
    least = shown.min() if shown.size else np.nan
    is_shown = maximum > 0
    low = np.where(minimum > 0, minimum, least)
    return np.where(is_shown, low, np.nan), np.where(is_shown, maximum, np.nan)


def _notes(lines: Sequence[NamedLine], *, log: bool) -> list[str]:
    notes = []
    missing = sum(int((~drawable(named.line.mean)).sum()) for named in lines)
    if missing:
        # Each item of a downsampled line stands for many points.
        is_counted = all(named.line.exact for named in lines)
        template = (
            ngettext(
                "%(count)s NaN or infinite point is shown as a gap.",
                "%(count)s NaN or infinite points are shown as gaps.",
                missing,
            )
            if is_counted
            else gettext("NaN and infinite points are shown as gaps.")
        )
        notes.append(template % {"count": missing})
    hidden = sum(int((named.line.mean <= 0).sum()) for named in lines)
    if log and hidden:
        notes.append(
            gettext("Values at or below 0 are not shown on a logarithmic axis.")
        )
    if not any(len(named.line.x) for named in lines):
        notes.append(gettext("No points in this range."))
    return notes
