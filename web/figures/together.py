"""Lines of several runs as one: their mean and their range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from web.figures.series import Line, NamedLine

Floats = NDArray[np.float64]

# About the width of a chart in pixels; more cannot be distinguished.
MAX_PLACES = 500


@dataclass(frozen=True, slots=True)
class JoinedLine:
    """The mean of some lines at each place, between the lowest and the highest."""

    path: str
    x: Floats
    mean: Floats
    minimum: Floats
    maximum: Floats
    exact: bool = False


def lines_together(lines: Sequence[NamedLine]) -> list[NamedLine]:
    """Return one line for each name and look, in the place of the first that has both."""
    groups: dict[tuple[str, str, str], list[NamedLine]] = {}
    for line in lines:
        groups.setdefault((line.name, line.colour, line.dash), []).append(line)
    return [
        replace(
            group[0],
            line=joined_line([named.line for named in group]),
            name=f"{name} ({len(group)} runs)",
            slots=tuple(slot for named in group for slot in named.slots),
        )
        if len(group) > 1
        else group[0]
        for (name, _, _), group in groups.items()
    ]


def joined_line(lines: Sequence[Line]) -> JoinedLine:
    """Join lines of one series over the same axis; at least one line.

    At each x all lines count the same, however many points they have there, and only
    between their first and last points. Between points a line is interpolated. Values
    that are not finite are left out.
    """
    places, parts = _placed([_finite(line) for line in lines])
    means, lows, highs = (np.vstack([part[row] for part in parts]) for row in range(3))
    known = np.isfinite(means)
    count = known.sum(axis=0)
    mean = np.full(len(places), np.nan)
    np.divide(np.where(known, means, 0.0).sum(axis=0), count, out=mean, where=count > 0)
    return JoinedLine(
        lines[0].path,
        places,
        mean,
        np.fmin.reduce(lows, axis=0),
        np.fmax.reduce(highs, axis=0),
    )


Columns = tuple[Floats, Floats, Floats, Floats]  # x, mean, minimum, maximum
Placed = tuple[Floats, Floats, Floats]  # mean, minimum, maximum at each place


def _finite(line: Line) -> Columns:
    kept = np.isfinite(line.x) & np.isfinite(line.mean)
    mean = line.mean[kept]
    low, high = line.minimum[kept], line.maximum[kept]
    # An infinity in a summarized point cannot be drawn.
    return (
        line.x[kept],
        mean,
        np.where(np.isfinite(low), low, mean),
        np.where(np.isfinite(high), high, mean),
    )


def _placed(lines: Sequence[Columns]) -> tuple[Floats, list[Placed]]:
    """Return the places where lines are compared, and each line there."""
    every = np.unique(np.concatenate([x for x, *_ in lines]))
    if len(every) <= MAX_PLACES:
        return every, [_between(every, *line) for line in lines]
    edges = np.linspace(every[0], every[-1], MAX_PLACES + 1)
    middles = (edges[:-1] + edges[1:]) / 2
    return middles, [
        _between(middles, *_summed_up(line, edges, middles)) for line in lines
    ]


def _summed_up(line: Columns, edges: Floats, middles: Floats) -> Columns:
    """Return a line with one point in each stretch it has any in; no spike is lost."""
    x, mean, low, high = line
    if not len(x):
        return line
    stretch = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(middles) - 1)
    order = np.argsort(stretch, kind="stable")
    found, first = np.unique(stretch[order], return_index=True)
    lengths = np.diff(first, append=len(x))
    return (
        middles[found],
        np.add.reduceat(mean[order], first) / lengths,
        np.minimum.reduceat(low[order], first),
        np.maximum.reduceat(high[order], first),
    )


def _between(
    places: Floats, x: Floats, mean: Floats, low: Floats, high: Floats
) -> Placed:
    if not len(x):
        nowhere = np.full(len(places), np.nan)
        return nowhere, nowhere, nowhere
    order = np.argsort(x, kind="stable")
    x = x[order]
    before = np.clip(np.searchsorted(x, places, side="right") - 1, 0, len(x) - 1)
    after = np.minimum(before + 1, len(x) - 1)
    is_known = (places >= x[0]) & (places <= x[-1])
    # As a share from 0 to 1: `np.interp` uses the slope, which is infinite between
    # neighboring positions near 0.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        share = (places - x[before]) / (x[after] - x[before])
        share = np.where(before == after, 0.0, share)
        return tuple(  # type: ignore[return-value] # three of them
            np.where(is_known, ends[before] * (1 - share) + ends[after] * share, np.nan)
            for ends in (column[order] for column in (mean, low, high))
        )
