"""What the agent measured in the stages of a run, as lines over time."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from tracker.models import Run
from tracker.queries.attributes import series_paths
from tracker.queries.namespaces import monitoring_path
from tracker.queries.series import Axis, Line, read_lines

RANK = re.compile(r"rank-(\d{1,9})/")
# Enough for a row as wide as a screen; a page holds some twenty of them.
BUCKETS = 300


@dataclass(frozen=True, slots=True)
class Measured:
    """One series of a stage; `measure` is its path below the stage and the rank."""

    stage: str
    rank: int
    measure: str
    line: Line


def measured_lines(
    run: Run,
    stages: Collection[str],
    is_wanted: Callable[[str], bool],
    *,
    low: float | None = None,
    high: float | None = None,
) -> list[Measured]:
    """Read the wanted measures of these stages over time, in milliseconds since 1970."""
    found = [
        (path, stage, *_below(path, stage))
        for stage in stages
        for path in series_paths(run, monitoring_path(stage))
    ]
    wanted = [entry for entry in found if is_wanted(entry[3])]
    lines = read_lines(
        [(run, path) for path, *_ in wanted],
        axis=Axis.TIME,
        low=low,
        high=high,
        buckets=BUCKETS,
    )
    return [
        Measured(stage, rank, measure, line)
        for (_, stage, rank, measure), line in zip(wanted, lines, strict=True)
    ]


def measures_of(run: Run, stages: Collection[str]) -> set[str]:
    """Return what was measured in any of these stages, by path below the stage."""
    return {
        _below(path, stage)[1]
        for stage in stages
        for path in series_paths(run, monitoring_path(stage))
    }


def stage_lines(
    run: Run,
    stage: str,
    paths: Mapping[str, str],
    *,
    low: float | None = None,
    high: float | None = None,
) -> dict[str, Line]:
    """Read some measures of a stage's first process over time, by the names given."""
    known = set(series_paths(run, monitoring_path(stage)))
    there = {
        name: monitoring_path(stage, path)
        for name, path in paths.items()
        if monitoring_path(stage, path) in known
    }
    lines = read_lines(
        [(run, path) for path in there.values()],
        axis=Axis.TIME,
        low=low,
        high=high,
        buckets=BUCKETS,
    )
    return dict(zip(there, lines, strict=True))


def _below(path: str, stage: str) -> tuple[int, str]:
    measure = path.removeprefix(monitoring_path(stage))
    if rank := RANK.match(measure):
        return int(rank[1]), measure[rank.end() :]
    return 0, measure
