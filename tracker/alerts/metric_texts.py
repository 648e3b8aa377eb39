"""English texts of metric rules, for notifications; pages translate their own."""

from __future__ import annotations

import math
from typing import Protocol


class Described(Protocol):
    path: str
    condition: str
    limit: float | None
    duration: float
    unit: str


def describe(rule: Described) -> str:
    """Return a title such as "train/loss > 10 for 100 steps"."""
    limit = shown_value(rule.limit or 0.0)
    lasting = f"{rule.duration:,.10g} {'min' if rule.unit == 'minutes' else rule.unit}"
    duration = f" for {lasting}" if rule.duration else ""
    return {
        "not-finite": f"{rule.path} is NaN or infinite",
        "above": f"{rule.path} > {limit}{duration}",
        "below": f"{rule.path} < {limit}{duration}",
        "mean-above": f"mean of {rule.path} > {limit} over {lasting}",
        "mean-below": f"mean of {rule.path} < {limit} over {lasting}",
        "no-point": f"no new points of {rule.path} for {lasting}",
    }[rule.condition]


def shown_value(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    return f"{value:,.6g}"
