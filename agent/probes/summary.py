"""Summary statistics of many values of one sample (pure)."""

from __future__ import annotations

from collections.abc import Sequence


def quantile(ordered: Sequence[float], part: float) -> float:
    """Return a quantile of sorted values; `part` is from 0 to 1."""
    place = part * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return minimum, maximum, mean and percentiles 5, 50, 95 of at least one value."""
    ordered = sorted(values)
    return {
        "min": ordered[0],
        "mean": sum(ordered) / len(ordered),
        "max": ordered[-1],
        **{
            name: quantile(ordered, part)
            for name, part in (("p5", 0.05), ("p50", 0.5), ("p95", 0.95))
        },
    }
