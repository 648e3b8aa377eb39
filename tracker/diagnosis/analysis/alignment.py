"""Aligns series that were logged step by step into one row per step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tracker.diagnosis.engine.measurements import ON_DEVICE, Steps
from tracker.diagnosis.signals import Array, Ranks
from tracker.series.points import Points

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

FEWEST_RANKS = 2


def align(
    base: Points, others: Mapping[str, Points], *, base_name: str = "step_seconds"
) -> Steps:
    """Return rows in order of time, for the steps of `base`; gaps are NaN.

    If a step was logged twice, for example after a restart, points with the same time
    are matched; for series with other times, the last point of a step counts.
    """
    if not len(base):
        return Steps.none()

    base = base.sorted_by_time()
    columns = {base_name: base.values}
    for name, points in others.items():
        columns[name] = _matched(base, points.sorted_by_time())
    return Steps(base.steps, base.times, columns)


def split_phase(base: Points, phase: Points) -> tuple[Array, Points]:
    """Return a phase's time in each step of `base` (NaN if absent), and its other points.

    A phase of a step has the same time and step number as the step. The other points ran
    outside of steps and have their own numbers.
    """
    base, phase = base.sorted_by_time(), phase.sorted_by_time()
    if not len(phase):
        return np.full(len(base), np.nan), phase
    if not len(base):
        return np.empty(0), phase

    near, is_together = _together(base, phase)
    inside = np.where(is_together, phase.values[near], np.nan)
    alone = np.ones(len(phase), np.bool_)
    alone[near[is_together]] = False
    return inside, phase[alone]


def align_ranks(steps: Mapping[int, Steps]) -> Ranks:
    """Return the steps that all ranks have, side by side.

    Of a repeated step, for example after a restart, only the last one counts.
    """
    if len(steps) < FEWEST_RANKS or not all(len(rows) for rows in steps.values()):
        return Ranks()
    ranks = tuple(sorted(steps))
    last = {rank: _last_of_each(steps[rank]) for rank in ranks}
    numbers = last[ranks[0]].numbers
    for rank in ranks[1:]:
        numbers = np.intersect1d(numbers, last[rank].numbers, assume_unique=True)

    rows = {
        rank: last[rank].select(np.searchsorted(last[rank].numbers, numbers))
        for rank in ranks
    }
    flat = {rank: _flat(rows[rank]) for rank in ranks}
    common = set.intersection(*(set(columns) for columns in flat.values()))
    return Ranks(
        ranks,
        numbers,
        rows[ranks[0]].times,
        {
            name: np.column_stack([flat[rank][name] for rank in ranks])
            for name in sorted(common)
        },
    )


def _last_of_each(steps: Steps) -> Steps:
    """Return the rows in order of step number, the last one of each number."""
    ordered = steps.select(np.argsort(steps.numbers, kind="stable"))
    is_last = np.append(np.diff(ordered.numbers) != 0, [True] * bool(len(ordered)))
    return ordered.select(is_last.astype(np.bool_))


def _flat(steps: Steps) -> dict[str, Array]:
    phases = steps.phases.get("phase_seconds", {})
    on_device = steps.phases.get(ON_DEVICE, {})
    return {
        **steps.columns,
        **{f"phase/{name}": np.nan_to_num(column) for name, column in phases.items()},
        # Columns with unknown values are not compared.
        **{
            f"device/{name}": column
            for name, column in on_device.items()
            if np.all(np.isfinite(column))
        },
    }


def _matched(base: Points, points: Points) -> Array:
    if np.array_equal(base.times, points.times) and np.array_equal(
        base.steps, points.steps
    ):
        return points.values
    if not len(points):
        return np.full(len(base), np.nan)

    near, is_together = _together(base, points)
    alone = np.ones(len(points), np.bool_)
    alone[near[is_together]] = False
    return np.where(is_together, points.values[near], _by_step(base, points[alone]))


def _together(base: Points, points: Points) -> tuple[Rows, Mask]:
    """Return for each point of `base` the index of its match, and whether it has one."""
    # Values measured together have the same time.
    near = np.minimum(np.searchsorted(points.times, base.times), len(points) - 1)
    is_together = (points.times[near] == base.times) & (
        points.steps[near] == base.steps
    )
    return near, is_together


def _by_step(base: Points, points: Points) -> Array:
    if not len(points):
        return np.full(len(base), np.nan)
    # A stable sort keeps equal steps in order of time; the last one counts.
    order = np.argsort(points.steps, kind="stable")
    steps, values = points.steps[order], points.values[order]
    place = np.searchsorted(steps, base.steps, side="right") - 1
    is_there = (place >= 0) & (steps[place] == base.steps)
    return np.where(is_there, values[place], np.nan)
