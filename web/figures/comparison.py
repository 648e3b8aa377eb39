"""One series of several runs, laid over each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from web.figures.layout import STEP, X_TITLES
from web.figures.series import Line, NamedLine, series_figure
from web.figures.texts import gettext
from web.figures.traces import Figure, Floats, run_dash

# A box with a row for each of more lines is higher than the chart, and cut off.
MOST_HOVERED_TOGETHER = 8
# Bands of more runs lie over each other and hide the lines; hover still tells them. They
# would also double what the browser has to draw.
MOST_WITH_BANDS = 5
# Of the height, free above and below lines.
MARGIN = 0.05


def overlay_figure(
    lines: Sequence[NamedLine],
    *,
    axis: str = STEP,
    log: bool = False,
    smoothing: float = 0.0,
    low: float | None = None,
    high: float | None = None,
    legend: bool = False,
) -> Figure:
    """Draw a line for each run; the page's list is its legend, hover has the names.

    Lines that are not runs want a legend of their own.
    """
    # By its place among the lines each trace is found again.
    keyed = [replace(line, key=str(place)) for place, line in enumerate(lines)]
    figure = series_figure(
        keyed,
        axis=axis,
        log=log,
        smoothing=smoothing,
        low=low,
        high=high,
        legend=True,
    )
    figure["layout"]["showlegend"] = legend
    if len(lines) > MOST_WITH_BANDS:
        figure["data"] = [
            trace for trace in figure["data"] if trace.get("fill") != "toself"
        ]
    slots = []
    for trace in figure["data"]:
        # Without groups, the rows of the hover box stand closer.
        line = lines[int(trace.pop("legendgroup"))]
        if "fill" not in trace:
            trace["line"] = {**trace["line"], "dash": _dash(line)}
        slots.append(line.slots or (line.position,))
    figure["slots"] = slots
    if len(lines) > MOST_HOVERED_TOGETHER:
        _hover_nearest(figure, axis)
    return figure


def with_common_range(
    figure: Figure, lines: Sequence[NamedLine], *, log: bool
) -> Figure:
    """Give a chart that holds some of the lines the height of all: they are compared."""
    columns = [column for each in lines for column in _drawn(each.line)]
    values = np.concatenate([np.empty(0), *columns])
    values = values[np.isfinite(values)]
    if log:
        values = np.log10(values[values > 0])
    if not values.size:
        return figure
    low, high = float(values.min()), float(values.max())
    room = (high / 2 - low / 2) * 2 * MARGIN or abs(high) * MARGIN or MARGIN
    axis = figure["layout"]["yaxis"]
    if np.isfinite([low - room, high + room]).all():
        axis["range"] = [low - room, high + room]
    return figure


def _drawn(line: Line) -> tuple[Floats, ...]:
    return (line.mean,) if line.exact else (line.mean, line.minimum, line.maximum)


def _dash(line: NamedLine) -> str:
    if line.dash:
        return line.dash
    # Where a colour is a value's and not a run's, lines of that value look alike.
    return "solid" if line.colour else run_dash(line.position)


def _hover_nearest(figure: Figure, axis: str) -> None:
    """Name the one run that is nearest to the pointer, however far that is."""
    figure["layout"] |= {"hovermode": "closest", "hoverdistance": -1}
    for trace in figure["data"]:
        if "hovertemplate" in trace:
            trace["hovertemplate"] += f"<br>{gettext(X_TITLES[axis])} %{{x}}"
