"""Finds the point of a series that is nearest to a step, in a series of any length."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np

from tracker.models import Run
from tracker.queries.series.all_points import read_all_points
from tracker.queries.series.drawing import EPOCH
from tracker.queries.series.series import read_line

# Each iteration narrows the range by a factor of hundreds: enough for any stored series.
LOOKS = 8
BUCKETS = 500
# A bucket extends to both sides of its middle.
BUCKETS_AROUND = 2


def point_near(run: Run, path: str, step: float) -> tuple[float, datetime] | None:
    """Return the step and the time of the nearest point; None if there is no point."""
    low: float | None = None
    high: float | None = None
    for _ in range(LOOKS):
        line = read_line(run, path, low=low, high=high, buckets=BUCKETS)
        if not len(line.x):
            return None
        nearest = int(np.abs(line.x - step).argmin())
        if line.exact:
            return _with_time(run, path, float(line.x[nearest]))
        first, last = nearest - BUCKETS_AROUND, nearest + BUCKETS_AROUND
        low = low if first < 0 else float(line.x[first])
        high = high if last >= len(line.x) else float(line.x[last])
    return None


def _with_time(run: Run, path: str, step: float) -> tuple[float, datetime] | None:
    for part in read_all_points([(run, path)], low=step, high=step):
        if len(part.points):
            return step, EPOCH + timedelta(microseconds=int(part.points.times[-1]))
    return None
