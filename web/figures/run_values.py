"""One value of each run: as bars, as a distribution, and across parallel axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from web.figures.layout import HOVER_FORMAT, framed, y_axis
from web.figures.text import literal
from web.figures.texts import gettext
from web.figures.traces import Figure, Trace, run_colour, typed

LONGEST_NAME = 28
MAX_BINS = 30
MAX_TICKS = 5
MAX_WORDS = 12

Value = float | str | None


@dataclass(frozen=True, slots=True)
class RunValue:
    """A number of a run; `slot` gives the color."""

    name: str
    slot: int
    value: float


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of parallel coordinates with one value for each run."""

    label: str
    values: Sequence[Value]
    is_log: bool = False


def bars_figure(runs: Sequence[RunValue], label: str, *, log: bool = False) -> Figure:
    """Draw a horizontal bar for each run, the first at the top."""
    # Equal names are separate bars.
    places = [f"{place}" for place in range(len(runs))]
    names = [literal(run.name, longest=LONGEST_NAME) for run in runs]
    trace: Trace = {
        "type": "bar",
        "orientation": "h",
        "x": typed(np.array([run.value for run in runs], dtype=np.float64)),
        "y": places,
        "text": [literal(run.name) for run in runs],
        "textposition": "none",
        "marker": {"color": [run_colour(run.slot) for run in runs]},
        "hovertemplate": "<b>%{text}</b><br>%{x:.5~g}<extra></extra>",
    }
    yaxis = y_axis(tickvals=places, ticktext=names, autorange="reversed")
    yaxis |= {"type": "category", "nticks": len(runs)}
    return _closest([trace], _value_axis(label, log=log), yaxis)


def distribution_figure(
    values: Sequence[float], label: str, *, bins: int = 0
) -> Figure:
    """Count runs by value; `bins` is 0 for a number that suits the values."""
    counts, edges = np.histogram(np.array(values), bins=bins or _bin_count(values))
    trace: Trace = {
        "type": "bar",
        "x": typed(edges[:-1] / 2 + edges[1:] / 2),
        "y": typed(counts.astype(np.float64)),
        "width": typed(np.diff(edges)),
        "customdata": [
            [f"{low:.5g}", f"{high:.5g}"]
            for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        ],
        "marker": {
            "color": run_colour(0),
            "line": {"width": 1, "color": "var(--color-surface)"},
        },
        "hovertemplate": "%{customdata[0]} – %{customdata[1]}: %{y}<extra></extra>",
    }
    yaxis = y_axis(title=gettext("runs"), rangemode="tozero")
    return _closest([trace], _value_axis(label), yaxis)


def parallel_figure(
    names: Sequence[str],
    slots: Sequence[int],
    axes: Sequence[Axis],
    colour: Axis | None,
) -> Figure:
    """Draw a line for each run across the axes; a missing value is a gap."""
    placed = [_placed(axis) for axis in axes]
    shares = None if colour is None else _placed(colour)[0]
    traces: list[Trace] = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": literal(name),
            "x": list(range(len(axes))),
            "y": [shares_of[run] for shares_of, _ in placed],
            "text": [literal(_text(axis.values[run])) for axis in axes],
            "line": {"color": _colour(slots[run], shares, run), "width": 1.6},
            "marker": {"color": _colour(slots[run], shares, run), "size": 5},
            "hovertemplate": f"<b>{literal(name)}</b><br>%{{text}}<extra></extra>",
        }
        for run, name in enumerate(names)
    ]
    figure = _closest(
        traces,
        {
            "tickvals": list(range(len(axes))),
            "type": "linear",
            "ticktext": [literal(axis.label, longest=LONGEST_NAME) for axis in axes],
            "range": [-0.2, len(axes) - 0.6],
            "zeroline": False,
            "showgrid": True,
        },
        {"range": [-0.04, 1.04], "visible": False},
    )
    figure["layout"]["annotations"] = [
        {
            "x": place,
            "y": share,
            "text": literal(text, longest=LONGEST_NAME),
            "xanchor": "left",
            "xshift": 6,
            "showarrow": False,
            "font": {"size": 10, "color": "var(--color-muted)"},
        }
        for place, (_, ticks) in enumerate(placed)
        for share, text in ticks
    ]
    return figure


def _placed(axis: Axis) -> tuple[list[float | None], list[tuple[float, str]]]:
    """Return the place of each run from 0 to 1, and the ticks."""
    if any(isinstance(value, str) for value in axis.values):
        words = sorted({_text(value) for value in axis.values if value is not None})
        step = 1 / max(1, len(words) - 1)
        places = {word: index * step for index, word in enumerate(words)}
        shown = words if len(words) <= MAX_WORDS else [words[0], words[-1]]
        return (
            [None if value is None else places[_text(value)] for value in axis.values],
            [(places[word], word) for word in shown],
        )
    numbers = [value if isinstance(value, float) else math.nan for value in axis.values]
    scaled = np.array(numbers, dtype=np.float64)
    if axis.is_log:
        scaled = np.log10(np.where(scaled > 0, scaled, np.nan))
    known = scaled[np.isfinite(scaled)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    # Halves, because the difference of two huge numbers need not be one.
    extent = high / 2 - low / 2
    shares = (scaled / 2 - low / 2) / extent if extent else scaled * 0 + 0.5
    ends = [index / (MAX_TICKS - 1) for index in range(MAX_TICKS)] if extent else [0.5]
    at = [low * (1 - share) + high * share for share in ends]
    texts = [f"{10**each if axis.is_log else each:.3g}" for each in at]
    return (
        [share if math.isfinite(share) else None for share in shares.tolist()],
        list(zip(ends, texts, strict=True)) if known.size else [],
    )


def _colour(slot: int, shares: Sequence[float | None] | None, run: int) -> str:
    if shares is None:
        return run_colour(slot)
    share = shares[run]
    if share is None:
        return "var(--color-line-strong)"
    if share < 1 / 2:
        mixed = f"var(--scale-middle) {share * 200:.0f}%, var(--scale-low)"
    else:
        mixed = f"var(--scale-high) {share * 200 - 100:.0f}%, var(--scale-middle)"
    return f"color-mix(in oklab, {mixed})"


def _value_axis(label: str, *, log: bool = False) -> Figure:
    return {
        "type": "log" if log else "linear",
        "title": {"text": literal(label, longest=60), "standoff": 6},
        "zeroline": False,
        "hoverformat": HOVER_FORMAT,
        "exponentformat": "SI",
    }


def _closest(traces: list[Trace], xaxis: Figure, yaxis: Figure) -> Figure:
    layout = framed(xaxis, yaxis, hovermode="closest")
    return {"data": traces, "layout": layout, "notes": []}


def _bin_count(values: Sequence[float]) -> int:
    return min(MAX_BINS, max(1, math.ceil(2 * math.cbrt(len(values)))))


def _text(value: Value) -> str:
    if value is None:
        return "–"
    return f"{value:.5g}" if isinstance(value, float) else value
