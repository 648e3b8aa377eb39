"""Gap between stages.

## What it looks for
A gap of a minute or more between the end of all stages before and the start of this one, or
one of at least 10 seconds that is 5 % of the run.

## Why it matters
Whoever waits for the result waits for the gap, and machines that are reserved for the whole
run stand idle in it.

## When it is wrong
A stage that somebody starts by hand, later, is no part of a chain.
Time in a queue of a scheduler is a gap, too; then it says what the queue costs.
Stages that overlap have no gap.

Catalogue: P2, gap between stages.
"""

from __future__ import annotations

from tracker.diagnosis.finding import (
    ALONE,
    MEASURED,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.rule import Span
from tracker.diagnosis.statistics import margin_above
from tracker.diagnosis.wording import duration, percent

SPAN = Span.STAGE

LONG_SECONDS = 60.0
NOTABLE_SHARE = 0.05
# Interpreters and frameworks take so long to start, gap or not.
SHORTEST_SECONDS = 10.0
WARNING_SHARE = 0.20
# After so long, somebody has started the stage, and no chain was waiting.
LATER_SECONDS = 86_400.0


def check(
    gap_before_stage_seconds: float,
    *,
    stage_seconds: float | None = None,
    stage_share_of_run: float | None = None,
) -> Finding | None:
    gap = gap_before_stage_seconds
    share = _share(gap, stage_seconds, stage_share_of_run)
    is_large = share is not None and share >= NOTABLE_SHARE and gap >= SHORTEST_SECONDS
    if not (gap >= LONG_SECONDS or is_large) or gap > LATER_SECONDS:
        return None

    part = "" if share is None else f" ({percent(share)} of the run)"
    warns = share is not None and share >= WARNING_SHARE
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
                LONG_SECONDS if gap >= LONG_SECONDS else SHORTEST_SECONDS,
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
                        NOTABLE_SHARE,
                        Side.ABOVE,
                    )
                ]
            ),
        ),
        recommendations=(
            Recommendation(
                "Start each stage by the end of the one before.",
                code="python preprocess.py && python train.py && python infer.py",
            ),
            Recommendation(
                "If a scheduler starts the stages, submit them together, each depending on"
                " the one before.",
                code="sbatch --dependency=afterok:$JOB train.sh",
            ),
        ),
        disproof="Look at who started this stage: if a person did, nothing was waiting.",
        quality=MEASURED,
        margin=(
            margin_above(gap, LONG_SECONDS)
            if gap >= LONG_SECONDS
            else margin_above(share or 0.0, NOTABLE_SHARE)
        ),
        corroboration=ALONE,
    )


def _share(
    gap: float, stage_seconds: float | None, share_of_run: float | None
) -> float | None:
    """Return the gap's share of all stages' time and its own; None where unknown."""
    if stage_seconds is None or not share_of_run or not stage_seconds > 0:
        return None
    return gap / (gap + stage_seconds / share_of_run)
