"""Clips outliers at the edge of an axis, and reports them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from web.figures.series import Line
from web.figures.texts import gettext

Floats = NDArray[np.float64]

# Quantiles between which values are shown, with a margin.
LOWEST, HIGHEST = 0.01, 0.99
ROOM = 0.1
# With this few values none is an outlier.
FEWEST = 20


@dataclass(frozen=True, slots=True)
class Clipping:
    """The ends of an axis, and the amount of data beyond them.

    On a logarithmic axis the ends are powers of ten, as in Plotly.
    """

    low: float
    high: float
    count: int  # items with values beyond the axis
    total: int
    least: float
    most: float
    is_exact: bool  # an item is a point; else some are stretches of many

    @property
    def note(self) -> str:
        """Return a note about clipped values; "" if this chart has none."""
        if not self.count:
            return ""
        template = (
            gettext(
                "Outliers ignored: %(count)s of %(total)s points are outside the axis."
                " Full range: %(least)s to %(most)s."
            )
            if self.is_exact
            else gettext(
                "Outliers ignored: %(count)s of %(total)s segments extend outside the"
                " axis. Full range: %(least)s to %(most)s."
            )
        )
        return template % {
            "count": f"{self.count:,}",
            "total": f"{self.total:,}",
            "least": f"{self.least:.4g}",
            "most": f"{self.most:.4g}",
        }


def clipping(
    lines: Sequence[Line], *, log: bool = False, compared: Sequence[Line] = ()
) -> Clipping | None:
    """Find the range of the axis without outliers; None if there are none.

    `compared` are the lines of all charts with the same y range, this one's included.
    """
    every = compared or lines
    means, lows, highs = _columns(every, log=log)
    finite = means[np.isfinite(means)]
    if len(finite) < FEWEST:
        return None
    with np.errstate(all="ignore"):
        low, high = np.quantile(finite, [LOWEST, HIGHEST]).tolist()
    room = ROOM * ((high - low) or abs(high) or 1.0)
    if not math.isfinite(room):
        return None
    low, high = low - room, high + room
    if not ((lows < low) | (highs > high)).any():
        return None
    least, most = float(np.nanmin(lows)), float(np.nanmax(highs))
    _, own_lows, own_highs = _columns(lines, log=log)
    return Clipping(
        # An end without outliers stays at the end of the lines.
        low=max(low, least - room),
        high=min(high, most + room),
        count=int(((own_lows < low) | (own_highs > high)).sum()),
        total=len(own_lows),
        least=10**least if log else least,
        most=10**most if log else most,
        is_exact=all(line.exact for line in lines),
    )


def _columns(lines: Sequence[Line], *, log: bool) -> tuple[Floats, Floats, Floats]:
    means, lows, highs = (
        _scaled([getattr(line, name) for line in lines], log=log)
        for name in ("mean", "minimum", "maximum")
    )
    return means, lows, highs


def _scaled(columns: Sequence[Floats], *, log: bool) -> Floats:
    """Concatenate columns in axis units; values that the axis cannot show are NaN."""
    values = np.concatenate([np.empty(0), *columns])
    values = np.where(np.isfinite(values), values, np.nan)
    if not log:
        return values
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values > 0, np.log10(values), np.nan)
