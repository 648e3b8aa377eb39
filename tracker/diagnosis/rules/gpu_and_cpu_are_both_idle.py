"""GPU and CPU are both idle.

## Detection
GPU utilization below half and CPU use below 40 % of the cores, in steps that do not wait for
data. The rule checks each possible cause: storage, the CPU quota, other jobs, one busy
thread, copies, communication, logging.

## Why it matters
If no resource is busy, the work waits for something else: a thread, another machine, a lock.
A faster GPU or more cores would wait as well.

## Limitations
A service with few requests is idle for a good reason; stages with request phases are
excluded. A very small model cannot keep a GPU busy.

Catalogue: C2, GPU low and CPU low.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import margin_below, typical, typical_or_none
from tracker.diagnosis.breakdown.phases import PhaseKind, seconds_of_kind
from tracker.diagnosis.engine.finding import (
    AGREEING,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.frameworks import compile_line
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import cores, percent
from tracker.diagnosis.hardware.gpu_work import takes_part
from tracker.diagnosis.input.waiting import NOTABLE_SHARE, Waiting, measure_waiting
from tracker.diagnosis.signals import Array, Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    notable_share: float = NOTABLE_SHARE

    idle_gpu_percent: float = 50.0
    idle_gpu_release_percent: float = 55.0
    idle_cpu_share: float = 0.40
    idle_cpu_release_share: float = 0.45

    # From these limits on, a resource is a possible cause.
    storage_pressure_share: float = 0.20
    throttled_share: float = 0.10
    core_wait_share: float = 0.10
    busy_thread_cores: float = 0.80
    copy_share: float = 0.05
    communication_share: float = 0.10
    logging_share: float = 0.03


@dataclass(frozen=True, slots=True)
class _Suspect:
    """One possible cause of the idleness; `value` is None if it was not measured."""

    name: str
    signal: str
    statistic: str
    value: float | None
    unit: str
    limit: float
    cure: str
    code: str = ""

    @property
    def is_guilty(self) -> bool:
        return self.value is not None and self.value >= self.limit

    def evidence(self) -> tuple[Evidence, ...]:
        if self.value is None:
            return ()
        return (
            Evidence(
                self.signal,
                self.statistic,
                self.value,
                self.unit,
                self.limit,
                Side.ABOVE,
            ),
        )


@dataclass(frozen=True, slots=True)
class _Idleness:
    gpu_percent: float
    cores: float
    effective_cores: float
    quality: float

    @property
    def cpu_share(self) -> float:
        return self.cores / self.effective_cores


def check(
    step_seconds: Array,
    data_wait_seconds: Array,
    gpu_utilization_percent: Samples,
    job_cpu_cores: Samples,
    effective_cores: float,
    *,
    busiest_gpu_percent: Samples | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    io_pressure_share: Samples | None = None,
    cgroup_throttled_share: Samples | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
    job_main_thread_cpu_cores: Samples | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if not effective_cores > 0:
        return Abstention(("effective_cores",))
    waiting = measure_waiting(step_seconds, data_wait_seconds, busiest_gpu_percent)
    phases = phase_seconds or {}
    serves = seconds_of_kind(phases, PhaseKind.REQUEST) is not None
    if waiting is None or waiting.share >= limits.notable_share or serves:
        return None

    idle = _Idleness(
        gpu_percent=typical(gpu_utilization_percent),
        cores=typical(job_cpu_cores),
        effective_cores=effective_cores,
        quality=min(gpu_utilization_percent.quality, job_cpu_cores.quality),
    )
    gpu_limit = (
        limits.idle_gpu_release_percent if already_open else limits.idle_gpu_percent
    )
    cpu_limit = limits.idle_cpu_release_share if already_open else limits.idle_cpu_share
    if not takes_part(gpu_utilization_percent) or not (
        idle.gpu_percent < gpu_limit and idle.cpu_share < cpu_limit
    ):
        return None

    suspects = (
        _the_data(waiting, limits),
        *_of_the_machine(
            io_pressure_share,
            cgroup_throttled_share,
            job_main_thread_core_wait_share,
            job_main_thread_cpu_cores,
            framework,
            limits=limits,
        ),
        *_of_the_loop(step_seconds, phases, limits),
    )
    return _finding(idle, waiting, suspects, limits)


def _finding(
    idle: _Idleness, waiting: Waiting, suspects: tuple[_Suspect, ...], limits: Limits
) -> Finding:
    busy = idle.gpu_percent
    return Finding(
        severity=Severity.WARNING,
        summary=_summary(idle, suspects),
        evidence=(
            Evidence(
                "gpu_utilization_percent",
                "GPU utilization, median",
                busy,
                "%",
                limits.idle_gpu_percent,
                Side.BELOW,
                release=limits.idle_gpu_release_percent,
            ),
            Evidence(
                "job_cpu_cores",
                "CPU use of the job, median, share of its cores",
                idle.cpu_share,
                "share",
                limits.idle_cpu_share,
                Side.BELOW,
                release=limits.idle_cpu_release_share,
            ),
            *(evidence for suspect in suspects for evidence in suspect.evidence()),
        ),
        recommendations=_recommendations(suspects),
        disproof=(
            "Look at the stack of the main thread ten times in a minute: if it computes"
            " in another place each time, nothing blocks it."
        ),
        gain=expected_gain(
            waiting.step_seconds,
            (Floor(waiting.step_seconds * busy / 100, "the GPU's own work"),),
        ),
        explains=("gpu-utilization-is-low",),
        comes_after=("data-wait-dominates",),
        quality=idle.quality,
        margin=min(
            margin_below(busy, limits.idle_gpu_percent),
            margin_below(idle.cpu_share, limits.idle_cpu_share),
        ),
        corroboration=AGREEING,
    )


def _the_data(waiting: Waiting, limits: Limits) -> _Suspect:
    return _Suspect(
        "the data",
        "data_wait_seconds",
        "waiting for data, share of step time",
        waiting.share,
        "share",
        limits.notable_share,
        "",
    )


def _of_the_machine(
    io_pressure_share: Samples | None,
    cgroup_throttled_share: Samples | None,
    job_main_thread_core_wait_share: Samples | None,
    job_main_thread_cpu_cores: Samples | None,
    framework: str | None,
    *,
    limits: Limits,
) -> tuple[_Suspect, ...]:
    return (
        _Suspect(
            "storage",
            "io_pressure_share",
            "time stalled on storage, median share",
            typical_or_none(io_pressure_share),
            "share",
            limits.storage_pressure_share,
            "Move reads and writes of the step to a background thread or prefetch them.",
        ),
        _Suspect(
            "the CPU quota",
            "cgroup_throttled_share",
            "throttled scheduler periods, median share",
            typical_or_none(cgroup_throttled_share),
            "share",
            limits.throttled_share,
            "Raise the container's CPU quota, or use fewer threads.",
        ),
        _Suspect(
            "a lack of free cores",
            "job_main_thread_core_wait_share",
            "time of the main thread without a core, median share",
            typical_or_none(job_main_thread_core_wait_share),
            "share",
            limits.core_wait_share,
            "Leave a core to the main thread: fewer workers, or fewer other jobs.",
        ),
        _Suspect(
            "a busy main thread",
            "job_main_thread_cpu_cores",
            "CPU use of the main thread, median",
            typical_or_none(job_main_thread_cpu_cores),
            "cores",
            limits.busy_thread_cores,
            "Take work off the main thread: compile the model, use larger batches.",
            compile_line(framework),
        ),
    )


def _of_the_loop(
    step_seconds: Array, phases: Mapping[str, Array], limits: Limits
) -> tuple[_Suspect, ...]:
    def share(kind: PhaseKind) -> float | None:
        seconds = seconds_of_kind(phases, kind)
        return None if seconds is None else float(seconds.sum() / step_seconds.sum())

    return (
        _Suspect(
            "copies to the GPU",
            "phase_seconds",
            "copies, share of step time",
            share(PhaseKind.COPY),
            "share",
            limits.copy_share,
            "Copy from pinned memory, without waiting for the copy.",
        ),
        _Suspect(
            "communication",
            "phase_seconds",
            "communication, share of step time",
            share(PhaseKind.COMMUNICATE),
            "share",
            limits.communication_share,
            "Overlap communication with computation, and communicate less often.",
        ),
        _Suspect(
            "logging",
            "phase_seconds",
            "logging, share of step time",
            share(PhaseKind.LOG),
            "share",
            limits.logging_share,
            "Log every few steps instead of in each step.",
        ),
    )


def _summary(idle: _Idleness, suspects: tuple[_Suspect, ...]) -> str:
    guilty = [suspect.name for suspect in suspects if suspect.is_guilty]
    cleared = [
        suspect.name
        for suspect in suspects
        if suspect.value is not None and not suspect.is_guilty
    ]
    said = (
        f"Possible cause: {_listed(guilty)}."
        if guilty
        else f"The cause is not {_listed(cleared, last='or')}."
    )
    return (
        f"GPU utilization is {idle.gpu_percent:.0f} %, and the job uses"
        f" {cores(idle.cores)} of {idle.effective_cores:g} ({percent(idle.cpu_share)})."
        f" {said}"
    )


def _listed(names: list[str], *, last: str = "and") -> str:
    *first, end = names
    return f"{', '.join(first)} {last} {end}" if first else end


def _recommendations(suspects: tuple[_Suspect, ...]) -> tuple[Recommendation, ...]:
    cures = tuple(
        Recommendation(suspect.cure, code=suspect.code)
        for suspect in suspects
        if suspect.is_guilty
    )
    return cures or (
        Recommendation(
            "Find the cause of the main thread's waits: a lock, a network response,"
            " another process. A sampling profiler shows its stack.",
            code="py-spy dump --pid <process>",
        ),
        Recommendation(
            "If the model is small, try a larger batch; or train it on the CPU, which"
            " may be enough."
        ),
    )
