"""GPU hours by day or week as columns of an SVG (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from tracker.queries.hardware.gpu_hours import Trend

GAP = 0.15  # share of a column's width
# Labels below the columns: more would overlap on a phone.
MAX_LABELS = 6


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
    max_seconds: float


def trend_chart(trend: Trend) -> TrendChart:
    """Lay the periods out; the tallest column fills the chart."""
    seconds_per_period = [
        period.ledger.seconds if period.ledger else 0.0 for period in trend.periods
    ]
    tallest = max(seconds_per_period, default=0.0)
    step = 1 / max(1, len(seconds_per_period))
    every = -(-len(seconds_per_period) // MAX_LABELS)
    columns = []
    for index, (period, seconds) in enumerate(
        zip(trend.periods, seconds_per_period, strict=True)
    ):
        parts, top = [], 1.0
        for part in period.ledger.parts if period.ledger else ():
            height = part.seconds / tallest
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
    return TrendChart(trend.is_weekly, columns, tallest)
