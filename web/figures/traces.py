"""Pieces of Plotly figures: typed arrays, lines, bands, shaded windows, colours.

Colors are CSS, such as `var(--run-0)`: the browser puts in those of its theme.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.series.wire import fits_float32

# JSON about to leave: Plotly's schema types it, and tests hold it against that schema.
Figure = dict[str, Any]
Trace = dict[str, Any]
Shape = dict[str, Any]
Array = NDArray[Any]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

RUN_COLOURS = 10
# Dashes of the runs that share a color, in order. More cannot be distinguished; the
# hover text and the list of runs name the rest.
RUN_DASHES = ("solid", "dash", "dot", "dashdot")
# Dashes of the series of one chart; the first is solid.
SERIES_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
# Up to this number of points, a line also shows its points, so that a point between
# two gaps is visible.
POINTS_SHOWN = 40
# Plotly's ticks overflow with larger values, and underflow with smaller ones.
LARGEST_DRAWN, LEAST_DRAWN = 1e300, 1e-300


def run_colour(position: int) -> str:
    """Return the color of the run at this position."""
    return f"var(--run-{position % RUN_COLOURS})"


def run_round(position: int) -> int:
    """Return which of the looks a run has among those of its colour."""
    return position // RUN_COLOURS % len(RUN_DASHES)


def run_dash(position: int) -> str:
    return RUN_DASHES[run_round(position)]


def series_dash(place: int, run: int) -> str:
    """Return the dash of a series among those of a chart of several runs."""
    if place == 0:
        return run_dash(run)  # separates runs of one color
    return SERIES_DASHES[place % len(SERIES_DASHES)]


def faint(colour: str, percent: int = 18) -> str:
    return f"color-mix(in srgb, {colour} {percent}%, transparent)"


def typed(array: Array) -> dict[str, str]:
    """Encode numbers as they are; integers beyond 32 bits become floats."""
    if array.dtype.kind in "iub":
        fits = array.size == 0 or np.abs(array).max() < 2**31
        array = array.astype("<i4" if fits else "<f8")
    elif array.dtype != np.float32:
        array = array.astype("<f8")
    code = array.dtype.newbyteorder("<")
    encoded = {
        "dtype": code.str[1:],
        "bdata": base64.b64encode(array.astype(code).tobytes()).decode(),
    }
    if array.ndim > 1:
        encoded["shape"] = ", ".join(str(length) for length in array.shape)
    return encoded


def compact(array: Floats) -> dict[str, str]:
    """Encode values as float32 if the difference is not visible."""
    return typed(array.astype(np.float32) if fits_float32(array) else array)


def drawable(values: Floats) -> Bools:
    """Return which values an axis can show."""
    return np.abs(values) <= LARGEST_DRAWN


def _drawn(values: Floats) -> Floats:
    """Return values for an axis: NaN for those that it cannot show."""
    rounded = np.where(np.abs(values) < LEAST_DRAWN, 0.0, values)
    return np.where(drawable(values), rounded, np.nan)


def line_trace(
    x: Floats,
    y: Floats,
    *,
    name: str,
    colour: str,
    width: float = 1.6,
    dash: str = "solid",
    rows: Trace | None = None,
) -> Trace:
    """Draw a line with gaps where y cannot be drawn; `name` is escaped by the caller."""
    return {
        "type": "scatter",
        "mode": "lines+markers" if len(x) <= POINTS_SHOWN else "lines",
        "name": name,
        "x": typed(x),
        "y": compact(_drawn(y)),
        "line": {"color": colour, "width": width, "dash": dash},
        "marker": {"color": colour, "size": 4},
        "connectgaps": False,
        **(rows or {}),
    }


def band_trace(
    x: Floats, low: Floats, high: Floats, *, colour: str, rows: Trace | None = None
) -> Trace:
    """Fill between low and high; each stretch without gaps is a separate polygon."""
    outline_x, outline_y = _outline(x, low, high)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": typed(outline_x),
        "y": compact(_drawn(outline_y)),
        "line": {"color": faint(colour, 40), "width": 0.75},
        "fill": "toself",
        "fillcolor": faint(colour),
        "hoverinfo": "skip",
        "showlegend": False,
        "connectgaps": False,
        **(rows or {}),
    }


def _outline(x: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    known = drawable(low) & drawable(high)
    edges = np.flatnonzero(np.diff(known)) + 1
    parts_x: list[Floats] = []
    parts_y: list[Floats] = []
    gap = np.array([np.nan])
    for stretch in np.split(np.arange(len(x)), edges):
        if not len(stretch) or not known[stretch[0]]:
            continue
        back = stretch[::-1]
        parts_x += [x[stretch], x[back], gap]
        parts_y += [high[stretch], low[back], gap]
    if not parts_x:
        return np.empty(0), np.empty(0)
    return np.concatenate(parts_x[:-1]), np.concatenate(parts_y[:-1])


def shaded_window(
    start: float, end: float, *, colour: str, rows: Shape | None = None
) -> Shape:
    """Shade from start to end of the x axis over the whole height."""
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": start,
        "x1": end,
        "y0": 0,
        "y1": 1,
        "fillcolor": faint(colour, 8),
        "line": {"width": 0},
        "layer": "below",
        **(rows or {}),
    }


def limit_line(value: float, *, colour: str, rows: Shape | None = None) -> Shape:
    """Draw a dashed level across the whole width."""
    return {
        "type": "line",
        "xref": "paper",
        "yref": "y",
        "x0": 0,
        "x1": 1,
        "y0": value,
        "y1": value,
        "line": {"color": colour, "width": 1.2, "dash": "dash"},
        **(rows or {}),
    }
