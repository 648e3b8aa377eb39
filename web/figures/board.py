"""Several series of several runs in one chart: a colour for each run, a dash for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from web.figures.layout import STEP, X_TITLES
from web.figures.series import Line, NamedLine, series_figure
from web.figures.text import shortened
from web.figures.texts import gettext
from web.figures.traces import RUN_COLOURS, Figure, Trace, run_dash

# The first is the usual line.
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
# A box with a row for each of more lines is higher than the chart.
MOST_HOVERED_TOGETHER = 8
NAME_LENGTH = 44
# More runs than any chart has; positions of a metric's lines begin at a multiple of it.
APART = 1_000


@dataclass(frozen=True, slots=True)
class BoardLine:
    """One series of one run, with the places of both among what is shown."""

    line: Line
    run_name: str
    run: int
    metric: int


def colour_of(place: int) -> int:
    """Return the number of the colour at this place."""
    return place % RUN_COLOURS


def board_figure(
    lines: Sequence[BoardLine],
    *,
    metric_count: int,
    run_count: int,
    axis: str = STEP,
    log: bool = False,
    smoothing: float = 0.0,
    low: float | None = None,
    high: float | None = None,
) -> Figure:
    """Draw every line; of a single run, its metrics have the colours instead."""
    by_metric = run_count == 1 and metric_count > 1
    named = [
        NamedLine(
            each.line,
            _name(each, metric_count, run_count),
            each.metric if by_metric else each.metric * APART + each.run,
        )
        for each in lines
    ]
    figure = series_figure(
        named, axis=axis, log=log, smoothing=smoothing, low=low, high=high, legend=True
    )
    figure["layout"]["showlegend"] = False
    for trace in figure["data"]:
        place = int(trace.pop("legendgroup"))
        _dash(trace, place, by_metric=by_metric)
        if len(lines) > MOST_HOVERED_TOGETHER and "hovertemplate" in trace:
            trace["hovertemplate"] += f"<br>{gettext(X_TITLES[axis])} %{{x}}"
    if len(lines) > MOST_HOVERED_TOGETHER:
        figure["layout"] |= {"hovermode": "closest", "hoverdistance": -1}
    return figure


def _name(each: BoardLine, metric_count: int, run_count: int) -> str:
    run = shortened(each.run_name, NAME_LENGTH)
    path = shortened(each.line.path, NAME_LENGTH)
    if metric_count == 1:
        return run
    return path if run_count == 1 else f"{run} · {path}"


def _dash(trace: Trace, place: int, *, by_metric: bool) -> None:
    metric, run = divmod(place, APART)
    dash = DASHES[metric % len(DASHES)]
    if metric == 0:
        dash = run_dash(run)  # of runs that share a colour
    # Bands are filled outlines.
    if not by_metric and "fill" not in trace:
        trace["line"] = {**trace["line"], "dash": dash}
