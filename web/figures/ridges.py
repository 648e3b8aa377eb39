"""Histograms over steps or time as ridges: a curve for each, the newest in front."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from web.figures.histogram import (
    COLUMN_GAP,
    MAX_IN_ONE_COLUMN,
    ROW_GAP,
    ROWS,
    TITLE_HEIGHT,
    Counted,
    Floats,
    HistogramRow,
    common_edges,
    last_of_step,
    notes_of,
    row_title,
    spread,
)
from web.figures.layout import STEP, TIME, Layout, framed, x_axis, y_axis
from web.figures.texts import gettext, gettext_noop
from web.figures.traces import Figure, Trace, compact, run_colour

# More overlap so much that none can be told from the next.
MAX_RIDGES = 30
# Height of the highest ridge as a share of the range of steps: that of this many ridges
# within limits.
OVERLAP, LOWEST, HIGHEST = 3.0, 0.2, 0.5
# Strength of the color of the first ridge and of the last, in percent.
PALEST, STRONGEST = 18, 75
HOVER = gettext_noop("%{customdata:,.4~r} values around %{x:.4~g}")


def ridge_figure(rows: Sequence[HistogramRow], *, axis: str = STEP) -> Figure:
    """Draw the ridges of each run, under each other, with the same bounds and scale."""
    drawn = [last_of_step(row.x, row.histograms) for row in rows]
    every = [each for _, chosen in drawn for each in chosen]
    edges = even_edges(every)
    layout = framed(_values_axis(), y_axis(), hovermode="closest")
    if len(rows) > 1:
        layout["margin"]["t"] = TITLE_HEIGHT
        layout["annotations"] = []
    columns = 1 if len(rows) <= MAX_IN_ONE_COLUMN else 2
    counts = [[spread(each, edges) for each in chosen] for _, chosen in drawn]
    highest = max(
        (float(c.max()) for some in counts for c in some if len(c)), default=1
    )
    places = np.concatenate([x for x, _ in drawn]) if drawn else np.empty(0)
    height = _height(places, max(map(len, counts), default=0))
    data: list[Trace] = []
    for index, row in enumerate(rows):
        number = str(index + 1) if index else ""
        _place(layout, row, index, len(rows), columns)
        layout[f"yaxis{number}"] |= _steps_axis(axis, places, height)
        if len(edges):
            ridges = zip(drawn[index][0].tolist(), counts[index], strict=True)
            data += [
                {**trace, "xaxis": f"x{number}", "yaxis": f"y{number}"}
                for trace in _ridges(
                    list(ridges), edges, height / max(highest, 1e-9), row.slot, axis
                )
            ]
    found, count = sum(len(row.x) for row in rows), sum(row.count for row in rows)
    return {
        "data": data,
        "layout": layout,
        "notes": notes_of(every, edges, found, count),
    }


def even_edges(histograms: Sequence[Counted]) -> Floats:
    """Return the common edges, or even ones: heights of unequal bins mislead."""
    edges = common_edges(histograms)
    widths = np.diff(edges)
    if not len(edges) or np.allclose(widths, widths[0], rtol=1e-6):
        return edges
    even = np.linspace(edges[0] / 2, edges[-1] / 2, ROWS + 1) * 2
    return even if (np.diff(even) > 0).all() else edges


def _height(places: Floats, count: int) -> float:
    span = float(np.ptp(places)) if len(places) else 0.0
    share = min(HIGHEST, max(LOWEST, OVERLAP / max(count, 1)))
    return (span or 1.0) * share


def _ridges(
    ridges: Sequence[tuple[float, Floats]],
    edges: Floats,
    scale: float,
    slot: int,
    axis: str,
) -> list[Trace]:
    """Return the ridges from the back to the front."""
    centers = edges[:-1] / 2 + edges[1:] / 2
    x = np.concatenate([edges[:1], centers, edges[-1:]])
    colour, last = run_colour(slot), max(len(ridges) - 1, 1)
    traces = []
    for number, (place, counts) in enumerate(ridges):
        percent = round(PALEST + (STRONGEST - PALEST) * number / last)
        # The axis is reversed, so that the newest histogram is at the bottom.
        y = place - np.concatenate([[0.0], counts * scale, [0.0]])
        label = _label(place, axis)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": label,
                # Pages replace it by the time in the user's zone.
                **({"meta": place} if axis == TIME else {}),
                "x": compact(x),
                # Not float32: large steps need all digits.
                "y": y.tolist(),
                "customdata": [0.0, *counts.tolist(), 0.0],
                "line": {"color": "var(--color-surface)", "width": 1},
                "fill": "toself",
                "fillcolor": f"color-mix(in srgb, {colour} {percent}%,"
                " var(--color-surface))",
                "hoveron": "points",
                "hovertemplate": f"{'%{meta}' if axis == TIME else label}"
                f"<br>{gettext(HOVER)}"
                "<extra></extra>",
                "showlegend": False,
            }
        )
    return traces


def _label(place: float, axis: str) -> str:
    if axis == TIME:
        moment = np.datetime64(int(place), "ms").astype("datetime64[s]")
        return f"{str(moment).replace('T', ' ')} UTC"
    if axis == STEP:
        return gettext("step %(step)s") % {"step": f"{place:,.9g}"}
    return gettext("%(seconds)s s") % {"seconds": f"{place:,.6g}"}


def _values_axis(**more: object) -> Layout:
    return {**x_axis(""), "showspikes": False, "fixedrange": True, **more}


def _steps_axis(axis: str, places: Floats, height: float) -> Layout:
    """Describe the reversed axis of steps; zooming would change the range of values."""
    title = x_axis(axis)["title"]["text"]
    described: Layout = {
        "type": "date" if axis == TIME else "linear",
        "fixedrange": True,
        "title": {"text": f"{title} (UTC)" if axis == TIME else title, "standoff": 6},
        "hoverformat": "",
    }
    if axis == TIME:
        del described["hoverformat"]
    if len(places):
        low, high = float(places.min()), float(places.max())
        described["range"] = [high + 0.05 * height, low - 1.05 * height]
    return described


def _place(
    layout: Layout, row: HistogramRow, index: int, count: int, columns: int
) -> None:
    """Lay out the axes of one run among all."""
    number = str(index + 1) if index else ""
    lines = math.ceil(count / columns)
    line, column = divmod(index, columns)
    top = 1 - line / lines
    bottom = 0.0 if line == lines - 1 else 1 - (line + 1 - ROW_GAP) / lines
    left = column / columns + (COLUMN_GAP if column else 0)
    layout[f"xaxis{number}"] = _values_axis(
        anchor=f"y{number}",
        domain=[left, (column + 1) / columns],
        showticklabels=index + columns >= count,
        **({"matches": "x"} if index else {}),
    )
    layout[f"yaxis{number}"] = y_axis(
        anchor=f"x{number}",
        domain=[bottom, top],
        automargin=count == 1,
        showticklabels=not column,
    )
    if count > 1:
        layout["annotations"].append(row_title(row.name, left, top))
