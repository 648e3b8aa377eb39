"""Training waits for data.

## What it looks for
The share of the step time that passes before the next batch arrives.
Waiting counts only while no GPU works: what is still queued on a GPU goes on meanwhile.
The longest 2 % of waits alone do not raise it; they are the first batches of epochs.

## Why it matters
While a step waits for its batch, everything that was reserved for it stands idle.

## When it is wrong
A stream that yields slowly on purpose looks the same.
Only batches that pass through `run.loader(...)` are seen.
A GPU counts as working when any kernel runs, so a share of waiting can go unseen.
Where `run.probe` has tried the loader alone and it keeps up with the step, something
that both need at the same time is the limit, such as cores; the rule is less sure then.

Catalogue: D1, input bound.
"""

from __future__ import annotations

from tracker.diagnosis.finding import (
    CONTRADICTED,
    Evidence,
    Finding,
    Recommendation,
    Severity,
)
from tracker.diagnosis.gain import expected_gain
from tracker.diagnosis.signals import Array, Samples
from tracker.diagnosis.statistics import margin_above
from tracker.diagnosis.trials import Trials
from tracker.diagnosis.waiting import (
    NOTABLE_SHARE,
    RELEASE_SHARE,
    Waiting,
    measure_waiting,
)
from tracker.diagnosis.wording import duration, percent

CRITICAL_SHARE = 0.20

__all__ = ["CRITICAL_SHARE", "NOTABLE_SHARE", "RELEASE_SHARE", "check"]


def check(
    step_seconds: Array,
    data_wait_seconds: Array,
    *,
    busiest_gpu_percent: Samples | None = None,
    probe_step_seconds: float | None = None,
    probe_loader_seconds: float | None = None,
    probe_prepare_seconds: float | None = None,
    probe_fetch_seconds: float | None = None,
    already_open: bool = False,
) -> Finding | None:
    waiting = measure_waiting(step_seconds, data_wait_seconds, busiest_gpu_percent)
    if waiting is None or not waiting.is_notable(already_open=already_open):
        return None

    trials = Trials(
        probe_step_seconds,
        probe_loader_seconds,
        probe_prepare_seconds,
        probe_fetch_seconds,
    )
    is_critical = waiting.exposed_share >= CRITICAL_SHARE
    gpu_disagrees = waiting.exposed_share < waiting.share / 2
    return Finding(
        severity=Severity.CRITICAL if is_critical else Severity.WARNING,
        summary=(
            f"{percent(waiting.exposed_share)} of the time goes into waiting for the"
            f" next batch: {duration(waiting.seconds)} of every"
            f" {duration(waiting.step_seconds)} step."
        ),
        evidence=(*_evidence(waiting), *trials.evidence()),
        recommendations=(
            trials.recommendation(),
            Recommendation(
                "Prepare batches while the training step works: load in other processes"
                " and ahead of need."
            ),
        ),
        disproof=(
            "Train for a minute on one batch, repeated: if steps take as long as now,"
            " the data is not what they wait for."
        ),
        gain=expected_gain(
            waiting.step_seconds,
            (trials.floor(waiting),),
        ),
        margin=margin_above(waiting.exposed_share, NOTABLE_SHARE),
        corroboration=(
            CONTRADICTED if gpu_disagrees else trials.corroboration(waiting)
        ),
    )


def _evidence(waiting: Waiting) -> tuple[Evidence, ...]:
    return (
        Evidence(
            signal="data_wait_seconds",
            statistic="share of step time",
            value=waiting.share,
            unit="share",
            limit=NOTABLE_SHARE,
        ),
        Evidence(
            signal="data_wait_seconds",
            statistic="mean per step",
            value=waiting.seconds,
            unit="s",
        ),
        Evidence(
            signal="step_seconds",
            statistic="mean",
            value=waiting.step_seconds,
            unit="s",
        ),
    )
