"""Hardware metrics of several runs on a shared axis."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np

from tracker.models import Attribute, Kind, Run, Stage
from tracker.queries.hardware.hardware import BUCKETS, Measured, below_stage
from tracker.queries.run.attributes import beginning_with
from tracker.queries.run.namespaces import MONITORING, STEP_SECONDS, monitoring_path
from tracker.queries.series.series import Axis, Line, read_lines
from tracker.queries.series.thinned import read_thinned_of_runs
from tracker.series.points import Floats, Points

MILLISECONDS = 1_000
MICROSECONDS = 1_000


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """A line of one run; its `x` is in seconds or steps."""

    position: int  # of the run in the request
    measured: Measured


def compared_lines(
    runs: Sequence[Run],
    is_requested: Callable[[str], bool],
    *,
    align: str,
    stage: str | None,
) -> list[ComparedLine]:
    """Read the requested measures of each run, aligned so that the runs start together.

    `align` is "run" for the time since the start of the run, with all of its stages, "stage"
    for the time since the start of the stage, or "step" for the steps of that stage.
    """
    found = _measures(runs, None if align == "run" else stage)
    selected = [each for each in found if is_requested(each.measure)]
    lines = read_lines(
        [(runs[each.position], each.path) for each in selected],
        axis=Axis.TIME,
        buckets=BUCKETS,
    )
    place = _places(runs, {each.position for each in selected}, align, stage)
    return [
        ComparedLine(
            each.position,
            Measured(each.stage, each.rank, each.measure, moved),
        )
        for each, line in zip(selected, lines, strict=True)
        if (moved := _moved(line, place.get(each.position))) is not None
    ]


@dataclass(frozen=True, slots=True)
class _Found:
    position: int
    stage: str
    rank: int
    measure: str
    path: str


# From milliseconds since 1970 to the position on the axis.
_Place = Callable[[Floats], Floats]


def _measures(runs: Sequence[Run], stage: str | None) -> list[_Found]:
    positions = {run.id: position for position, run in enumerate(runs)}
    prefix = MONITORING if stage is None else monitoring_path(stage)
    rows = (
        Attribute.objects.filter(
            beginning_with(prefix), run_id__in=list(positions), kind=Kind.FLOAT_SERIES
        )
        .order_by()
        .values_list("run_id", "path")
    )
    # A stage's name may contain a slash, so it is looked up instead of split from the path.
    stages = _stage_names(positions) if stage is None else {}
    found = []
    for run_id, path in rows:
        names = [stage] if stage is not None else stages.get(run_id, [])
        for name in names:
            if path.startswith(monitoring_path(name)):
                rank, measure = below_stage(path, name)
                found.append(_Found(positions[run_id], name, rank, measure, path))
                break
    return sorted(found, key=lambda each: (each.position, each.path))


def _stage_names(positions: dict[UUID, int]) -> dict[UUID, list[str]]:
    names: dict[UUID, list[str]] = {}
    rows = Stage.objects.filter(run__in=list(positions)).values_list("run_id", "name")
    for run_id, name in rows:
        names.setdefault(run_id, []).append(name)
    return {run: sorted(found, key=len, reverse=True) for run, found in names.items()}


def _places(
    runs: Sequence[Run], positions: Collection[int], align: str, stage: str | None
) -> dict[int, _Place]:
    """Return the function that maps times to the axis, for each run with a line."""
    if align == "step":
        return _by_step(runs, sorted(positions), stage) if stage and positions else {}
    starts = {runs[position].id: runs[position].started_at for position in positions}
    if align == "stage":
        rows = Stage.objects.filter(run__in=list(starts), name=stage or "")
        starts = dict(rows.values_list("run_id", "started_at"))
    return {
        position: _since(start)
        for position in positions
        if (start := starts.get(runs[position].id)) is not None
    }


def _since(start: datetime) -> _Place:
    zero = start.timestamp()
    return lambda times: times / MILLISECONDS - zero


def _by_step(
    runs: Sequence[Run], positions: Sequence[int], stage: str
) -> dict[int, _Place]:
    """Interpolate the step at each time between the timed steps."""
    path = monitoring_path(stage, STEP_SECONDS)
    timed = read_thinned_of_runs([runs[position] for position in positions], path)
    return {
        position: _between(timed[runs[position].id].points)
        for position in positions
        if runs[position].id in timed
    }


def _between(points: Points) -> _Place:
    ordered = points.sorted_by_time()
    times, steps = ordered.times / MICROSECONDS, ordered.steps
    return lambda moments: np.interp(moments, times, steps, left=np.nan, right=np.nan)


def _moved(line: Line, place: _Place | None) -> Line | None:
    if place is None or not len(line.x):
        return None
    x = place(line.x)
    is_placed = np.isfinite(x)
    if not is_placed.any():
        return None
    return replace(
        line,
        x=x[is_placed],
        mean=line.mean[is_placed],
        minimum=line.minimum[is_placed],
        maximum=line.maximum[is_placed],
    )
