"""Training waits for data.

## Detection
The share of the step time that passes before the next batch arrives.
Waiting counts only while no GPU works, because queued GPU work continues meanwhile.
The longest 2 % of the waits alone do not raise a finding; they are the first batches of epochs.
Without step times: a GPU whose load alternates and that is often idle, while the cores of the
job are busy, the CPU quota throttles it, or tasks wait for storage.
Otherwise, if there are worker processes: functions that load batches, by their
names, or packages for loading data, with 15 % of the samples of the code profile.

## Why it matters
While a step waits for its batch, the reserved GPUs are idle.

## Limitations
Time in which the training process computes does not count if there are loader workers: it
receives a batch that is ready.
A stream that yields slowly on purpose looks the same.
Only batches from `run.loader(...)` or a framework callback are measured.
A GPU counts as working while any kernel runs, so part of the waiting can be missed.
Without step times the finding is a guess, and its summary says that.
If `run.probe` shows that the loader alone keeps up with the step, loader and step share a
limit such as the cores; the finding is then less certain.

Catalogue: D1, input bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import (
    average,
    average_or_none,
    margin_above,
    margin_below,
    percentile,
    typical,
)
from tracker.diagnosis.engine.finding import (
    ALONE,
    COARSE,
    CONTRADICTED,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.speedup import expected_gain, gain_of_share
from tracker.diagnosis.engine.wording import duration, percent
from tracker.diagnosis.hardware.contention import CROWDED
from tracker.diagnosis.input.activities import DATA, Activity, activity_of_training
from tracker.diagnosis.input.code_lines import prefetch_line
from tracker.diagnosis.input.trials import Trials
from tracker.diagnosis.input.waiting import (
    CORE_WAIT_SHARE,
    NOTABLE_SHARE,
    RELEASE_SHARE,
    CoreUse,
    Waiting,
    measure_waiting,
)
from tracker.diagnosis.signals import Array, Samples, Tracked
from tracker.diagnosis.signals.signal import LOADER

DISPROOF = (
    "Train for a minute on one batch, repeated: if steps take as long as now, they do not"
    " wait for data."
)
TIMERS = ("step_seconds", "data_wait_seconds")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    notable_share: float = NOTABLE_SHARE
    release_share: float = RELEASE_SHARE

    critical_share: float = 0.20
    # By the names of functions in the profile of the code, which may mislead.
    profile_share: float = 0.15

    # Without step times: the load of a GPU that receives data too slowly.
    max_gpu_percent: float = 70.0
    min_swing_percent: float = 50.0  # from the 5th percentile to the 95th
    idle_gpu_percent: float = 10.0
    min_idle_readings: float = 0.20
    # Limits for the causes: share of cores, of scheduler periods and of time.
    full_cpu_share: float = 0.80
    throttled_share: float = 0.10
    pressure_share: float = 0.20


@dataclass(frozen=True, slots=True)
class _Cause:
    """A possible reason why data arrives slowly."""

    signal: str
    statistic: str
    value: float
    limit: float
    words: str


def check(
    *,
    step_seconds: Array | None = None,
    data_wait_seconds: Array | None = None,
    busiest_gpu_percent: Samples | None = None,
    exposed_wait_seconds: Array | None = None,
    job_cpu_cores: Samples | None = None,
    effective_cores: float | None = None,
    cgroup_throttled_share: Samples | None = None,
    io_pressure_share: Samples | None = None,
    loader_workers: float | None = None,
    job_main_thread_cpu_cores: Samples | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
    worker_cpu_cores: Samples | None = None,
    worker_core_wait_share: Samples | None = None,
    framework: str | None = None,
    probe_step_seconds: float | None = None,
    probe_loader_seconds: float | None = None,
    probe_prepare_seconds: float | None = None,
    probe_fetch_seconds: float | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if step_seconds is not None and data_wait_seconds is not None:
        waiting = measure_waiting(
            step_seconds,
            data_wait_seconds,
            busiest_gpu_percent,
            exposed_wait_seconds,
            notable_share=limits.notable_share,
            release_share=limits.release_share,
        )
        if waiting is None or not waiting.is_notable(already_open=already_open):
            return None
        use = CoreUse(
            job_main_thread_cpu_cores,
            job_main_thread_core_wait_share,
            worker_cpu_cores,
            worker_core_wait_share,
        )
        if waiting.keeps_up(use, already_open=already_open):
            return None
        if waiting.is_for_a_core(use):
            return Abstention((CROWDED,))
        trials = Trials(
            probe_step_seconds,
            probe_loader_seconds,
            probe_prepare_seconds,
            probe_fetch_seconds,
        )
        return _measured(waiting, trials, round(loader_workers or 0), framework, limits)
    if step_seconds is None and busiest_gpu_percent is not None:
        cause = _likely_cause(
            job_cpu_cores,
            effective_cores,
            cgroup_throttled_share,
            io_pressure_share,
            limits,
        )
        if cause is not None and _is_starved(busiest_gpu_percent, limits):
            return _guessed(busiest_gpu_percent, cause, limits)
    timers = zip(TIMERS, (step_seconds, data_wait_seconds), strict=True)
    return Abstention(tuple(name for name, timed in timers if timed is None))


def check_profile(
    code_profile: str,
    job_workers: Samples,
    *,
    losses: Mapping[str, Tracked] | None = None,
    busiest_gpu_percent: Samples | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
    framework: str | None = None,
    limits: Limits = Limits(),
) -> Answer:
    if typical(job_workers) < 1:
        return None  # the rule about too few workers judges that
    if (average_or_none(job_main_thread_core_wait_share) or 0.0) >= CORE_WAIT_SHARE:
        return Abstention((CROWDED,))
    waiting = activity_of_training(
        code_profile, losses, busiest_gpu_percent, limits.profile_share, *DATA
    )
    if not isinstance(waiting, Activity):
        return waiting
    return Finding(
        severity=(
            Severity.CRITICAL
            if waiting.share >= limits.critical_share
            else Severity.WARNING
        ),
        summary=f"{waiting.sentence('getting batches')}.",
        evidence=(waiting.evidence("the loading of batches", limits.profile_share),),
        recommendations=(
            Recommendation(
                "Prepare batches while the training step runs: load in worker processes"
                " and prefetch.",
                code=prefetch_line(framework, round(typical(job_workers)), 4),
            ),
        ),
        disproof=DISPROOF,
        gain=gain_of_share(waiting.share, "Waiting for batches"),
        explains=("host-memory-is-unused", "gpu-utilization-is-low"),
        quality=SAMPLED,
        margin=margin_above(waiting.share, limits.profile_share),
        corroboration=ALONE,
    )


def _measured(
    waiting: Waiting,
    trials: Trials,
    workers: int,
    framework: str | None,
    limits: Limits,
) -> Finding:
    gpu_disagrees = waiting.exposed_share < waiting.share / 2
    return Finding(
        severity=waiting.severity(limits.critical_share),
        summary=(
            f"Each step waits {duration(waiting.exposed_seconds)} of"
            f" {duration(waiting.step_seconds)} for its batch"
            f" ({percent(waiting.exposed_share)}){waiting.hidden_words}."
        ),
        evidence=(*_evidence(waiting, limits), *trials.evidence()),
        recommendations=(
            trials.recommendation(),
            Recommendation(
                "Prepare batches while the training step runs: load in worker processes"
                " and prefetch.",
                code=prefetch_line(framework, workers, 4),
            ),
        ),
        disproof=DISPROOF,
        gain=expected_gain(
            waiting.step_seconds,
            (trials.floor(waiting),),
        ),
        explains=("host-memory-is-unused", "gpu-utilization-is-low"),
        margin=margin_above(waiting.exposed_share, limits.notable_share),
        corroboration=(
            CONTRADICTED if gpu_disagrees else trials.corroboration(waiting)
        ),
    )


def _evidence(waiting: Waiting, limits: Limits) -> tuple[Evidence, ...]:
    return (
        waiting.evidence(limits.notable_share),
        Evidence(
            signal="data_wait_seconds",
            statistic="waiting for data, mean per step",
            value=waiting.seconds,
            unit="s",
        ),
        Evidence(
            signal="step_seconds",
            statistic="step time, mean",
            value=waiting.step_seconds,
            unit="s",
        ),
    )


def _is_starved(busiest: Samples, limits: Limits) -> bool:
    """Return whether a GPU works intermittently and its median load is low."""
    swing = percentile(busiest, 95) - percentile(busiest, 5)
    is_on_and_off = (
        swing > limits.min_swing_percent
        or float(np.mean(busiest.values < limits.idle_gpu_percent))
        >= limits.min_idle_readings
    )
    # A GPU that is always idle has no work, so it does not wait for data.
    works = percentile(busiest, 95) >= limits.idle_gpu_percent
    return typical(busiest) < limits.max_gpu_percent and is_on_and_off and works


def _likely_cause(
    job_cpu_cores: Samples | None,
    effective_cores: float | None,
    throttled: Samples | None,
    pressure: Samples | None,
    limits: Limits,
) -> _Cause | None:
    causes = []
    if job_cpu_cores is not None and effective_cores and effective_cores > 0:
        share = typical(job_cpu_cores) / effective_cores
        causes.append(
            _Cause(
                "job_cpu_cores",
                "CPU use of the job, median, share of its cores",
                share,
                limits.full_cpu_share,
                f"the job uses {percent(share)} of its cores",
            )
        )
    if throttled is not None:
        share = average(throttled.values)
        causes.append(
            _Cause(
                "cgroup_throttled_share",
                "throttled scheduler periods, mean share",
                share,
                limits.throttled_share,
                f"the CPU quota throttles the job in {percent(share)} of all periods",
            )
        )
    if pressure is not None:
        share = average(pressure.values)
        causes.append(
            _Cause(
                "io_pressure_share",
                "time stalled on storage, mean share",
                share,
                limits.pressure_share,
                f"tasks wait for storage {percent(share)} of the time",
            )
        )
    found = [cause for cause in causes if cause.value >= cause.limit]
    return max(found, key=lambda cause: cause.value / cause.limit, default=None)


def _guessed(busiest: Samples, cause: _Cause, limits: Limits) -> Finding:
    usual = typical(busiest)
    return Finding(
        title="The GPU probably waits for data",
        severity=Severity.WARNING,
        summary=(
            f"GPU utilization goes up and down with a median of {usual:.0f} %,"
            f" and {cause.words}. Steps are not timed, so this is a guess."
        ),
        evidence=(
            Evidence(
                "busiest_gpu_percent",
                "GPU utilization, median",
                usual,
                "%",
                limits.max_gpu_percent,
                Side.BELOW,
            ),
            Evidence(
                cause.signal,
                cause.statistic,
                cause.value,
                "share",
                cause.limit,
                Side.ABOVE,
            ),
        ),
        recommendations=(
            Recommendation(
                "Time the steps and their waits, so that the rules about loading can"
                " find the cause.",
                code=LOADER,
            ),
        ),
        disproof=(
            "Time the steps: if they do not wait for batches, the pauses of the GPU have"
            " another cause."
        ),
        explains=("gpu-utilization-is-low",),
        quality=COARSE,
        margin=margin_below(usual, limits.max_gpu_percent),
        corroboration=ALONE,
    )
