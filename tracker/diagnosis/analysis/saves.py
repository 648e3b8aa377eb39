"""Slow steps in which a job writes files without a named phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.growth import since
from tracker.diagnosis.analysis.outliers import (
    Outliers,
    find_outliers,
    largest_of,
    period_of,
)
from tracker.diagnosis.analysis.steady import warm_up_steps
from tracker.diagnosis.breakdown.outside import outside_seconds
from tracker.diagnosis.signals import Array, Samples

MICROSECONDS = 1_000_000

FEWEST_STEPS = 100
FEWEST_SAVES = 3
# Share of all writes in the slow steps, which may cover only this share of the intervals:
# otherwise they could contain the writes by chance.
WRITTEN_SHARE = 0.80
MAX_TICKS_SHARE = 0.60
# Share of the slow steps that wrote at least this much.
SAVES_SHARE = 0.70
MIN_BYTES = 1_000_000.0
MUCH_BYTES = 8_000_000.0
# Share of the extra time that is in no phase and no wait for data.
UNNAMED_SHARE = 0.60


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """Steps with their end times in seconds."""

    seconds: Array
    ends: Array
    waits: Array | None = None
    phases: Mapping[str, Array] | None = None


@dataclass(frozen=True, slots=True)
class Saves:
    """Medians of the slow steps; `seconds` is the extra time of all of them."""

    steps: int
    seconds: float
    each_seconds: float
    each_bytes: float
    period: int | None


def find_saves(loop: Loop, written: Samples) -> Saves | None:
    """Return None if slow steps and writes do not coincide."""
    if len(loop.seconds) < FEWEST_STEPS:
        return None
    dropped, _ = warm_up_steps(loop.seconds)
    outliers = find_outliers(loop.seconds[dropped:])
    if outliers is None:
        return None
    outliers = largest_of(outliers)
    rows = outliers.rows + dropped
    if len(rows) < FEWEST_SAVES or not _are_unnamed(loop, outliers, dropped):
        return None
    period = period_of(outliers.rows, len(loop.seconds) - dropped)
    each = _written_in(
        since(written, float(loop.ends[dropped - 1]) if dropped else 0.0),
        loop.ends[rows] - loop.seconds[rows],
        loop.ends[rows],
        is_regular=period is not None,
    )
    if each is None:
        return None
    return Saves(
        steps=len(rows),
        seconds=float(outliers.excess.sum()),
        each_seconds=float(np.median(outliers.excess)),
        each_bytes=float(np.median(each)),
        period=period,
    )


def _are_unnamed(loop: Loop, outliers: Outliers, dropped: int) -> bool:
    left = outside_seconds(loop.seconds, loop.waits, loop.phases)[dropped:]
    extra = float((left[outliers.rows] - np.median(left)).sum())
    return extra >= UNNAMED_SHARE * float(outliers.excess.sum())


def _written_in(
    written: Samples, starts: Array, ends: Array, *, is_regular: bool
) -> Array | None:
    """Return the bytes written around each slow step; None if much is written elsewhere.

    If slow steps are in nearly all intervals, they must be periodic and write much.
    """
    if len(written.times) < FEWEST_SAVES:
        return None
    ticks = written.times / MICROSECONDS
    usual = float(np.median(np.diff(ticks)))
    bytes_of = written.values * np.diff(ticks, prepend=ticks[0] - usual)
    first = np.searchsorted(ticks, starts, side="left")
    last = np.minimum(np.searchsorted(ticks, ends, side="left"), len(ticks) - 1)
    touched = np.zeros(len(ticks), np.bool_)
    for one, other in zip(first, last, strict=True):
        touched[one : other + 1] = True
    total = np.concatenate([[0.0], np.cumsum(bytes_of)])
    each = total[last + 1] - total[np.minimum(first, len(ticks))]

    if float(touched.mean()) > MAX_TICKS_SHARE:
        of_one = float(bytes_of.sum()) / len(starts)
        is_much = is_regular and of_one >= MUCH_BYTES
        return np.full(len(starts), of_one) if is_much else None
    is_aligned = (
        float(bytes_of[touched].sum()) >= WRITTEN_SHARE * float(bytes_of.sum())
        and float(np.mean(each >= MIN_BYTES)) >= SAVES_SHARE
    )
    return each if is_aligned else None
