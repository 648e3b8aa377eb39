"""One CPU core does all the work.

## Detection
A training process that uses about one core, while the job's other cores and the GPU are partly
idle, and time is lost outside of the model: in waits for batches of the workers, or in steps
between the computing phases.
With or without a GPU: steps that wait for data while threads of the training process other
than its main thread use about one core together. Without step times: at least half of the samples of
the code profile in waits for other threads that use about one core.

## Why it matters
Python runs one thread at a time. Collating, metrics and logging in the main thread, or loading
threads, then share one core; an average over all cores hides this.

## Limitations
A process that waits for its GPU also keeps a core busy, so the GPU must be idle for much of
the time.
A script that starts very many small kernels looks similar; its time is lost within the phases
`forward` and `backward`. Without these phases, the rule does not judge.
A training process that loads data itself belongs to the rule about too few loader workers. A
single prefetch thread also keeps one core busy; processes are the fix for both.

Catalogue: D5, one core or interpreter lock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import (
    average,
    margin_above,
    margin_towards,
    typical,
)
from tracker.diagnosis.breakdown.outside import outside_seconds
from tracker.diagnosis.breakdown.phases import PhaseKind, kind_of_phase, seconds_of_kind
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.speedup import Floor, expected_gain, gain_of_share
from tracker.diagnosis.engine.wording import cores, duration, percent
from tracker.diagnosis.input.activities import share_of_waits_for_threads
from tracker.diagnosis.input.loader_threads import find_threads, share_one_core
from tracker.diagnosis.input.waiting import Waiting, measure_waiting
from tracker.diagnosis.signals import Array, Fact, Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # Share of one core used by the training process.
    busy_cores: float = 0.90
    busy_release_cores: float = 0.80
    # A process that uses more has threads that run in parallel.
    max_cores: float = 1.30
    # Share of all other cores of the job.
    max_of_other_cores: float = 0.30
    max_gpu_percent: float = 70.0

    # Share of step time outside of the model.
    lost_share: float = 0.10
    lost_release_share: float = 0.07
    critical_share: float = 0.20

    fewest_cores: float = 2.0
    # Share of the time of the training thread, from its profile.
    waits_for_threads: float = 0.50


@dataclass(frozen=True, slots=True)
class _Host:
    main_cores: float
    other_share: float  # of the job's other cores
    effective_cores: float
    gpu_percent: float
    waiting: Waiting
    waited_share: float  # for batches of loader workers
    outside_share: float | None  # of step time, in no phase and not waiting

    @property
    def lost_share(self) -> float:
        return min(1.0, self.waited_share + (self.outside_share or 0.0))


def check(
    *,
    step_seconds: Array,
    data_wait_seconds: Array,
    job_cpu_cores: Samples,
    job_main_cpu_cores: Samples,
    effective_cores: float,
    busiest_gpu_percent: Samples | None = None,
    gpus: Mapping[int, Mapping[str, Samples | Fact]] | None = None,
    job_main_thread_cpu_cores: Samples | None = None,
    loader_workers: float | None = None,
    job_workers: Samples | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    waiting = measure_waiting(step_seconds, data_wait_seconds, busiest_gpu_percent)
    if waiting is None or not effective_cores >= limits.fewest_cores:
        return None
    threads = find_threads(
        step_seconds,
        data_wait_seconds,
        effective_cores,
        job_main_cpu_cores,
        job_main_thread_cpu_cores,
        core_wait_share=job_main_thread_core_wait_share,
        loader_workers=loader_workers,
        busiest_gpu_percent=busiest_gpu_percent,
        framework=framework,
        already_open=already_open,
    )
    if threads or not gpus or busiest_gpu_percent is None:
        return threads
    main = typical(job_main_cpu_cores)
    if job_main_thread_cpu_cores is not None and main > limits.max_cores:
        main = typical(job_main_thread_cpu_cores)
    others = max(0.0, typical(job_cpu_cores) - main) / (effective_cores - 1.0)
    gpu_percent = typical(busiest_gpu_percent)
    busy = limits.busy_release_cores if already_open else limits.busy_cores
    if not (
        busy <= main <= limits.max_cores
        and others < limits.max_of_other_cores
        and gpu_percent < limits.max_gpu_percent
    ):
        return None

    workers = loader_workers
    if workers is None and job_workers is not None:
        workers = typical(job_workers)
    host = _Host(
        main,
        others,
        effective_cores,
        gpu_percent,
        waiting,
        waited_share=waiting.exposed_share if workers else 0.0,
        outside_share=_outside(step_seconds, data_wait_seconds, phase_seconds),
    )
    if host.lost_share < (
        limits.lost_release_share if already_open else limits.lost_share
    ):
        # Waits belong to another rule; the cause of the remaining time is unknown.
        is_known = host.outside_share is not None or waiting.is_notable(
            already_open=already_open
        )
        return None if is_known else Abstention(("phase_seconds",))
    return _finding(host, limits)


def check_profile(
    code_profile: str,
    job_cpu_cores: Samples,
    job_main_cpu_cores: Samples,
    job_main_thread_cpu_cores: Samples,
    effective_cores: float,
    *,
    job_main_thread_core_wait_share: Samples | None = None,
    busiest_gpu_percent: Samples | None = None,
    limits: Limits = Limits(),
) -> Answer:
    waits = share_of_waits_for_threads(code_profile)
    if waits is None:
        return Abstention(("code_profile",))
    # Threads beside a busy GPU may prepare its next work in time.
    if busiest_gpu_percent is not None:
        waits = min(waits, 1.0 - average(busiest_gpu_percent.values) / 100)
    main = typical(job_main_cpu_cores)
    others = typical(job_cpu_cores) - main
    if (
        waits < limits.waits_for_threads
        or others >= limits.max_of_other_cores
        or not effective_cores >= limits.fewest_cores
        or not share_one_core(
            main,
            typical(job_main_thread_cpu_cores),
            job_main_thread_core_wait_share,
        )
    ):
        return None
    return Finding(
        title="Threads share one core",
        severity=Severity.CRITICAL,
        summary=(
            f"The training thread waits {percent(waits)} of its time for other threads,"
            f" which use {cores(main)} of {effective_cores:g} together: Python runs one of"
            " them at a time."
        ),
        evidence=(
            Evidence(
                "code_profile",
                "samples in waits for other threads, share",
                waits,
                "share",
                limits.waits_for_threads,
                Side.ABOVE,
            ),
            Evidence(
                "job_main_cpu_cores",
                "CPU cores in use by the main process, median",
                main,
                "cores",
            ),
        ),
        recommendations=(
            Recommendation(
                "Use processes instead of threads for Python code that computes.",
                current="threads",
                suggested=f"{int(effective_cores)} processes",
                code="concurrent.futures.ProcessPoolExecutor()",
            ),
            Recommendation(
                "Or do the work of the threads in code that releases the global interpreter"
                " lock (GIL), such as operations on whole arrays."
            ),
        ),
        disproof=(
            "Use a single thread: if the work takes as long as now, the threads ran one"
            " after the other."
        ),
        gain=gain_of_share(
            waits * (1.0 - 1.0 / effective_cores), "Waiting for threads that take turns"
        ),
        explains=("gpu-utilization-is-low", "gpu-and-cpu-are-both-idle"),
        quality=SAMPLED,
        margin=margin_above(waits, limits.waits_for_threads),
        corroboration=AGREEING,
    )


def _outside(
    seconds: Array, waits: Array, phases: Mapping[str, Array] | None
) -> float | None:
    """Return the share of time in no phase; None if the model's phases are not timed."""
    computing = [
        seconds_of_kind(phases or {}, kind)
        for kind in (PhaseKind.FORWARD, PhaseKind.BACKWARD)
    ]
    if any(found is None for found in computing):
        return None
    # Logging and metrics are not work of the model.
    timed = {
        name: phase
        for name, phase in (phases or {}).items()
        if kind_of_phase(name) is not PhaseKind.LOG
    }
    return float(outside_seconds(seconds, waits, timed).sum() / seconds.sum())


def _finding(host: _Host, limits: Limits) -> Finding:
    waiting = host.waiting
    is_critical = host.lost_share >= limits.critical_share
    lost = host.lost_share * waiting.step_seconds
    return Finding(
        severity=Severity.CRITICAL if is_critical else Severity.WARNING,
        summary=(
            f"The main process uses {cores(host.main_cores)} of"
            f" {host.effective_cores:g}, the others are"
            f" {percent(host.other_share)} busy, GPU utilization is"
            f" {host.gpu_percent:.0f} %, and {duration(lost)} of each"
            f" {duration(waiting.step_seconds)} step pass outside the model."
        ),
        evidence=_evidence(host, limits),
        recommendations=(
            Recommendation(
                "Move work out of the main thread: collate and augment in the loader's"
                " workers, compute metrics on the GPU, log every 50th step.",
                code='with run.phase("log"):  # times the suspected code',
            ),
            Recommendation(
                "Use processes instead of threads for Python code that computes; in"
                " reinforcement learning, run environments in separate processes.",
                current=f"{cores(host.main_cores)} busy",
                suggested=f"up to {cores(host.effective_cores)}",
            ),
            Recommendation(
                "Replace loops over examples with operations on whole arrays."
            ),
        ),
        disproof=(
            "Look at the main thread with `py-spy top`: if it spends its time within"
            " forward and backward, small kernels are the limit and not the host's work."
        ),
        gain=expected_gain(
            waiting.step_seconds,
            (Floor(waiting.step_seconds - lost, "the time within the model's phases"),),
        ),
        explains=_explained(host),
        quality=SAMPLED,
        margin=margin_towards(min(host.main_cores, 1.0), limits.busy_cores, 1.0),
        corroboration=AGREEING if host.outside_share is not None else ALONE,
    )


def _explained(host: _Host) -> tuple[str, ...]:
    """Return the symptoms of this finding: waits for data, or time in no phase."""
    if host.waited_share >= host.lost_share / 2:
        return ("preprocessing-is-cpu-bound", "data-wait-dominates")
    return ("step-time-is-in-no-phase",)


def _evidence(host: _Host, limits: Limits) -> tuple[Evidence, ...]:
    found = [
        Evidence(
            "job_main_cpu_cores",
            f"CPU cores in use by the main process, median, of {host.effective_cores:g}",
            host.main_cores,
            "cores",
            limits.busy_cores,
            Side.ABOVE,
            release=limits.busy_release_cores,
        ),
        Evidence(
            "job_cpu_cores",
            "other cores in use, share",
            host.other_share,
            "share",
            limits.max_of_other_cores,
            Side.BELOW,
        ),
        Evidence(
            "busiest_gpu_percent",
            "GPU utilization, median",
            host.gpu_percent,
            "%",
            limits.max_gpu_percent,
            Side.BELOW,
        ),
        Evidence(
            "data_wait_seconds",
            "waiting for data, share of step time",
            host.waiting.share,
            "share",
        ),
    ]
    if host.outside_share is not None:
        found.append(
            Evidence(
                "phase_seconds",
                "step time outside the phases of the model, share",
                host.outside_share,
                "share",
                limits.lost_share,
                Side.ABOVE,
                release=limits.lost_release_share,
            )
        )
    return tuple(found)
