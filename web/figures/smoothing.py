"""Smooths a line for the eye; the line itself stays on the chart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MAX_SMOOTHING = 0.99
EMA, STEP_EMA, GAUSSIAN, MEAN = "ema", "step-ema", "gaussian", "mean"
SMOOTHERS = (EMA, STEP_EMA, GAUSSIAN, MEAN)
# STEP_EMA applies the weight once per PARTS-th of the horizontal axis, and limits the
# square root to MAX_ROOT. W&B has the same constants.
PARTS, MAX_ROOT = 1_000, 0.999
# The standard deviation of both kernels at a weight of 1, as a share of the axis.
WIDEST = 0.1


@dataclass(frozen=True, slots=True)
class Smoothing:
    """The kind and the weight of smoothing; the weight is at least 0 and below 1."""

    weight: float = 0.0
    kind: str = EMA


NO_SMOOTHING = Smoothing()


def smoothed(x: Floats, values: Floats, smoothing: Smoothing) -> Floats:
    """Return the smooth line, as long as `values`; gaps stay gaps.

    `x` are the places of the values on the horizontal axis.
    """
    is_known = np.isfinite(values)
    smooth = np.full(len(values), np.nan)
    known_x, known = x[is_known], values[is_known]
    if not len(known):
        return smooth
    weight = smoothing.weight
    if smoothing.kind == STEP_EMA:
        smooth[is_known] = _step_ema(known_x, known, weight)
    elif smoothing.kind in (GAUSSIAN, MEAN):
        deviation = weight**2 * WIDEST * _extent(known_x)
        kernel = _gaussian if smoothing.kind == GAUSSIAN else _box
        smooth[is_known] = kernel(known_x, known, deviation)
    else:
        smooth[is_known] = exponential_mean(known, weight)
    return smooth


def exponential_mean(values: Floats, weight: float) -> Floats:
    """Return the exponential mean over points, unbiased at its start."""
    return _decaying_mean(values, np.full(len(values), weight), 1 - weight)


def _step_ema(x: Floats, values: Floats, weight: float) -> Floats:
    """Return the exponential mean in which distant points count less."""
    root = min(weight**0.5, MAX_ROOT)
    distances = np.abs(np.diff(x, prepend=x[0])) / (_extent(x) or 1.0)
    return _decaying_mean(values, root ** (distances * PARTS), 1.0)


def _decaying_mean(values: Floats, decays: Floats, share_of_new: float) -> Floats:
    mean = np.empty(len(values))
    now, share = 0.0, 0.0
    pairs = zip(values.tolist(), decays.tolist(), strict=True)
    for index, (value, decay) in enumerate(pairs):
        share = share * decay + share_of_new
        # A step towards the value, because a sum of huge values can overflow.
        new = share_of_new / share
        now = now * (1 - new) + value * new
        mean[index] = now
    return mean


def _gaussian(x: Floats, values: Floats, deviation: float) -> Floats:
    if not deviation:
        return values
    distances = (x[:, None] - x) / deviation
    return _weighted(np.exp(-(distances**2) / 2), values)


def _box(x: Floats, values: Floats, deviation: float) -> Floats:
    """Return the mean within a window that has this standard deviation."""
    half = deviation * 3**0.5
    return _weighted((np.abs(x[:, None] - x) <= half).astype(np.float64), values)


def _weighted(weights: Floats, values: Floats) -> Floats:
    mean: Floats = (weights / weights.sum(axis=1, keepdims=True)) @ values
    return mean


def _extent(x: Floats) -> float:
    return float(x.max() - x.min())
