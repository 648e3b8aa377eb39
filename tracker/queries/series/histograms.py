"""Histograms of a series, at most as many as a chart can show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.errors import NotFound
from tracker.models import Attribute, Kind, Run
from tracker.queries.series.records import Place, read_sample, record_series
from tracker.queries.series.series import Axis, start_of
from tracker.records.histogram import Histogram, NotAHistogram, read_histogram
from tracker.series.points import Floats

MILLISECONDS, SECONDS = 1e3, 1e6  # in microseconds


@dataclass(frozen=True, slots=True, eq=False)
class Histograms:
    """Histograms with their x values; `count` is the number in the range."""

    x: Floats
    histograms: list[Histogram]
    count: int


def histogram_paths(run: Run) -> list[str]:
    """Return the paths of the run's series of histograms, sorted."""
    rows = Attribute.objects.filter(run_id=run.id, kind=Kind.HISTOGRAM_SERIES)
    return sorted(rows.values_list("path", flat=True))


def read_histograms(
    run: Run,
    path: str,
    *,
    most: int,
    axis: Axis = Axis.STEP,
    low: float | None = None,
    high: float | None = None,
) -> Histograms:
    """Read a series in a range of its axis; one that does not exist is empty."""
    try:
        series = record_series(run, path)
    except NotFound:
        return Histograms(np.empty(0), [], 0)
    first = np.array([series.first_time or 0], np.int64)
    start = start_of(run, first) if axis == Axis.RELATIVE else 0
    page, count = read_sample(series, most, _place(axis, low, high, start))
    records = page.records
    x = records.steps
    if axis == Axis.TIME:
        x = records.times / MILLISECONDS
    elif axis == Axis.RELATIVE:
        x = (records.times - start) / SECONDS
    kept: list[Histogram] = []
    good = np.ones(len(records), np.bool_)
    for number, value in enumerate(records.listed()):
        try:
            kept.append(read_histogram(value))
        except NotAHistogram:  # noqa: PERF203 - the path may be a text series
            good[number] = False
    return Histograms(np.asarray(x, np.float64)[good], kept, count)


def _place(axis: Axis, low: float | None, high: float | None, start: int) -> Place:
    """Return the range in steps or in milliseconds."""
    if axis == Axis.STEP:
        return Place("step", low, high)
    if axis == Axis.RELATIVE:
        low = None if low is None else (low * SECONDS + start) / MILLISECONDS
        high = None if high is None else (high * SECONDS + start) / MILLISECONDS
    return Place("time", low, high)
