"""The step breakdown of a stage, and the change between two breakdowns."""

from __future__ import annotations

from tracker.diagnosis.breakdown.step import (
    EXAMPLES,
    PHASE_END,
    PHASE_START,
    Part,
    StepBreakdown,
    break_down,
    compare_throughput,
)
from tracker.models import Run, Stage
from tracker.queries.diagnoses.signals import read_measurements
from tracker.queries.ladders.verdicts import Change

__all__ = ["Part", "StepBreakdown", "compare_breakdowns", "stage_breakdown"]

SAMPLED = ("job_cpu_cores", "gpu_utilization_percent")


def stage_breakdown(run: Run, stage_name: str) -> StepBreakdown | None:
    """Return None if the run has no such stage, or the stage has no steps."""
    stage = Stage.objects.filter(run_id=run.pk, name=stage_name).first()
    if stage is None:
        return None
    stage.run = run
    return break_down(
        read_measurements(stage, sampled=SAMPLED, also_per_step=_is_part_of_step)
    )


def compare_breakdowns(before: StepBreakdown, after: StepBreakdown) -> Change | None:
    """Return the change of throughput; None if there is not enough data."""
    ratio = compare_throughput(before, after)
    if ratio is None:
        return None
    return Change(ratio.ratio, ratio.low, ratio.high, is_rough=ratio.is_rough)


def _is_part_of_step(path: str) -> bool:
    is_phase = path.startswith(PHASE_START) and path.endswith(PHASE_END)
    return is_phase or path == EXAMPLES
