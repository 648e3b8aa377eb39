"""Turns series that were logged step by step into rows, one per step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tracker.diagnosis.measurements import Steps
from tracker.diagnosis.signals import Array
from tracker.series.points import Points


def align(
    base: Points, others: Mapping[str, Points], *, base_name: str = "step_seconds"
) -> Steps:
    """Return rows in order of time, for the steps of `base`; gaps are NaN.

    Where a step was logged twice, as after a restart, the points of one time belong
    together; of series whose times differ, the last point of a step counts.
    """
    if not len(base):
        return Steps.none()

    base = base.sorted_by_time()
    columns = {base_name: base.values}
    for name, points in others.items():
        columns[name] = _matched(base, points.sorted_by_time())
    return Steps(base.steps, base.times, columns)


def _matched(base: Points, points: Points) -> Array:
    if np.array_equal(base.times, points.times) and np.array_equal(
        base.steps, points.steps
    ):
        return points.values
    if not len(points):
        return np.full(len(base), np.nan)

    # What was measured together has the time in common, too.
    near = np.minimum(np.searchsorted(points.times, base.times), len(points) - 1)
    is_together = (points.times[near] == base.times) & (
        points.steps[near] == base.steps
    )
    alone = np.ones(len(points), np.bool_)
    alone[near[is_together]] = False
    return np.where(is_together, points.values[near], _by_step(base, points[alone]))


def _by_step(base: Points, points: Points) -> Array:
    if not len(points):
        return np.full(len(base), np.nan)
    # The last of equal steps: a stable sort keeps them in order of time.
    order = np.argsort(points.steps, kind="stable")
    steps, values = points.steps[order], points.values[order]
    place = np.searchsorted(steps, base.steps, side="right") - 1
    is_there = (place >= 0) & (steps[place] == base.steps)
    return np.where(is_there, values[place], np.nan)
