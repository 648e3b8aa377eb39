"""The lines of a run's charts: over steps, time, or the values of another series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracker.models import Run
from tracker.queries.series import Axis, Line, read_lines
from tracker.series.alignment import laid_over, steps_between
from tracker.series.points import Floats

# On a logarithmic axis the first of so many parts of a line takes most of the room,
# so it is read again by itself, and so on.
PARTS = 16
MOST_LOOKS = 5


@dataclass(frozen=True, slots=True)
class Across:
    """What the x axis shows, and which part of it; `over` names a series."""

    axis: Axis = Axis.STEP
    over: str = ""
    is_log: bool = False
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ChartLines:
    """Lines in the order asked, and for each how many of its points have no place."""

    lines: list[Line]
    outside: list[int]
    # Where steps lie on the axis: steps, and places. Without any, as the lines do.
    steps: Floats
    places: Floats


def read_chart_lines(
    run: Run, paths: Sequence[str], across: Across, *, buckets: int
) -> ChartLines:
    """Read series of one run with a handful of statements, whatever the axis."""
    if across.over:
        return _over_a_series(run, paths, across, buckets)
    lines = _lines(run, paths, across, buckets)
    if across.is_log:
        lines = _finer_at_the_start(run, paths, across, lines, buckets)
    nothing = np.empty(0)
    return ChartLines(lines, [0] * len(lines), nothing, nothing)


def _lines(run: Run, paths: Sequence[str], across: Across, buckets: int) -> list[Line]:
    return read_lines(
        [(run, path) for path in paths],
        axis=across.axis,
        low=across.low,
        high=across.high,
        buckets=buckets,
        steady=True,
    )


def _over_a_series(
    run: Run, paths: Sequence[str], across: Across, buckets: int
) -> ChartLines:
    by_step = Across()
    (other,) = _lines(run, [across.over], by_step, buckets)
    if across.low is not None and across.high is not None:
        found = steps_between(other.x, other.mean, across.low, across.high)
        if found is not None:
            by_step = Across(low=found[0], high=found[1])
            (other,) = _lines(run, [across.over], by_step, buckets)
    lines, outside = [], []
    for line in _lines(run, paths, by_step, buckets):
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
    return ChartLines(lines, outside, other.x, other.mean)


def _finer_at_the_start(
    run: Run,
    paths: Sequence[str],
    across: Across,
    lines: list[Line],
    buckets: int,
) -> list[Line]:
    """Read the beginnings again, of which a logarithmic axis shows ever more."""
    front = lines
    for _ in range(MOST_LOOKS):
        cuts = [line.x[len(line.x) // PARTS] for line in front if not line.exact]
        if not cuts:
            break
        cut = float(max(cuts))
        beginning = replace(across, high=cut)
        front = _lines(run, paths, beginning, buckets)
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
