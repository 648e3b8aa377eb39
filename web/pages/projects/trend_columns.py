"""GPU hours by day or week as columns of an SVG (pure)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date

from tracker.queries.hardware.gpu_hours import Trend
from web.templatetags.format import number
from web.templatetags.ledger import GpuUnit

GAP = 0.15  # share of a column's width
# Labels below the columns: more would overlap on a phone.
MAX_LABELS = 5
# With more columns, the outer labels are wider than their columns.
NARROW_FROM = 12
# Steps between ticks of the vertical axis, times a power of ten.
TICK_STEPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5, 10.0)


@dataclass(frozen=True, slots=True)
class ColumnPart:
    use: str
    top: float  # share of the chart's height, 0 at the top
    height: float


@dataclass(frozen=True, slots=True)
class Column:
    """One period; positions are shares of the chart's width."""

    start: date
    left: float
    width: float
    center: float
    parts: tuple[ColumnPart, ...]
    seconds: float  # sum over all GPUs
    computing_share: float | None
    has_label: bool


@dataclass(frozen=True, slots=True)
class TrendChart:
    is_weekly: bool
    columns: list[Column]
    ticks: tuple[str, ...]  # of the vertical axis, evenly spaced, the highest first
    unit: str

    @property
    def is_narrow(self) -> bool:
        return len(self.columns) > NARROW_FROM


def trend_chart(trend: Trend, *, unit: GpuUnit) -> TrendChart:
    """Lay the periods out, up to the first tick at or above the tallest column."""
    seconds_per_period = [
        period.ledger.seconds if period.ledger else 0.0 for period in trend.periods
    ]
    tick = tick_step(max(seconds_per_period, default=0.0) / unit.seconds)
    top_seconds = 2 * tick * unit.seconds
    step = 1 / max(1, len(seconds_per_period))
    every = -(-len(seconds_per_period) // MAX_LABELS)
    columns = []
    for index, (period, seconds) in enumerate(
        zip(trend.periods, seconds_per_period, strict=True)
    ):
        parts, top = [], 1.0
        for part in period.ledger.parts if period.ledger else ():
            height = part.seconds / top_seconds
            top -= height
            parts.append(ColumnPart(part.use, top, height))
        columns.append(
            Column(
                start=period.start,
                left=(index + GAP / 2) * step,
                width=(1 - GAP) * step,
                center=(index + 0.5) * step,
                parts=tuple(parts),
                seconds=seconds,
                computing_share=period.ledger.computing_share
                if period.ledger
                else None,
                has_label=(len(seconds_per_period) - 1 - index) % every == 0,
            )
        )
    ticks = tuple(number(value) for value in (2 * tick, tick, 0))
    return TrendChart(trend.is_weekly, columns, ticks, unit.name)


def tick_step(highest: float) -> float:
    """Return the smallest round step that reaches the highest value in two steps."""
    if not highest > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest / 2))
    # A sum may exceed a round number by rounding errors.
    reached = (
        step * power for step in TICK_STEPS if 2.000001 * step * power >= highest
    )
    return float(f"{next(reached, 10 * power):.3g}")
