"""Steps are slower than in earlier runs.

## Detection
A median step time at least 8 % above that of the last runs with the same name (apart from a
number or date at its end), project, hardware and parameters. The 95 % interval of the median
has to lie above all of those runs; with only one such run, above it by 8 %.

## Why it matters
The run does the same work as before and takes longer: a change of code, data or software made
it slower, or the machine is slower.

## Limitations
Unlogged parameters may differ. Time in which the process waits for a CPU core is caused by
other jobs and is subtracted before the comparison.
Changed data, such as longer sequences, makes steps longer on purpose.

Catalogue: P5, regression against earlier runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import margin_above
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import count, duration, percent
from tracker.diagnosis.hardware.contention import CROWDED
from tracker.diagnosis.hardware.core_wait import without_core_waits
from tracker.diagnosis.signals import Array, EarlierRun, Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    notable_change: float = 0.08
    release_change: float = 0.05
    large_change: float = 0.25

    fewest_steps: int = 100
    blocks: int = 20
    resamples: int = 2000
    low_percentile: float = 2.5


def check(
    step_seconds: Array,
    same_name_runs: EarlierRun,
    *,
    step_end_seconds: Array | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
    worker_core_wait_share: Samples | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if len(step_seconds) < limits.fewest_steps:
        return Abstention((f"at least {limits.fewest_steps} steps",))
    if not same_name_runs.medians or not same_name_runs.step_seconds > 0:
        return None
    own = step_seconds
    if step_end_seconds is not None:
        own = without_core_waits(
            step_seconds,
            step_end_seconds,
            job_main_thread_core_wait_share,
            worker_core_wait_share,
        )
    limit = limits.release_change if already_open else limits.notable_change
    if not _is_slower(step_seconds, same_name_runs, limit, limits):
        return None
    if not _is_slower(own, same_name_runs, limit, limits):
        return Abstention((CROWDED,))
    return _finding(float(np.median(step_seconds)), same_name_runs, limits)


def _is_slower(
    seconds: Array, before: EarlierRun, limit: float, limits: Limits
) -> bool:
    change = float(np.median(seconds)) / before.step_seconds - 1.0
    alone = len(before.medians) == 1
    highest = max(before.medians) * (1.0 + limit if alone else 1.0)
    return change >= limit and _low(seconds, limits) > highest


def _low(seconds: Array, limits: Limits) -> float:
    """Return the lower end of the interval of the median, by blocks of steps."""
    blocks = np.array(
        [np.median(part) for part in np.array_split(seconds, limits.blocks)]
    )
    # A fixed seed makes the result repeatable.
    random = np.random.default_rng(0)
    chosen = random.integers(limits.blocks, size=(limits.resamples, limits.blocks))
    return float(
        np.percentile(np.median(blocks[chosen], axis=1), limits.low_percentile)
    )


def _finding(median: float, before: EarlierRun, limits: Limits) -> Finding:
    change = median / before.step_seconds - 1.0
    runs = len(before.medians)
    which = f"the last {count(runs, 'run', 'runs')}" if runs > 1 else "the last run"
    return Finding(
        severity=Severity.WARNING if change >= limits.large_change else Severity.NOTICE,
        summary=(
            f"A step takes {duration(median)} (median), {percent(change)} more than the"
            f" {duration(before.step_seconds)} of {which} of {before.name} on the same"
            " hardware with the same parameters."
        ),
        evidence=(
            Evidence(
                "same_name_runs",
                "change of the median step time against earlier runs",
                change,
                "share",
                limits.notable_change,
                Side.ABOVE,
                release=limits.release_change,
            ),
            Evidence("step_seconds", "step time, median", median, "s"),
            Evidence(
                "same_name_runs",
                "step time of earlier runs, median",
                before.step_seconds,
                "s",
            ),
            Evidence(
                "same_name_runs",
                "step time of the slowest of them, median",
                max(before.medians),
                "s",
            ),
        ),
        recommendations=(
            Recommendation(
                "Compare this run with the last one of its name: code, packages, hardware"
                " and the parts of a step.",
                code="git diff <commit of the earlier run>",
            ),
            Recommendation(
                "Run the earlier commit again on this machine: if it is as slow, the"
                " machine has changed and not the code."
            ),
        ),
        disproof=(
            "Repeat the run: if the next one is as fast as the earlier ones, the change is"
            " not permanent."
        ),
        gain=expected_gain(
            median, (Floor(before.step_seconds, "the step time of the earlier runs"),)
        ),
        margin=margin_above(change, limits.notable_change),
        corroboration=AGREEING if runs > 1 else ALONE,
    )
