"""Numeric functions that several parts of the diagnosis use."""

from __future__ import annotations

import numpy as np

from tracker.diagnosis.signals import Array, Samples


def typical(samples: Samples) -> float:
    """Return the median of the samples; NaN without any."""
    return float(np.median(samples.values)) if len(samples.values) else float("nan")


def typical_or_none(samples: Samples | None) -> float | None:
    return None if samples is None or not len(samples.values) else typical(samples)


def average_or_none(samples: Samples | None) -> float | None:
    return average(samples.values) if samples and len(samples.values) else None


def highest_average(*several: Samples | None) -> float | None:
    """Return the highest of the means of several series; None without any."""
    means = [mean for each in several if (mean := average_or_none(each)) is not None]
    return max(means) if means else None


def highest(samples: Samples) -> float:
    return float(samples.values.max()) if len(samples.values) else float("nan")


def percentile(samples: Samples, percent: float) -> float:
    if not len(samples.values):
        return float("nan")
    return float(np.percentile(samples.values, percent))


def average(values: Array) -> float:
    return float(values.mean()) if len(values) else float("nan")


def margin_above(value: float, limit: float) -> float:
    """Return 0.5 at the limit, growing to 1 at twice the limit."""
    return _margin(value - limit, limit)


def margin_below(value: float, limit: float) -> float:
    """Return 0.5 at the limit, growing to 1 at 0."""
    return _margin(limit - value, limit)


def margin_towards(value: float, limit: float, full: float) -> float:
    """Return 0.5 at the limit, growing to 1 if the value is `full`."""
    return _margin(value - limit, full - limit)


def _margin(distance: float, scale: float) -> float:
    if not scale:
        return 1.0
    return 0.5 + 0.5 * min(1.0, max(0.0, distance / scale))
