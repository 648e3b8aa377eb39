"""Reads the intervals between logged points as lines for a chart."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.outliers import slow_rows
from tracker.diagnosis.engine.limits import limits_under
from tracker.diagnosis.engine.measurements import MICROSECONDS
from tracker.models import Run, Stage
from tracker.queries.diagnoses.logged_steps import read_logged_steps
from tracker.queries.diagnoses.rule_settings import settings_of
from tracker.queries.hardware.hardware import BUCKETS
from tracker.queries.series.series import Line
from tracker.series.points import Floats, Integers

MILLISECONDS = 1_000
PER_MILLISECOND = MICROSECONDS // MILLISECONDS
# The rule that judges single slow intervals.
RULE = "steps-are-slow-now-and-then"
# Points that are drawn per bucket.
EXTREMES = 2


@dataclass(frozen=True, slots=True, eq=False)
class LoggedIntervals:
    """Intervals by the time of their end, each `steps` long; `slow` has the outliers."""

    steps: int
    every: Line
    slow: Line


def read_logged_intervals(
    run: Run, stage_name: str, *, low: float | None = None, high: float | None = None
) -> LoggedIntervals | None:
    """Return the intervals in a range of milliseconds since 1970; None without any."""
    stage = Stage.objects.select_related("run").get(run_id=run.id, name=stage_name)
    found, steps = read_logged_steps(stage)
    if not steps:
        return None
    times, seconds = found.times, found.columns["step_seconds"]
    is_slow = np.zeros(len(seconds), np.bool_)
    limits = limits_under(settings_of(run.project), RULE)
    rows = slow_rows(seconds, max_share=limits["max outliers share"])
    is_slow[rows] = True
    ends = times / PER_MILLISECOND
    is_shown = np.ones(len(ends), np.bool_)
    if low is not None:
        is_shown &= ends >= low
    if high is not None:
        is_shown &= ends <= high
    some = is_shown & is_slow
    return LoggedIntervals(
        steps,
        _line(run, times[is_shown], seconds[is_shown]),
        _line(run, times[some], seconds[some]),
    )


def _line(run: Run, times: Integers, seconds: Floats) -> Line:
    rows = _extremes(seconds)
    shown = seconds[rows]
    return Line(
        run_id=run.id,
        path="",
        x=times[rows] / PER_MILLISECOND,
        mean=shown,
        minimum=shown,
        maximum=shown,
        exact=True,
        count=len(seconds),
    )


def _extremes(values: Floats) -> Integers:
    """Return the rows of the shortest and the longest interval of each bucket.

    A mean would hide single slow intervals, and a band would not show when they ended.
    """
    if len(values) <= EXTREMES * BUCKETS:
        return np.arange(len(values))
    edges = np.linspace(0, len(values), BUCKETS + 1).astype(np.int64)
    rows = {
        start + int(at)
        for start, end in itertools.pairwise(edges.tolist())
        for at in (values[start:end].argmin(), values[start:end].argmax())
    }
    return np.array(sorted(rows))
