"""Leaves outliers beyond the edge of an axis, and says what was left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from web.figures.series import Line
from web.figures.texts import gettext

Floats = NDArray[np.float64]

# What lies between these shares of all values is shown, with some room around it.
LOWEST, HIGHEST = 0.01, 0.99
ROOM = 0.1
# Of so few values none is an outlier.
FEWEST = 20


@dataclass(frozen=True, slots=True)
class Clipping:
    """The ends of an axis, and how much of the lines lies beyond them.

    On a logarithmic axis the ends are powers of ten, as Plotly wants them.
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
        said = (
            gettext(
                "Clipped: %(count)s of %(total)s points lie beyond the axis;"
                " all values are from %(least)s to %(most)s."
            )
            if self.is_exact
            else gettext(
                "Clipped: %(count)s of %(total)s stretches of points reach beyond the"
                " axis; all values are from %(least)s to %(most)s."
            )
        )
        return said % {
            "count": f"{self.count:,}",
            "total": f"{self.total:,}",
            "least": f"{self.least:.4g}",
            "most": f"{self.most:.4g}",
        }


def clipping(lines: Sequence[Line], *, log: bool = False) -> Clipping | None:
    """Find the part of the axis that holds all but outliers; None if there are none."""
    means, lows, highs = (
        _scaled([getattr(line, name) for line in lines], log=log)
        for name in ("mean", "minimum", "maximum")
    )
    finite = means[np.isfinite(means)]
    if len(finite) < FEWEST:
        return None
    with np.errstate(all="ignore"):
        low, high = np.quantile(finite, [LOWEST, HIGHEST]).tolist()
    room = ROOM * ((high - low) or abs(high) or 1.0)
    if not math.isfinite(room):
        return None
    low, high = low - room, high + room
    beyond = (lows < low) | (highs > high)
    if not beyond.any():
        return None
    least, most = float(np.nanmin(lows)), float(np.nanmax(highs))
    # An end that nothing lies beyond stays where the lines end.
    low, high = max(low, least - room), min(high, most + room)
    return Clipping(
        low=low,
        high=high,
        count=int(beyond.sum()),
        total=len(means),
        least=10**least if log else least,
        most=10**most if log else most,
        is_exact=all(line.exact for line in lines),
    )


def _scaled(columns: Sequence[Floats], *, log: bool) -> Floats:
    """Join columns as the axis places them; what it cannot show is NaN."""
    values = np.concatenate([np.empty(0), *columns])
    values = np.where(np.isfinite(values), values, np.nan)
    if not log:
        return values
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values > 0, np.log10(values), np.nan)
