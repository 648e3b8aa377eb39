"""Several series of several runs in one chart: a color for each run, a dash for each metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from web.figures.chart import Look, lines_figure
from web.figures.series import Line, NamedLine
from web.figures.text import of_run
from web.figures.together import lines_together
from web.figures.traces import RUN_COLOURS, Figure, series_dash

# Bands of more groups would cover each other.
MAX_BANDS = 5
# Space between the data and the automatic end of an axis, as a share of its length.
PADDING = 0.05
USUAL_WIDTH = 1.6
MODES = {"always": "lines+markers", "never": "lines", "only": "markers"}


@dataclass(frozen=True, slots=True)
class BoardLine:
    """One series of one run, with the positions of both among those shown."""

    line: Line
    run_name: str
    run: int
    metric: int
    # Place of the run among the groups.
    place: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that are drawn as one line: its name, CSS colour and place in the legend."""

    label: str
    colour: str
    place: int


Ends = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class BoardStyle:
    """`dash` "" distinguishes metrics; `points` is auto, always, never or only. An end
    of an axis that is None fits the data.
    """

    width: float = USUAL_WIDTH
    dash: str = ""
    points: str = "auto"
    x_ends: Ends = (None, None)
    y_ends: Ends = (None, None)


def colour_of(place: int) -> int:
    """Return the number of the color at this place."""
    return place % RUN_COLOURS


def board_figure(
    lines: Sequence[BoardLine],
    look: Look,
    *,
    metric_count: int,
    run_count: int,
    outside: Sequence[int] = (),
    groups: Sequence[Group] | None = None,
    style: BoardStyle | None = None,
) -> Figure:
    """Draw every line; of a single run, its metrics have the colors instead.

    `outside` is how many points of each line have no place on the axis. `groups` are
    the groups of the runs, by their place; each is drawn as one line.
    """
    style = style or BoardStyle()
    if groups is None:
        by_metric = run_count == 1 and metric_count > 1
        named = [
            NamedLine(
                each.line,
                of_run(
                    each.run_name if run_count > 1 or metric_count == 1 else "",
                    each.line.path if metric_count > 1 else "",
                ),
                each.metric if by_metric else each.run,
                dash="" if by_metric else series_dash(each.metric, each.run),
            )
            for each in lines
        ]
    else:
        named = lines_together(
            [
                NamedLine(
                    each.line,
                    of_run(
                        groups[each.place].label,
                        each.line.path if metric_count > 1 else "",
                    ),
                    colour=groups[each.place].colour,
                    dash=series_dash(each.metric, 0),
                )
                for each in sorted(
                    lines, key=lambda each: (each.metric, groups[each.place].place)
                )
            ]
        )
    if style.dash:
        named = [replace(each, dash=style.dash) for each in named]
    has_bands = groups is None or len(named) <= MAX_BANDS
    figure = lines_figure(named, look, outside=outside, has_bands=has_bands)
    _draw_lines(figure, style)
    drawn = [each.line for each in named]
    _set_ends(figure, "x", style.x_ends, [line.x for line in drawn])
    heights = [column for line in drawn for column in (line.minimum, line.maximum)]
    _set_ends(figure, "y", style.y_ends, heights)
    return figure


def _draw_lines(figure: Figure, style: BoardStyle) -> None:
    smooth = {read["smooth"] for read in figure["lines"] if "smooth" in read}
    for place, trace in enumerate(figure["data"]):
        if "fill" in trace:
            continue
        trace["line"]["width"] *= style.width / USUAL_WIDTH
        if style.points in MODES and place not in smooth:
            trace["mode"] = MODES[style.points]


def _set_ends(
    figure: Figure, letter: str, ends: Ends, columns: Sequence[NDArray[np.float64]]
) -> None:
    axis = figure["layout"][f"{letter}axis"]
    if ends == (None, None):
        return
    is_log = axis["type"] == "log"
    low, high = (_place(end, is_log=is_log) for end in ends)
    if low is None or high is None:
        values = np.concatenate([np.zeros(0), *columns])
        values = values[np.isfinite(values) & ((values > 0) | (not is_log))]
        if not values.size:
            return
        found = np.log10(values) if is_log else values
        first, last = float(found.min()), float(found.max())
        room = PADDING * (last - first) if letter == "y" else 0.0
        low = first - room if low is None else low
        high = last + room if high is None else high
    # All data may lie outside of one given end.
    if low < high:
        axis["range"] = [low, high]


def _place(end: float | None, *, is_log: bool) -> float | None:
    """Return an end in Plotly's units: exponents on a logarithmic axis."""
    if end is None or not is_log:
        return end
    return math.log10(end) if end > 0 else None
