"""Histograms as small SVG paths next to each other, not as Plotly figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from web.figures.histogram import Counted, common_edges, spread

Floats = NDArray[np.float64]
WIDTH, HEIGHT = 200, 64
# Share of the width; narrower histograms are drawn as a line.
NARROWEST = 1e-9


@dataclass(frozen=True, slots=True)
class Bars:
    """The shape of one histogram; all in a row share the ends of the axis."""

    path: str  # SVG path data; "" where no value is in a bin
    count: float  # values in bins
    others: float  # NaN and infinities

    @property
    def view_box(self) -> str:
        return f"0 0 {WIDTH} {HEIGHT}"


@dataclass(frozen=True, slots=True)
class BarsInRow:
    """Shapes on one scale: as far across, and the same share of values as high."""

    bars: list[Bars]
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class _Shape:
    edges: Floats
    counts: Floats
    others: float


def bars_in_row(histograms: Sequence[Counted]) -> BarsInRow:
    """Draw histograms on one scale, so that only their shapes differ.

    Heights are densities (share of values / bin width): more values or narrower bins do
    not make a histogram taller.
    """
    edges = common_edges(histograms)
    if not len(edges):
        return BarsInRow([Bars("", 0, each.others) for each in histograms], None, None)
    places = _places(edges)
    heights = [_heights(spread(_scaled(each), edges), places) for each in histograms]
    highest = max(float(each.max()) for each in heights)
    bars = [
        Bars(_outline(places, height, highest), sum(each.counts.tolist()), each.others)
        for each, height in zip(histograms, heights, strict=True)
    ]
    return BarsInRow(bars, float(edges[0]), float(edges[-1]))


def _places(edges: Floats) -> Floats:
    """Return where edges stand across, from 0 to 1."""
    # Halves, because the difference of two huge values need not be a number.
    halves = edges / 2 - edges[0] / 2
    # The halves of tiny numbers underflow to 0; use bins of equal width then.
    if not (np.diff(halves) > 0).all():
        return np.linspace(0.0, 1.0, len(edges))
    placed: Floats = halves / halves[-1]
    return placed


def _scaled(histogram: Counted) -> Counted:
    """Count in parts of the largest count: a sum of huge ones need not be a number."""
    largest = max(histogram.counts.tolist(), default=0.0)
    counts = histogram.counts / largest if largest else histogram.counts
    return _Shape(histogram.edges, counts, histogram.others)


def _heights(counts: Floats, places: Floats) -> Floats:
    if not counts.any():
        return np.zeros(len(counts))
    heights: Floats = counts / counts.sum() / np.maximum(np.diff(places), NARROWEST)
    return heights


def _outline(places: Floats, heights: Floats, highest: float) -> str:
    if not heights.any():
        return ""
    across = (places * WIDTH).round(1).tolist()
    # Downwards, as a screen counts.
    tops = (HEIGHT - heights / highest * HEIGHT).round(1).tolist()
    steps = [f"V{top:g}H{right:g}" for top, right in zip(tops, across[1:], strict=True)]
    return f"M0 {HEIGHT}{''.join(steps)}V{HEIGHT}Z"
