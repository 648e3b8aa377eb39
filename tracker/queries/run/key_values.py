"""The most important values of a run."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from uuid import UUID

import numpy as np
from django.db.models import Q

from tracker.models import Kind, Run
from tracker.queries.run.attributes import (
    IS_PARAMETER,
    AttributeRow,
    attribute_paths,
    attribute_values,
)
from tracker.queries.run.namespaces import MONITORING, PARAMS
from tracker.queries.series.metrics import importance, is_counter, is_good_high
from tracker.queries.series.series import Line, read_lines

MAX_METRICS, MAX_PARAMS = 12, 40
# Enough for a sparkline.
SPARK_BUCKETS = 60

# The noise is estimated from this last part of a line, if it has this many points.
LAST_PART, FEWEST_LAST = 0.25, 4
# Two last values that differ by more standard deviations of their difference than this
# differ by chance in only one of twenty cases.
SURE_SPREADS = 2.0
# The smallest share that counts as a change if the noise is unknown.
FEWEST_CHANGE = 0.03
# Values in the outer tenths are outliers; in a normal distribution the others span this
# many standard deviations.
OUTER_TENTHS, INNER_REACH = (10, 90), 2.563

METRIC_KINDS = (Kind.FLOAT, Kind.FLOAT_SERIES)
PINNED_KINDS = (*METRIC_KINDS, Kind.INTEGER)
# Scripts report final results as single numbers; numbers set before training are
# parameters.
IS_METRIC = (
    Q(kind__in=METRIC_KINDS)
    & (Q(count__gt=0) | Q(number__isnull=False) | Q(is_nan=True))
    & ~IS_PARAMETER
)


@dataclass(frozen=True, slots=True)
class KeyMetric:
    """One metric with its line, and its value in the previous run."""

    row: AttributeRow
    line: Line | None = None  # None if it was logged only once
    before: float | None = None
    line_before: Line | None = None
    is_pinned: bool = False

    @property
    def path(self) -> str:
        return self.row.path

    @property
    def value(self) -> float | None:
        return _number(self.row)

    @property
    def is_good_high(self) -> bool | None:
        return is_good_high(self.row.path)

    @property
    def best(self) -> float | None:
        """Return the best value; None if it is unknown which direction is better."""
        if self.is_good_high is None or not self.row.count:
            return None
        return self.row.maximum if self.is_good_high else self.row.minimum

    @property
    def change(self) -> float | None:
        """Return the relative change against the previous run."""
        value, before = self.value, self.before
        if is_counter(self.path) or not self.row.is_metric:
            return None
        if value is None or before is None:
            return None
        if not (math.isfinite(value) and math.isfinite(before)) or before == 0:
            return None
        return (value - before) / abs(before)

    @property
    def is_beyond_noise(self) -> bool:
        """Return whether the change exceeds the noise of the last values.

        With too few values, for example of a single number, a minimum share is used.
        """
        value, before, change = self.value, self.before, self.change
        if value is None or before is None or not change:
            return False
        spreads = [_spread(line) for line in (self.line, self.line_before)]
        known = [spread for spread in spreads if spread is not None]
        if not known:
            return abs(change) >= FEWEST_CHANGE
        return abs(value - before) > SURE_SPREADS * math.hypot(*known)

    @property
    def is_better(self) -> bool | None:
        """Return whether it improved; None if the change is within the noise or unknown."""
        if self.change is None or self.is_good_high is None:
            return None
        return (self.change > 0) == self.is_good_high if self.is_beyond_noise else None


@dataclass(frozen=True, slots=True)
class KeyValues:
    """The main metrics and the first parameters, and the number of each.

    `others` are further requested values, by path.
    """

    metrics: list[KeyMetric]
    metric_count: int
    params: list[AttributeRow]
    param_count: int
    others: Mapping[str, AttributeRow]
    # Metrics that can be pinned.
    metric_paths: Sequence[str] = ()


def key_values(
    run: Run,
    *,
    pinned: Sequence[str] = (),
    before: UUID | None = None,
    others: Collection[str] = (),
) -> KeyValues:
    """Read a run's main values, pinned ones first, with those of another run."""
    metrics = [
        path
        for path in attribute_paths(run, where=IS_METRIC)
        if not path.startswith((MONITORING, PARAMS))
    ]
    params = attribute_paths(run, where=IS_PARAMETER)
    free = [path for path in metrics if path not in set(pinned)]
    # With only counters, show them, because they indicate the progress.
    automatic = [path for path in free if not is_counter(path)] or free
    main = nsmallest(MAX_METRICS - len(pinned), automatic, key=importance)
    first = params[:MAX_PARAMS]
    runs = [run.id] if before is None else [run.id, before]
    values = attribute_values(runs, [*pinned, *main, *first, *others])
    rows = values[run.id]
    known = [path for path in (*pinned, *main) if _is_number(rows.get(path))]
    earlier = values.get(before, {}) if before is not None else {}
    lines = _lines(run, _drawn(known, rows), before, _drawn(known, earlier))
    return KeyValues(
        metrics=[
            KeyMetric(
                row=rows[path],
                line=lines.get((run.id, path)),
                before=_number(earlier.get(path)),
                line_before=None if before is None else lines.get((before, path)),
                is_pinned=path in pinned,
            )
            for path in known
        ],
        metric_count=len(metrics),
        params=[rows[path] for path in first if path in rows],
        param_count=len(params),
        others={path: rows[path] for path in others if path in rows},
        metric_paths=metrics,
    )


def _lines(
    run: Run, paths: Sequence[str], before: UUID | None, paths_before: Sequence[str]
) -> dict[tuple[UUID, str], Line]:
    pairs = [(run, path) for path in paths]
    if before is not None and paths_before:
        # The other run may have been purged meanwhile.
        others = Run.objects.filter(id=before)
        pairs += [(other, path) for other in others for path in paths_before]
    if not pairs:
        return {}
    lines = read_lines(pairs, buckets=SPARK_BUCKETS)
    return {(line.run_id, line.path): line for line in lines}


def _drawn(paths: Sequence[str], rows: Mapping[str, AttributeRow]) -> list[str]:
    return [path for path in paths if path in rows and rows[path].count]


def _spread(line: Line | None) -> float | None:
    """Return the standard deviation of a line's last values, without outliers."""
    if line is None:
        return None
    last = slice(-max(FEWEST_LAST, math.ceil(len(line.x) * LAST_PART)), None)
    # The mean of a bucket would hide the spread of its points.
    ends = np.concatenate([line.minimum[last], line.maximum[last]])
    ends = ends[np.isfinite(ends)]
    if len(ends) < 2 * FEWEST_LAST:
        return None
    low, high = np.percentile(ends, OUTER_TENTHS)
    return float(high - low) / INNER_REACH


def _is_number(row: AttributeRow | None) -> bool:
    return row is not None and row.kind in PINNED_KINDS


def _number(row: AttributeRow | None) -> float | None:
    if row is None or isinstance(row.value, bool):
        return None
    return float(row.value) if isinstance(row.value, int | float) else None
