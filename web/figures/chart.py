"""A chart of one run: lines of one or more series, with annotations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from web.figures.clipping import clipping
from web.figures.layout import RELATIVE, STEP, TIME, fit_ticks, x_axis
from web.figures.series import NamedLine, series_figure, shown_range
from web.figures.smoothing import NO_SMOOTHING, Smoothing
from web.figures.text import literal
from web.figures.texts import gettext, ngettext
from web.figures.traces import Figure, Shape

# Value of `axis` if x is the values of another series.
SERIES = "series"

MARK_COLOUR = "var(--color-accent)"
# Texts of more marks would cover the lines, and each other.
MAX_TEXTS = 12
LONGEST_TEXT = 28


@dataclass(frozen=True, slots=True)
class Look:
    """Chart options chosen by the reader."""

    axis: str = STEP
    over: str = ""  # path of the series on the x axis
    log: bool = False
    log_x: bool = False
    smoothing: Smoothing = NO_SMOOTHING
    clips: bool = False
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """An annotation at a position of the x axis, with the details that the page shows."""

    x: float
    text: str
    # JSON about to leave.
    described: dict[str, Any] = field(default_factory=dict)


def chart_figure(
    lines: Sequence[NamedLine],
    look: Look,
    *,
    marks: Sequence[Mark] = (),
    outside: Sequence[int] = (),
    notes: Sequence[str] = (),
) -> Figure:
    """Draw the lines with the reader's options.

    `outside` is the number of points of each line without an x value; `notes` are
    further lines below the chart.
    """
    figure = lines_figure(lines, look, outside=outside)
    layout = figure["layout"]
    figure["notes"] += notes
    shown = [mark for mark in marks if _is_shown(mark, look)]
    figure["marks"] = [{**mark.described, "x": mark.x} for mark in shown]
    layout["shapes"] = [_line_of(mark) for mark in shown]
    layout["annotations"] = _texts(shown, look)
    return figure


def lines_figure(
    lines: Sequence[NamedLine],
    look: Look,
    *,
    outside: Sequence[int] = (),
    has_bands: bool = True,
) -> Figure:
    """Draw the lines alone; `outside` is as for `chart_figure`."""
    figure = series_figure(
        lines,
        axis=look.axis,
        log=look.log,
        smoothing=look.smoothing,
        low=look.low,
        high=look.high,
        has_bands=has_bands,
    )
    give_axes(figure, lines, look, outside=outside)
    return figure


def give_axes(
    figure: Figure,
    lines: Sequence[NamedLine],
    look: Look,
    *,
    outside: Sequence[int] = (),
    compared: Sequence[NamedLine] = (),
) -> None:
    """Set the axes of a line chart by the options, and note the clipped values.

    `compared` are the lines of all charts that share this one's y range.
    """
    layout = figure["layout"]
    spikes = layout["xaxis"]["showspikes"]
    layout["xaxis"] = x_axis(
        look.axis, low=look.low, high=look.high, log=look.log_x, over=look.over
    )
    layout["xaxis"]["showspikes"] = spikes
    fit_ticks(layout, *shown_range(lines, look.low, look.high))
    if look.clips:
        found = clipping(
            [named.line for named in lines],
            log=look.log,
            compared=[named.line for named in compared],
        )
        if found is not None:
            layout["yaxis"]["range"] = [found.low, found.high]
            figure["notes"] += filter(None, [found.note])
    figure["notes"] += _notes(lines, look, outside)
    figure |= {"axis": look.axis, "over": look.over}


def _notes(lines: Sequence[NamedLine], look: Look, outside: Sequence[int]) -> list[str]:
    notes = []
    if count := sum(outside):
        is_exact = all(named.line.exact for named in lines)
        template = (
            ngettext(
                "%(count)s point before the first or after the last value of %(path)s"
                " is not shown.",
                "%(count)s points before the first or after the last value of %(path)s"
                " are not shown.",
                count,
            )
            if is_exact
            else gettext(
                "Points before the first or after the last value of %(path)s are not"
                " shown."
            )
        )
        notes.append(template % {"count": f"{count:,}", "path": look.over})
    if look.log_x and any((named.line.x <= 0).any() for named in lines):
        notes.append(
            gettext("Values at or below 0 are not shown on a logarithmic axis.")
        )
    return notes


def _is_shown(mark: Mark, look: Look) -> bool:
    if not math.isfinite(mark.x) or (look.log_x and mark.x <= 0):
        return False
    if look.low is None or look.high is None:
        return True
    return look.low <= mark.x <= look.high


def _line_of(mark: Mark) -> Shape:
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": mark.x,
        "x1": mark.x,
        "y0": 0,
        "y1": 1,
        "line": {"color": MARK_COLOUR, "width": 1, "dash": "dot"},
    }


def _texts(marks: Sequence[Mark], look: Look) -> list[Shape]:
    if len(marks) > MAX_TEXTS:
        return []
    return [
        {
            "text": literal(mark.text, longest=LONGEST_TEXT),
            "xref": "x",
            # On a logarithmic axis, Plotly takes x of shapes and log10(x) of
            # annotations.
            "x": math.log10(mark.x) if look.log_x else mark.x,
            "xanchor": "left",
            "yref": "paper",
            "y": 1,
            "yanchor": "top",
            "xshift": 3,
            "showarrow": False,
            "font": {"size": 10, "color": MARK_COLOUR},
        }
        for mark in marks
    ]


__all__ = [
    "RELATIVE",
    "SERIES",
    "STEP",
    "TIME",
    "Look",
    "Mark",
    "chart_figure",
    "give_axes",
    "lines_figure",
]
