"""The points that metric rules need: the newest of live runs, all of past runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracker.alerts.metric_conditions import (
    MINUTE,
    NOT_FINITE_MINUTES,
    Condition,
    matches,
)
from tracker.models import Attribute, Kind, MetricRule, Run
from tracker.queries.series.all_points import read_all_points
from tracker.queries.series.series import Axis
from tracker.series.points import Points, concatenate

# Maximum number of series of one run per rule.
MAX_SERIES = 64
# The summaries of series lag behind their points, so more is read than needed.
SLACK_MINUTES = 2.0


def condition_of(rule: MetricRule) -> Condition:
    return Condition(
        name=rule.condition,
        limit=rule.limit if rule.limit is not None else 0.0,
        duration=rule.duration,
        unit=rule.unit,
    )


def series_of(run: Run, pattern: str) -> list[Attribute]:
    """Return the series that a rule applies to, by path."""
    series = Attribute.objects.filter(run=run, kind=Kind.FLOAT_SERIES)
    beginning, star, _ = pattern.partition("*")
    if not star:
        return list(series.filter(path=pattern))
    rows = series.filter(path__startswith=beginning).order_by("path")
    found = (row for row in rows.iterator() if matches(row.path, pattern))
    return [row for row, _ in zip(found, range(MAX_SERIES), strict=False)]


def newest_points(
    run: Run, series: Sequence[Attribute], condition: Condition
) -> Iterator[tuple[str, Points]]:
    """Yield the newest points of each series, as many as the condition needs."""
    for row in series:
        axis, low = _beginning(row, condition)
        yield row.path, points_of(run, row.path, axis=axis, low=low)


def points_of(
    run: Run, path: str, *, axis: Axis = Axis.STEP, low: float | None = None
) -> Points:
    """Return the points of a series in order of time."""
    parts = read_all_points([(run, path)], axis=axis, low=low)
    return concatenate([part.points for part in parts]).sorted_by_time()


def _beginning(row: Attribute, condition: Condition) -> tuple[Axis, float | None]:
    """Return the start of the range to read: twice the window before the last known point."""
    if condition.unit == "steps":
        if row.last_step is None:
            return Axis.STEP, None
        return Axis.STEP, row.last_step - 2 * condition.window
    if row.last_time is None:
        return Axis.TIME, None
    window = max(condition.window, NOT_FINITE_MINUTES * MINUTE)
    if condition.name == "no-point":
        # The last point is enough.
        window = 0
    low = row.last_time - 2 * window - SLACK_MINUTES * MINUTE
    return Axis.TIME, low / 1_000  # milliseconds
