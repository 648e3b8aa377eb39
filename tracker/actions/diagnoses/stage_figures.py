"""A stage's time breakdown and speed, stored with its diagnosis."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from tracker.diagnosis.analysis.throughput import throughput_of
from tracker.diagnosis.breakdown.stage import keep_ledger
from tracker.diagnosis.engine.measurements import MICROSECONDS, Measurements, Window
from tracker.models import Spool, Stage, State


class Figures(TypedDict):
    """Columns of a diagnosis row."""

    ledger: dict[str, float | None] | None
    steps_per_second: float | None
    examples_per_second: float | None
    median_step_seconds: float | None
    data_wait_share: float | None


def figures_of(
    stage: Stage, measurements: Measurements, judged: Window | None
) -> Figures:
    speed = throughput_of(measurements, judged)
    return Figures(
        ledger=_ledger(stage, measurements),
        steps_per_second=speed.steps if speed else None,
        examples_per_second=speed.examples if speed else None,
        median_step_seconds=speed.median_step_seconds if speed else None,
        data_wait_share=speed.data_wait_share if speed else None,
    )


def _ledger(stage: Stage, measurements: Measurements) -> dict[str, float | None] | None:
    window = _window(stage, measurements)
    if window is None:
        return None
    ledger = keep_ledger(
        measurements,
        window,
        has_failed=stage.state in (State.FAILED, State.CRASHED, State.PREEMPTED),
        machines=_machines(stage),
    )
    return {
        "gpus": ledger.gpus,
        "energy_joules": ledger.energy_joules,
        **{use.value: seconds for use, seconds in ledger.seconds.items()},
    }


def _window(stage: Stage, measurements: Measurements) -> Window | None:
    """Return the time for which the stage held its machine, up to now while it runs."""
    measured = measurements.span()
    start = _microseconds(stage.started_at)
    end = _microseconds(stage.ended_at)
    if start is None:
        start = measured.start if measured else None
    if end is None:
        end = measured.end if measured else None
    if start is None or end is None or end <= start:
        return None
    return Window(start, end)


def _microseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * MICROSECONDS)


def _machines(stage: Stage) -> int:
    hosts = Spool.objects.filter(stage_id=stage.pk).order_by()
    return hosts.values("host").distinct().count()
