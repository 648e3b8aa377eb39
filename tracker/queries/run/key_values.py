"""The few values of a run that say most about it, of however many it has."""

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
# Enough for a line as wide as a word.
SPARK_BUCKETS = 60

# The last part of a line says how much values vary by themselves, if it has so many.
LAST_PART, FEWEST_LAST = 0.25, 4
# Two last values differ by chance by more than so many standard deviations of their
# difference once in twenty times.
SURE_SPREADS = 2.0
# What is too little to call it a change, where nobody knows how values vary.
FEWEST_CHANGE = 0.03
# What lies beyond the outer tenths stands out; of a normal distribution, the others
# reach over so many standard deviations.
OUTER_TENTHS, INNER_REACH = (10, 90), 2.563

METRIC_KINDS = (Kind.FLOAT, Kind.FLOAT_SERIES)
PINNED_KINDS = (*METRIC_KINDS, Kind.INTEGER)
# Scripts report final results as single numbers; those set before training are
# parameters.
IS_METRIC = (
    Q(kind__in=METRIC_KINDS)
    & (Q(count__gt=0) | Q(number__isnull=False) | Q(is_nan=True))
    & ~IS_PARAMETER
)


@dataclass(frozen=True, slots=True)
class KeyMetric:
    """One metric, how it went, and what the run before had."""

    row: AttributeRow
    line: Line | None = None  # None: logged once
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
        """Return the best value it had; None where nobody knows which is good."""
        if self.is_good_high is None or not self.row.count:
            return None
        return self.row.maximum if self.is_good_high else self.row.minimum

    @property
    def change(self) -> float | None:
        """Return by what share of the run before it differs from that."""
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
        """Tell a change from how much the last values differ among themselves.

        Where these are too few, as of what was logged once, a share has to do.
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
        """Say whether it changed for the better; None: hardly, or nobody knows."""
        if self.change is None or self.is_good_high is None:
            return None
        return (self.change > 0) == self.is_good_high if self.is_beyond_noise else None


@dataclass(frozen=True, slots=True)
class KeyValues:
    """The main metrics and the first parameters, and how many there are of each.

    `others` are what else was asked for, by path.
    """

    metrics: list[KeyMetric]
    metric_count: int
    params: list[AttributeRow]
    param_count: int
    others: Mapping[str, AttributeRow]
    # What could be pinned.
    metric_paths: Sequence[str] = ()


def key_values(
    run: Run,
    *,
    pinned: Sequence[str] = (),
    before: UUID | None = None,
    others: Collection[str] = (),
) -> KeyValues:
    """Read a run's main values, those first that are pinned, beside another run's."""
    metrics = [
        path
        for path in attribute_paths(run, where=IS_METRIC)
        if not path.startswith((MONITORING, PARAMS))
    ]
    params = attribute_paths(run, where=IS_PARAMETER)
    free = [path for path in metrics if path not in set(pinned)]
    # A page of nothing but counters still says how far its run is.
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
    wanted = [(run, path) for path in paths]
    if before is not None and paths_before:
        # It may have been purged meanwhile.
        others = Run.objects.filter(id=before)
        wanted += [(other, path) for other in others for path in paths_before]
    if not wanted:
        return {}
    lines = read_lines(wanted, buckets=SPARK_BUCKETS)
    return {(line.run_id, line.path): line for line in lines}


def _drawn(paths: Sequence[str], rows: Mapping[str, AttributeRow]) -> list[str]:
    return [path for path in paths if path in rows and rows[path].count]


def _spread(line: Line | None) -> float | None:
    """Return the standard deviation of a line's last values, whatever stands out."""
    if line is None:
        return None
    last = slice(-max(FEWEST_LAST, math.ceil(len(line.x) * LAST_PART)), None)
    # Of a bucket, mean alone would hide how far its points lie apart.
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
