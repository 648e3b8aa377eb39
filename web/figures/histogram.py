"""Histograms over steps or time, as a map: how many values lay where, and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from web.figures.layout import STEP, framed, x_axis, y_axis
from web.figures.texts import gettext, gettext_noop, ngettext
from web.figures.traces import Figure, Trace, compact, typed

Floats = NDArray[np.float64]

# Rows of the heat map if the histograms have different edges; more cannot be
# distinguished.
ROWS = 64
HOVER = gettext_noop("%{customdata:,.4~r} values around %{y:.4~g}")
# From none to most. The colour is the logarithm of the count: tails are thin.
COLOURS = [
    [0.0, "var(--color-surface)"],
    [0.05, "color-mix(in srgb, var(--run-0) 14%, var(--color-surface))"],
    [0.5, "color-mix(in srgb, var(--run-0) 55%, var(--color-surface))"],
    [1.0, "var(--run-0)"],
]


class Counted(Protocol):
    """A histogram as tracker.records.histogram reads it, as far as it is drawn."""

    @property
    def edges(self) -> Floats: ...
    @property
    def counts(self) -> Floats: ...
    @property
    def others(self) -> float: ...


def histogram_figure(
    x: Floats,
    histograms: Sequence[Counted],
    *,
    axis: str = STEP,
    low: float | None = None,
    high: float | None = None,
    count: int = 0,
) -> Figure:
    """Draw a column of colours for each histogram; of `count` there were in the range.

    Of several at one place, the last is drawn.
    """
    last = {place: number for number, place in enumerate(x.tolist())}
    places = sorted(last)
    chosen = [histograms[last[place]] for place in places]
    edges = common_edges(chosen)
    data: list[Trace] = []
    if len(edges):
        counts = np.column_stack([spread(each, edges) for each in chosen])
        data = [_map_trace(np.array(places), edges, counts)]
    return {
        "data": data,
        "layout": framed(
            x_axis(axis, low=low, high=high), y_axis(), hovermode="closest"
        ),
        "notes": _notes(chosen, edges, len(x), count),
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
        return np.zeros(len(edges) - 1)
    below = np.concatenate([[0.0], np.cumsum(histogram.counts)])
    return np.diff(np.interp(edges, histogram.edges, below))


def _map_trace(x: Floats, edges: Floats, counts: Floats) -> Trace:
    colours = np.log1p(counts)
    return {
        "type": "heatmap",
        "x": typed(x),
        "y": typed(edges),
        "z": _rows(colours),
        "customdata": _rows(counts),
        "colorscale": COLOURS,
        "zmin": 0.0,
        "zmax": max(float(colours.max()), 1e-9),
        "showscale": False,
        "hovertemplate": f"%{{x}}<br>{gettext(HOVER)}<extra></extra>",
        "hoverongaps": False,
    }


def _rows(table: Floats) -> object:
    # A column of its own would be taken for a row.
    return compact(table) if table.shape[1] > 1 else table.tolist()


def _notes(
    drawn: Sequence[Counted], edges: Floats, found: int, count: int
) -> list[str]:
    notes = []
    if not found:
        return [gettext("No histograms in this range.")]
    if count > found:
        notes.append(
            gettext("%(found)s of %(count)s histograms are drawn, evenly chosen.")
            % {"found": f"{found:,}", "count": f"{count:,}"}
        )
    if not all(_has_edges(each, edges) for each in drawn):
        notes.append(
            gettext("Bins differ between steps: counts are spread evenly within each.")
        )
    others = sum(each.others for each in drawn)
    if others:
        notes.append(
            ngettext(
                "%(count)s value is NaN or infinite, and in no bin.",
                "%(count)s values are NaN or infinite, and in no bin.",
                int(others),
            )
            % {"count": f"{others:,.0f}"}
        )
    if not len(edges):
        notes.append(gettext("No histogram has a finite value."))
    return notes


def _has_edges(histogram: Counted, edges: Floats) -> bool:
    return not len(histogram.edges) or np.array_equal(histogram.edges, edges)
