"""The lines of charts: over steps, time, or the values of another series."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np

from tracker.models import Run
from tracker.queries.series.series import Axis, Line, read_lines
from tracker.series.alignment import laid_over, steps_between

# On a logarithmic axis, the first of this many parts of a line takes most of the width, so
# it is read again separately, repeatedly.
PARTS = 16
MAX_LOOKS = 5


RequestedSeries = Sequence[tuple[Run, str]]


@dataclass(frozen=True, slots=True)
class Across:
    """The x axis and its range; `over` is the path of a series."""

    axis: Axis = Axis.STEP
    over: str = ""
    is_log: bool = False
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ChartLines:
    """Lines in the given order, and the number of points of each without an x value."""

    lines: list[Line]
    outside: list[int]
    # The series with the x values, by run; empty on other axes.
    over: Mapping[UUID, Line] = field(default_factory=dict)
    # Runs that have no point of that series in any range.
    lacking: Collection[UUID] = ()


def read_chart_lines(
    requested: RequestedSeries, across: Across, *, buckets: int
) -> ChartLines:
    """Read series of runs with a few statements.

    For a range of an axis of another series, a few statements per range of steps are needed; runs
    with equal steps share one.
    """
    if across.over:
        return _over_a_series(requested, across, buckets)
    lines = _lines(requested, across, buckets)
    if across.is_log:
        lines = _finer_at_the_start(requested, across, lines, buckets)
    return ChartLines(lines, [0] * len(lines))


def _lines(requested: RequestedSeries, across: Across, buckets: int) -> list[Line]:
    return read_lines(
        requested,
        axis=across.axis,
        low=across.low,
        high=across.high,
        buckets=buckets,
        steady=True,
    )


def _over_a_series(
    requested: RequestedSeries, across: Across, buckets: int
) -> ChartLines:
    others = _others({run.id: run for run, _ in requested}, across, Across(), buckets)
    stretches = _stretches(others, across)
    places: dict[Across, list[int]] = defaultdict(list)
    for place, (run, _) in enumerate(requested):
        places[stretches[run.id]].append(place)

    found: dict[int, Line] = {}
    over: dict[UUID, Line] = {}
    for stretch, members in places.items():
        selected = [requested[place] for place in members]
        found |= zip(members, _lines(selected, stretch, buckets), strict=True)
        runs = {run.id: run for run, _ in selected}
        over |= (
            {run_id: others[run_id] for run_id in runs}
            if stretch == Across()
            else _others(runs, across, stretch, buckets)
        )
    lines, outside = [], []
    for place, (run, _) in enumerate(requested):
        line, other = found[place], over[run.id]
        laid = laid_over(line.x, other.x, other.mean)
        lines.append(
            replace(
                line,
                x=laid.x,
                mean=line.mean[laid.kept],
                minimum=line.minimum[laid.kept],
                maximum=line.maximum[laid.kept],
            )
        )
        outside.append(laid.outside)
    without_axis = {run_id for run_id, other in others.items() if not other.count}
    return ChartLines(lines, outside, over, without_axis)


def _others(
    runs: Mapping[UUID, Run], across: Across, stretch: Across, buckets: int
) -> dict[UUID, Line]:
    """Read the series with the x values, in a range of steps."""
    pairs = [(run, across.over) for run in runs.values()]
    return dict(zip(runs, _lines(pairs, stretch, buckets), strict=True))


def _stretches(others: Mapping[UUID, Line], across: Across) -> dict[UUID, Across]:
    """Return each run's range of steps for the range of the axis, or all steps."""
    if across.low is None or across.high is None:
        return dict.fromkeys(others, Across())
    found = {
        run_id: steps_between(other.x, other.mean, across.low, across.high)
        for run_id, other in others.items()
    }
    return {
        run_id: Across() if steps is None else Across(low=steps[0], high=steps[1])
        for run_id, steps in found.items()
    }


def _finer_at_the_start(
    requested: RequestedSeries,
    across: Across,
    lines: list[Line],
    buckets: int,
) -> list[Line]:
    """Read the beginnings with more detail, which a logarithmic axis stretches."""
    front = lines
    for _ in range(MAX_LOOKS):
        cuts = [line.x[len(line.x) // PARTS] for line in front if not line.exact]
        if not cuts:
            break
        cut = float(max(cuts))
        beginning = replace(across, high=cut)
        front = _lines(requested, beginning, buckets)
        lines = [
            line if line.exact else _joined(fine, line, cut)
            for fine, line in zip(front, lines, strict=True)
        ]
    return lines


def _joined(fine: Line, coarse: Line, cut: float) -> Line:
    rest = coarse.x > cut
    return replace(
        coarse,
        x=np.concatenate([fine.x, coarse.x[rest]]),
        mean=np.concatenate([fine.mean, coarse.mean[rest]]),
        minimum=np.concatenate([fine.minimum, coarse.minimum[rest]]),
        maximum=np.concatenate([fine.maximum, coarse.maximum[rest]]),
    )
