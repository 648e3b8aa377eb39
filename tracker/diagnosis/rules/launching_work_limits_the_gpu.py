"""GPU is launch-bound: the CPU issues kernels too slowly.

## Detection
A main thread that uses at least 80 % of a core, or that alternates with another thread of its
process, such as PyTorch's backward thread. Also a GPU with gaps: SM activity below half, or,
without that counter, utilization below 85 %. Steps that wait for data are excluded, and
PyTorch jobs with less than 30 % of the code profile in the model and its optimizer.
Without step times: the same between the first and the last logged loss, with at least 70 % of
the code profile in the model, its backward pass and its optimizer.

## Why it matters
Python launches small kernels one after the other. If a kernel ends before the next one is
launched, Python limits the speed of the GPU.

## Limitations
A thread that waits for a GPU result looks as busy as one that computes. The GPU works
meanwhile, so its utilization has no gaps. Without a profile, other work of the training
process, such as augmentation in the main thread, looks the same.
Threads that each compute part of the time, but do not alternate, also look the same.

Catalogue: C8, launch and Python overhead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tracker.diagnosis.analysis.statistics import (
    margin_below,
    margin_towards,
    typical,
    typical_or_none,
)
from tracker.diagnosis.breakdown.phases import PhaseKind, seconds_of_kind
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    CONTRADICTED,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Gain,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.frameworks import (
    ON_PYTORCH,
    batch_size_line,
    compile_line,
    fused_optimizer_line,
)
from tracker.diagnosis.engine.speedup import Floor, expected_gain, gain_of_share
from tracker.diagnosis.engine.wording import percent
from tracker.diagnosis.hardware.gpu_work import takes_part
from tracker.diagnosis.input.activities import (
    CODE_PROFILE,
    MOSTLY_IN,
    Launches,
    find_launches,
)
from tracker.diagnosis.input.waiting import NOTABLE_SHARE, measure_waiting
from tracker.diagnosis.signals import Array, Samples, Tracked

_THREAD, _PROCESS = "job_main_thread_cpu_cores", "job_main_cpu_cores"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    notable_share: float = NOTABLE_SHARE

    busy_thread_cores: float = 0.80
    busy_thread_release_cores: float = 0.70

    # Threads that alternate use at most one core together, apart from other threads of
    # the process.
    min_of_main_thread_cores: float = 0.30
    max_of_process_cores: float = 1.10
    max_of_process_release_cores: float = 1.20
    # Share of a step, if phases are named; without a backward pass no thread alternates.
    backward_share: float = 0.10

    low_sm_percent: float = 50.0
    low_sm_release_percent: float = 55.0
    gaps_below_percent: float = 85.0
    gaps_below_release_percent: float = 90.0
    # A GPU without gaps does not wait for launches.
    no_gaps_percent: float = 95.0

    # Share of step time outside of named phases.
    notable_residual_share: float = 0.10

    # Share of the samples in which PyTorch issues work.
    launching_share: float = 0.70
    # With less, the thread does something else.
    fewest_launches_share: float = 0.30
    # Between logged losses, one per second; fewer may be a few batches only.
    fewest_readings: int = 5


@dataclass(frozen=True, slots=True)
class _Work:
    signal: str  # of `thread`
    thread: float  # cores
    is_inferred: bool  # that threads alternate, without a phase that proves it
    busy: float
    sm: float | None
    residual: float | None
    limits: Limits

    def has_gaps(self, *, already_open: bool) -> bool:
        if self.sm is not None:
            return self.sm < (
                self.limits.low_sm_release_percent
                if already_open
                else self.limits.low_sm_percent
            )
        enter, leave = (
            self.limits.gaps_below_percent,
            self.limits.gaps_below_release_percent,
        )
        return self.busy < (leave if already_open else enter)

    @property
    def margin(self) -> float:
        thread = margin_towards(self.thread, self.limits.busy_thread_cores, 1.0)
        if self.sm is not None:
            return min(thread, margin_below(self.sm, self.limits.low_sm_percent))
        return min(thread, margin_below(self.busy, self.limits.gaps_below_percent))

    @property
    def corroboration(self) -> float:
        if self.busy >= self.limits.no_gaps_percent:
            return CONTRADICTED
        if self.is_inferred:
            return ALONE
        both = self.sm is not None and self.busy < self.limits.gaps_below_percent
        outside = (self.residual or 0.0) >= self.limits.notable_residual_share
        return AGREEING if both or outside else ALONE


def check(
    step_seconds: Array,
    data_wait_seconds: Array,
    gpu_utilization_percent: Samples,
    job_main_thread_cpu_cores: Samples,
    *,
    job_main_cpu_cores: Samples | None = None,
    gpu_sm_active_percent: Samples | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    model_is_compiled: float | None = None,
    optimizer_is_fused: float | None = None,
    batch_size: float | None = None,
    framework: str | None = None,
    code_profile: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    waiting = measure_waiting(step_seconds, data_wait_seconds)
    if waiting is None or waiting.share >= limits.notable_share:
        return None
    if not takes_part(gpu_utilization_percent):
        return None
    launches = _launches(code_profile, framework)
    if launches and launches.share < limits.fewest_launches_share:
        return None

    backward = _backward_share(step_seconds, phase_seconds)
    signal, cores = _busy_cores(
        job_main_thread_cpu_cores,
        job_main_cpu_cores,
        backward,
        already_open=already_open,
        limits=limits,
    )
    work = _Work(
        signal=signal,
        thread=typical(cores),
        is_inferred=signal == _PROCESS and backward is None,
        busy=typical(gpu_utilization_percent),
        sm=typical_or_none(gpu_sm_active_percent),
        residual=_residual(step_seconds, data_wait_seconds, phase_seconds),
        limits=limits,
    )
    limit = (
        limits.busy_thread_release_cores if already_open else limits.busy_thread_cores
    )
    if work.thread < limit or not work.has_gaps(already_open=already_open):
        return None
    return Finding(
        severity=Severity.WARNING,
        summary=_summary(work),
        evidence=_evidence(work, waiting.share, limits),
        recommendations=_recommendations(
            model_is_compiled, optimizer_is_fused, batch_size, framework
        ),
        disproof=_DISPROOF,
        gain=_gain(waiting.step_seconds, work, limits),
        explains=_EXPLAINS,
        comes_after=_COMES_AFTER,
        quality=min(gpu_utilization_percent.quality, cores.quality),
        margin=work.margin,
        corroboration=work.corroboration,
    )


def check_profile(
    code_profile: str,
    losses: Mapping[str, Tracked],
    gpu_utilization_percent: Samples,
    job_main_thread_cpu_cores: Samples,
    *,
    job_main_cpu_cores: Samples | None = None,
    gpu_sm_active_percent: Samples | None = None,
    model_is_compiled: float | None = None,
    optimizer_is_fused: float | None = None,
    batch_size: float | None = None,
    framework: str | None = None,
    limits: Limits = Limits(),
) -> Answer:
    launches = _launches(code_profile, framework)
    utilization = _in_training(gpu_utilization_percent, losses, limits)
    thread = _in_training(job_main_thread_cpu_cores, losses, limits)
    if launches is None or utilization is None or thread is None:
        return Abstention((CODE_PROFILE,))
    if launches.least < limits.launching_share or not takes_part(utilization):
        return None
    signal, cores = _busy_cores(
        thread,
        _in_training(job_main_cpu_cores, losses, limits),
        launches.backward_share,
        already_open=False,
        limits=limits,
    )
    work = _Work(
        signal=signal,
        thread=typical(cores),
        is_inferred=False,
        busy=typical(utilization),
        sm=typical_or_none(_in_training(gpu_sm_active_percent, losses, limits)),
        residual=None,
        limits=limits,
    )
    if work.thread < limits.busy_thread_cores or not work.has_gaps(already_open=False):
        return None
    return Finding(
        severity=Severity.WARNING,
        summary=(
            f"{_summary(work)} For {percent(launches.share)} of training, the"
            f" training thread issues work of the model{MOSTLY_IN}{launches.place}."
        ),
        evidence=(
            *_evidence(work, None, limits),
            Evidence(
                CODE_PROFILE,
                "samples in the model and its optimizer, share",
                launches.share,
                "share",
                limits.launching_share,
                Side.ABOVE,
            ),
        ),
        recommendations=_recommendations(
            model_is_compiled, optimizer_is_fused, batch_size, framework
        ),
        disproof=_DISPROOF,
        gain=gain_of_share(1.0 - work.busy / 100, "Waiting between kernels"),
        explains=_EXPLAINS,
        comes_after=_COMES_AFTER,
        quality=min(SAMPLED, gpu_utilization_percent.quality),
        margin=work.margin,
        corroboration=work.corroboration,
    )


_EXPLAINS = (
    "gpu-and-cpu-are-both-idle",
    "gpu-is-busy-with-little-work",
    "gpu-utilization-is-low",
    "gpu-reaches-little-of-its-peak",
)
_COMES_AFTER = ("data-wait-dominates", "copies-to-the-gpu-take-long")
_DISPROOF = (
    "Train a few hundred steps with twice the batch: if they take twice as long, the GPU"
    " is the limit and not the kernel launches."
)


def _launches(code_profile: str | None, framework: str | None) -> Launches | None:
    """Return the part of training in which PyTorch issues work; None if it is unknown."""
    # The profile does not show the launches of other frameworks.
    if code_profile is None or framework not in (None, *ON_PYTORCH):
        return None
    return find_launches(code_profile)


def _in_training(
    samples: Samples | None, losses: Mapping[str, Tracked], limits: Limits
) -> Samples | None:
    """Return the samples between logged losses; None if they are too few.

    The profile does not cover the time before.
    """
    logged = [loss.times for loss in losses.values() if len(loss.times)]
    if samples is None or not logged:
        return None
    first, last = min(map(np.min, logged)), max(map(np.max, logged))
    inside = (samples.times > first) & (samples.times <= last)
    if inside.sum() < limits.fewest_readings:
        return None
    return replace(samples, times=samples.times[inside], values=samples.values[inside])


def _summary(work: _Work) -> str:
    sm = "" if work.sm is None else f" with {work.sm:.0f} % SM activity"
    return (
        f"{_who(work)} {min(1.0, work.thread):.2f} of a core, and GPU utilization is"
        f" {work.busy:.0f} %{sm}: the GPU waits for its next kernel."
    )


def _who(work: _Work) -> str:
    if work.signal == _THREAD:
        return "The main thread uses"
    return "The threads of the main process together use"


def _busy_cores(
    thread: Samples,
    process: Samples | None,
    backward_share: float | None,
    *,
    already_open: bool,
    limits: Limits,
) -> tuple[str, Samples]:
    """Return the signal of the busy thread or process, and its samples in cores."""
    if process is None or typical(thread) >= limits.busy_thread_cores:
        return _THREAD, thread
    most = (
        limits.max_of_process_release_cores
        if already_open
        else limits.max_of_process_cores
    )
    take_turns = (
        typical(thread) >= limits.min_of_main_thread_cores
        and typical(process) <= most
        and (backward_share is None or backward_share >= limits.backward_share)
    )
    return (_PROCESS, process) if take_turns else (_THREAD, thread)


def _backward_share(
    step_seconds: Array, phase_seconds: Mapping[str, Array] | None
) -> float | None:
    """Return the backward pass's share of step time; None without phases."""
    if not phase_seconds:
        return None
    found = seconds_of_kind(phase_seconds, PhaseKind.BACKWARD)
    return 0.0 if found is None else float(np.nansum(found) / step_seconds.sum())


def _residual(
    step_seconds: Array,
    data_wait_seconds: Array,
    phase_seconds: Mapping[str, Array] | None,
) -> float | None:
    """Return the share of time in no phase; None without phases."""
    if not phase_seconds:
        return None
    named = np.sum([*phase_seconds.values()], axis=0) + data_wait_seconds
    return max(0.0, 1.0 - float(named.sum() / step_seconds.sum()))


def _gain(step_seconds: float, work: _Work, limits: Limits) -> Gain | None:
    if work.busy >= limits.no_gaps_percent:
        # For a busy GPU, the share of idle multiprocessors is unknown.
        return None
    return expected_gain(
        step_seconds, (Floor(step_seconds * work.busy / 100, "the GPU's own work"),)
    )


def _evidence(
    work: _Work, wait_share: float | None, limits: Limits
) -> tuple[Evidence, ...]:
    evidence = [
        Evidence(
            work.signal,
            f"CPU use of the main {'thread' if work.signal == _THREAD else 'process'}, median",
            work.thread,
            "cores",
            limits.busy_thread_cores,
            Side.ABOVE,
            release=limits.busy_thread_release_cores,
        ),
        Evidence(
            "gpu_utilization_percent",
            "GPU utilization, median",
            work.busy,
            "%",
            limits.gaps_below_percent,
            Side.BELOW,
            release=limits.gaps_below_release_percent,
        ),
    ]
    if wait_share is not None:
        evidence.append(
            Evidence(
                "data_wait_seconds",
                "waiting for data, share of step time",
                wait_share,
                "share",
                limits.notable_share,
                Side.BELOW,
            )
        )
    if work.sm is not None:
        evidence.append(
            Evidence(
                "gpu_sm_active_percent",
                "SM activity, median",
                work.sm,
                "%",
                limits.low_sm_percent,
                Side.BELOW,
                release=limits.low_sm_release_percent,
            )
        )
    if work.residual is not None:
        evidence.append(
            Evidence(
                "phase_seconds",
                "step time in no phase, share",
                work.residual,
                "share",
                limits.notable_residual_share,
                Side.ABOVE,
            )
        )
    return tuple(evidence)


def _recommendations(
    model_is_compiled: float | None,
    optimizer_is_fused: float | None,
    batch_size: float | None,
    framework: str | None,
) -> tuple[Recommendation, ...]:
    recommendations = []
    if model_is_compiled:
        recommendations.append(
            Recommendation(
                "The model is already compiled: capture its step into a CUDA graph, so"
                " that one launch starts all its kernels.",
                code=compile_line(framework),
            )
        )
    else:
        recommendations.append(
            Recommendation(
                "Compile the model, so that one launch starts many kernels. Keep the"
                " batch shapes constant: each new shape is compiled again.",
                code=compile_line(framework),
            )
        )
    if not optimizer_is_fused and framework in (None, "pytorch"):
        recommendations.append(
            Recommendation(
                "Update all parameters in one kernel: use a fused optimizer.",
                code=fused_optimizer_line(framework),
            )
        )
    double = f"{2 * batch_size:g}" if batch_size else "2 * batch_size"
    recommendations.append(
        Recommendation(
            "Try a larger batch: the same number of kernels does more work.",
            current=f"{batch_size:g}" if batch_size else "",
            suggested=double if batch_size else "twice as large",
            code=batch_size_line(framework, double),
        )
    )
    return tuple(recommendations)
