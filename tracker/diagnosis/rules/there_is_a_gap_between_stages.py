"""Gap between stages.

## Detection
A gap of at least a minute between the end of all previous stages and the start of this one, or
of at least 10 seconds and 5 % of the run. If the stage has to wait for a CPU core, its start
also took longer, and the 10 seconds grow in the same proportion.

## Why it matters
The result is delayed by the gap, and machines that are reserved for the whole run are idle.

## Limitations
A stage that a user starts by hand, later, is not part of a chain.
Time in a scheduler queue is a gap, too; the finding then shows the cost of the queue.
Stages that overlap have no gap.

Catalogue: P2, gap between stages.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import average_or_none, margin_above
from tracker.diagnosis.engine.finding import (
    ALONE,
    MEASURED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import duration, percent
from tracker.diagnosis.hardware.contention import CROWDED
from tracker.diagnosis.signals import Samples

SPAN = Span.STAGE


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    long_seconds: float = 60.0
    notable_share: float = 0.05
    # Interpreters and frameworks take this long to start, even without a gap.
    shortest_seconds: float = 10.0
    max_wait_share: float = 0.95
    warning_share: float = 0.20
    # After this time, a user has started the stage by hand.
    later_seconds: float = 86_400.0


def check(
    gap_before_stage_seconds: float,
    *,
    stage_seconds: float | None = None,
    stage_share_of_run: float | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
    limits: Limits = Limits(),
) -> Answer:
    gap = gap_before_stage_seconds
    share = _share(gap, stage_seconds, stage_share_of_run)
    is_large = (
        share is not None
        and share >= limits.notable_share
        and gap >= limits.shortest_seconds
    )
    if not (gap >= limits.long_seconds or is_large) or gap > limits.later_seconds:
        return None
    if gap < min(
        limits.long_seconds, _longest_start(job_main_thread_core_wait_share, limits)
    ):
        return Abstention((CROWDED,))

    part = "" if share is None else f" ({percent(share)} of the run)"
    warns = share is not None and share >= limits.warning_share
    return Finding(
        severity=Severity.WARNING if warns else Severity.NOTICE,
        summary=(
            f"This stage started {duration(gap)} after the end of the previous"
            f" one{part}."
        ),
        evidence=(
            Evidence(
                "gap_before_stage_seconds",
                "gap before the stage",
                gap,
                "s",
                limits.long_seconds
                if gap >= limits.long_seconds
                else limits.shortest_seconds,
                Side.ABOVE,
            ),
            *(
                []
                if share is None
                else [
                    Evidence(
                        "gap_before_stage_seconds",
                        "gap before the stage, share of the run",
                        share,
                        "share",
                        limits.notable_share,
                        Side.ABOVE,
                    )
                ]
            ),
        ),
        recommendations=(
            Recommendation(
                "Start each stage when the previous one ends.",
                code="python preprocess.py && python train.py && python infer.py",
            ),
            Recommendation(
                "If a scheduler starts the stages, submit them together, each depending on"
                " the previous one.",
                code="sbatch --dependency=afterok:$JOB train.sh",
            ),
        ),
        disproof="Check how this stage was started: if a user started it by hand, nothing waited.",
        quality=MEASURED,
        margin=(
            margin_above(gap, limits.long_seconds)
            if gap >= limits.long_seconds
            else margin_above(share or 0.0, limits.notable_share)
        ),
        corroboration=ALONE,
    )


def _longest_start(core_wait_share: Samples | None, limits: Limits) -> float:
    """Return how long a start takes with this share of time without a core."""
    waits = min(limits.max_wait_share, average_or_none(core_wait_share) or 0.0)
    return limits.shortest_seconds / (1.0 - waits)


def _share(
    gap: float, stage_seconds: float | None, share_of_run: float | None
) -> float | None:
    """Return the gap's share of the time of all stages and the gap; None if unknown."""
    if stage_seconds is None or not share_of_run or not stage_seconds > 0:
        return None
    return gap / (gap + stage_seconds / share_of_run)
