"""Several series of several runs in one chart: a colour for each run, a dash for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from web.figures.chart import Look, lines_figure
from web.figures.series import Line, NamedLine
from web.figures.text import shortened
from web.figures.traces import RUN_COLOURS, Figure, run_dash

# The first is the usual line.
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
NAME_LENGTH = 44


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
    look: Look,
    *,
    metric_count: int,
    run_count: int,
    outside: Sequence[int] = (),
) -> Figure:
    """Draw every line; of a single run, its metrics have the colours instead.

    `outside` is how many points of each line have no place on the axis.
    """
    by_metric = run_count == 1 and metric_count > 1
    named = [
        NamedLine(
            each.line,
            _name(each, metric_count, run_count),
            each.metric if by_metric else each.run,
            dash="" if by_metric else _dash(each),
        )
        for each in lines
    ]
    return lines_figure(named, look, outside=outside)


def _name(each: BoardLine, metric_count: int, run_count: int) -> str:
    run = shortened(each.run_name, NAME_LENGTH)
    path = shortened(each.line.path, NAME_LENGTH)
    if metric_count == 1:
        return run
    return path if run_count == 1 else f"{run} · {path}"


def _dash(each: BoardLine) -> str:
    if each.metric == 0:
        return run_dash(each.run)  # of runs that share a colour
    return DASHES[each.metric % len(DASHES)]
