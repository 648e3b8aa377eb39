"""Several series of several runs in one chart: a colour for each run, a dash for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from web.figures.chart import Look, lines_figure
from web.figures.series import Line, NamedLine
from web.figures.text import of_run
from web.figures.traces import RUN_COLOURS, Figure, series_dash


@dataclass(frozen=True, slots=True)
class BoardLine:
    """One series of one run, with the positions of both among those shown."""

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
            of_run(
                each.run_name if run_count > 1 or metric_count == 1 else "",
                each.line.path if metric_count > 1 else "",
            ),
            each.metric if by_metric else each.run,
            dash="" if by_metric else series_dash(each.metric, each.run),
        )
        for each in lines
    ]
    return lines_figure(named, look, outside=outside)
