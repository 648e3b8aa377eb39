"""Histograms over steps or time, as a map: how many values lay where, and when."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from web.figures.layout import STEP, framed, x_axis, y_axis
from web.figures.text import literal
from web.figures.texts import gettext, gettext_noop, ngettext
from web.figures.traces import Figure, Trace, compact, run_colour, typed

Floats = NDArray[np.float64]

# Rows of the heat map if the histograms have different edges; more cannot be
# distinguished.
ROWS = 64
# Height of a run's name above its heat map in pixels, and the share between two maps.
TITLE_HEIGHT, ROW_GAP = 18, 0.25
MAX_IN_ONE_COLUMN, COLUMN_GAP = 2, 0.02
HOVER = gettext_noop("%{customdata:,.4~r} values around %{y:.4~g}")


class Counted(Protocol):
    """A histogram as tracker.records.histogram reads it, as far as it is drawn."""

    @property
    def edges(self) -> Floats: ...
    @property
    def counts(self) -> Floats: ...
    @property
    def others(self) -> float: ...


@dataclass(frozen=True, slots=True, eq=False)
class HistogramRow:
    """The histograms of one run; `count` is the number in the range."""

    name: str
    slot: int
    x: Floats
    histograms: Sequence[Counted]
    count: int


def histogram_rows(
    rows: Sequence[HistogramRow],
    *,
    axis: str = STEP,
    low: float | None = None,
    high: float | None = None,
) -> Figure:
    """Draw a heat map for each run, under each other, with the same bounds and scale."""
    if len(rows) == 1:
        (row,) = rows
        return histogram_figure(
            row.x, row.histograms, axis=axis, low=low, high=high, count=row.count
        )
    maps = [last_of_step(row.x, row.histograms) for row in rows]
    edges = common_edges([each for _, chosen in maps for each in chosen])
    layout = framed(x_axis(axis, low=low, high=high), y_axis(), hovermode="closest")
    layout["margin"]["t"] = TITLE_HEIGHT
    layout["annotations"] = []
    columns = 1 if len(rows) <= MAX_IN_ONE_COLUMN else 2
    lines = math.ceil(len(rows) / columns)
    data: list[Trace] = []
    for index, (row, (x, chosen)) in enumerate(zip(rows, maps, strict=True)):
        number = str(index + 1) if index else ""
        line, column = divmod(index, columns)
        top = 1 - line / lines
        bottom = 0.0 if line == lines - 1 else 1 - (line + 1 - ROW_GAP) / lines
        left = column / columns + (COLUMN_GAP if column else 0)
        is_lowest = index + columns >= len(rows)
        layout[f"xaxis{number}"] = {
            **x_axis(axis, low=low, high=high),
            "anchor": f"y{number}",
            "domain": [left, (column + 1) / columns],
            "showticklabels": is_lowest,
        }
        layout[f"yaxis{number}"] = y_axis(
            anchor=f"x{number}",
            domain=[bottom, top],
            nticks=4,
            automargin=False,
            showticklabels=not column,
        )
        if index:
            layout[f"xaxis{number}"]["matches"] = "x"
            layout[f"yaxis{number}"]["matches"] = "y"
        if not is_lowest:
            layout[f"xaxis{number}"]["title"] = {"text": ""}
        layout["annotations"].append(row_title(row.name, left, top))
        if len(edges) and chosen:
            counts = np.column_stack([spread(each, edges) for each in chosen])
            trace = _map_trace(x, edges, counts, row.slot)
            data.append({**trace, "xaxis": f"x{number}", "yaxis": f"y{number}"})
    highest = max((trace["zmax"] for trace in data), default=1.0)
    for trace in data:
        trace["zmax"] = highest
    drawn = [each for _, chosen in maps for each in chosen]
    found, count = sum(len(row.x) for row in rows), sum(row.count for row in rows)
    return {
        "data": data,
        "layout": layout,
        "notes": notes_of(drawn, edges, found, count),
    }


def last_of_step(
    x: Floats, histograms: Sequence[Counted]
) -> tuple[Floats, list[Counted]]:
    """Return the histograms by ascending position, of several at one the last."""
    last = {place: number for number, place in enumerate(x.tolist())}
    places = sorted(last)
    return np.array(places), [histograms[last[place]] for place in places]


def row_title(name: str, left: float, top: float) -> dict[str, object]:
    return {
        "text": literal(name, longest=40),
        "xref": "paper",
        "yref": "paper",
        "x": left,
        "xanchor": "left",
        "y": top,
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 11, "color": "var(--color-muted)"},
    }


def histogram_figure(
    x: Floats,
    histograms: Sequence[Counted],
    *,
    axis: str = STEP,
    low: float | None = None,
    high: float | None = None,
    count: int = 0,
) -> Figure:
    """Draw a column of colors for each histogram; of `count` there were in the range.

    Of several at one place, the last is drawn.
    """
    places, chosen = last_of_step(x, histograms)
    edges = common_edges(chosen)
    data: list[Trace] = []
    if len(edges):
        counts = np.column_stack([spread(each, edges) for each in chosen])
        data = [_map_trace(places, edges, counts, slot=0)]
    return {
        "data": data,
        "layout": framed(
            x_axis(axis, low=low, high=high), y_axis(), hovermode="closest"
        ),
        "notes": notes_of(chosen, edges, len(x), count),
    }


def common_edges(histograms: Sequence[Counted]) -> Floats:
    """Return the edges of all, where they are the same, or even ones around them."""
    known = [each.edges for each in histograms if len(each.edges)]
    if not known:
        return np.empty(0)
    if all(np.array_equal(edges, known[0]) for edges in known):
        return known[0]
    low = min(float(edges[0]) for edges in known)
    high = max(float(edges[-1]) for edges in known)
    # Halves, because the difference of two huge values need not be a number.
    even = np.linspace(low / 2, high / 2, ROWS + 1) * 2
    return even if (np.diff(even) > 0).all() else np.array([low, high])


def spread(histogram: Counted, edges: Floats) -> Floats:
    """Rebin to other edges, assuming that values are uniform within bins."""
    if not len(histogram.counts):
        return np.zeros(max(len(edges) - 1, 0))
    below = np.concatenate([[0.0], np.cumsum(histogram.counts)])
    return np.diff(np.interp(edges, histogram.edges, below))


def _colours(slot: int) -> list[list[object]]:
    """Return a scale from none to most; it is logarithmic, because tails are thin."""
    colour = run_colour(slot)
    surface = "var(--color-surface)"
    return [
        [0.0, surface],
        [0.05, f"color-mix(in srgb, {colour} 14%, {surface})"],
        [0.5, f"color-mix(in srgb, {colour} 55%, {surface})"],
        [1.0, colour],
    ]


def _map_trace(x: Floats, edges: Floats, counts: Floats, slot: int) -> Trace:
    colours = np.log1p(counts)
    return {
        "type": "heatmap",
        "x": typed(x),
        "y": typed(edges),
        "z": _rows(colours),
        "customdata": _rows(counts),
        "colorscale": _colours(slot),
        "zmin": 0.0,
        "zmax": max(float(colours.max()), 1e-9),
        "showscale": False,
        "hovertemplate": f"%{{x}}<br>{gettext(HOVER)}<extra></extra>",
        "hoverongaps": False,
    }


def _rows(table: Floats) -> object:
    # Plotly would read a single column as a row.
    return compact(table) if table.shape[1] > 1 else table.tolist()


def notes_of(
    drawn: Sequence[Counted], edges: Floats, found: int, count: int
) -> list[str]:
    notes = []
    if not found:
        return [gettext("No histograms in this range.")]
    if count > found:
        notes.append(
            gettext("Showing %(found)s of %(count)s histograms, evenly sampled.")
            % {"found": f"{found:,}", "count": f"{count:,}"}
        )
    if not all(_has_edges(each, edges) for each in drawn):
        notes.append(
            gettext(
                "Bins differ between steps. Counts are distributed evenly within each"
                " bin."
            )
        )
    others = sum(each.others for each in drawn)
    if others:
        notes.append(
            ngettext(
                "%(count)s value is NaN or infinite and not in any bin.",
                "%(count)s values are NaN or infinite and not in any bin.",
                int(others),
            )
            % {"count": f"{others:,.0f}"}
        )
    if not len(edges):
        notes.append(gettext("No histogram has finite values."))
    return notes


def _has_edges(histogram: Counted, edges: Floats) -> bool:
    return not len(histogram.edges) or np.array_equal(histogram.edges, edges)
