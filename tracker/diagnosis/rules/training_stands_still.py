"""Training is stuck.

## Detection
A running stage with current hardware samples but without a step for ten times the duration of
its slow steps, at least five minutes, and twice its longest phase between steps. Or a stage
that was killed or failed after such a time, at least 20 seconds. The activity of GPUs and CPU shows whether it
hangs in communication, in storage, or in a lock.

## Why it matters
It will not end by itself, and holds its GPUs until a user stops it.

## Limitations
A script with long work after its last step, or an open notebook, makes no steps either: finish
the run there. A GPU or a CPU with its usual load counts as an unnamed evaluation, and nothing
is reported.

Catalogue: T7, hang.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import margin_above, typical_or_none
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
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import cores, duration
from tracker.diagnosis.hardware.gpu_work import power_ratios
from tracker.diagnosis.signals import Array, Fact, Samples

SPAN = Span.STAGE

TOO_EARLY = "five minutes without a step"

# For a stage that did not end by itself; a finished stage may have had other work last.
ENDED_STATES = ("failed", "crashed", "preempted")

MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    slow_steps: float = 10.0  # times the 99th percentile
    fewest_seconds: float = 300.0
    # Idle time at the end of a stage that was stopped from outside.
    fewest_seconds_of_ended: float = 20.0
    late_seconds: float = 15.0
    longest_spans: float = 2.0

    # After this time without samples, the state of the process is unknown.
    silent_seconds: float = 90.0

    idle_gpu_percent: float = 10.0
    spinning_gpu_percent: float = 90.0
    low_power_ratio: float = 0.45
    idle_cpu_cores: float = 0.20
    storage_pressure_share: float = 0.50
    blocked_workers: float = 1.0


@dataclass(frozen=True, slots=True)
class _Hang:
    title: str
    how: str
    advice: Recommendation
    corroboration: float


@dataclass(frozen=True, slots=True)
class _Since:
    """Medians since the last step; None without samples."""

    cpu: float
    gpu: float | None  # the busiest
    power: float | None  # ratio of the GPU that works hardest
    blocked: float | None  # share of loader workers
    storage: float | None  # pressure


def check(
    step_seconds: Array,
    step_end_seconds: Array,
    job_cpu_cores: Samples,
    stage_state: str,
    *,
    silent_seconds: float | None = None,
    spans: Mapping[str, Samples] | None = None,
    busiest_gpu_percent: Samples | None = None,
    gpus: Mapping[int, Mapping[str, Samples | Fact]] | None = None,
    workers_blocked: Samples | None = None,
    io_full_pressure_share: Samples | None = None,
    world_size: float | None = None,
    limits: Limits = Limits(),
) -> Answer:
    has_ended = stage_state in ENDED_STATES
    if stage_state != "running" and not has_ended:
        return None
    if (
        not has_ended
        and silent_seconds is not None
        and silent_seconds >= limits.silent_seconds
    ):
        return Abstention(("samples of the last minute",))

    last = float(step_end_seconds[-1])
    waited = float(job_cpu_cores.times[-1]) / MICROSECONDS - last
    longest = max((float(s.values.max()) for s in (spans or {}).values()), default=0.0)
    slow = float(np.percentile(step_seconds, 99))
    limit = max(
        limits.slow_steps * slow,
        limits.fewest_seconds_of_ended if has_ended else limits.fewest_seconds,
        limits.longest_spans * longest,
    )
    if waited < max(
        limits.late_seconds, limits.slow_steps * slow, limits.longest_spans * longest
    ):
        return None
    since = _Since(
        cpu=_after(job_cpu_cores, last) or 0.0,
        gpu=_after(busiest_gpu_percent, last),
        power=_power(gpus or {}, last),
        blocked=_after(workers_blocked, last),
        storage=_after(io_full_pressure_share, last),
    )
    hang = _what_hangs(since, world_size, limits)
    if hang is None:
        return None
    if waited < limit:
        return Abstention((TOO_EARLY,))
    return _finding(hang, since, waited, limit, has_ended=has_ended, limits=limits)


def _after(samples: Samples | None, seconds: float) -> float | None:
    """Return the median of the samples after a time."""
    if samples is None:
        return None
    rows = samples.times > seconds * MICROSECONDS
    return typical_or_none(Samples(samples.times[rows], samples.values[rows]))


def _power(
    gpus: Mapping[int, Mapping[str, Samples | Fact]], last: float
) -> float | None:
    def samples(value: Samples | Fact | None) -> Samples | None:
        return value if isinstance(value, Samples) else None

    ratios = []
    for signals in gpus.values():
        at_start = signals.get("gpu_power_limit_at_start_watts")
        ratio = power_ratios(
            samples(signals.get("gpu_power_watts")),
            samples(signals.get("gpu_power_mean_watts")),
            samples(signals.get("gpu_power_limit_watts")),
            at_start if isinstance(at_start, int | float) else None,
        )
        ratios.append(_after(ratio, last))
    known = [ratio for ratio in ratios if ratio is not None]
    return max(known, default=None)


def _what_hangs(
    since: _Since, world_size: float | None, limits: Limits
) -> _Hang | None:
    if since.gpu is not None and since.gpu >= limits.spinning_gpu_percent:
        return _communication(since, world_size, limits)
    if since.gpu is not None and since.gpu >= limits.idle_gpu_percent:
        return None
    if (since.storage or 0.0) >= limits.storage_pressure_share or (
        (since.blocked or 0.0) >= limits.blocked_workers
    ):
        return _Hang(
            "Training is stuck on storage",
            "processes wait for storage",
            Recommendation(
                "Check the file system of the data and the checkpoints: a"
                " server that is down, an exhausted quota, a full disk.",
                code="df -h; dmesg | tail",
            ),
            ALONE if since.blocked is None or since.storage is None else AGREEING,
        )
    if since.cpu < limits.idle_cpu_cores:
        return _Hang(
            "",
            "GPU and CPU are idle" if since.gpu is not None else "the CPU is idle",
            Recommendation(
                "Look at the stack of each thread: most often two processes wait for"
                " each other, or for a message that never arrives. If training is done,"
                " finish the run.",
                code="py-spy dump --pid <process>",
            ),
            ALONE if since.gpu is None else AGREEING,
        )
    return None


def _communication(
    since: _Since, world_size: float | None, limits: Limits
) -> _Hang | None:
    """Return a hang in a collective; its kernel counts as busy but draws little power."""
    is_low = since.power is not None and since.power < limits.low_power_ratio
    if not is_low:
        return None
    alone = world_size is not None and world_size <= 1
    return _Hang(
        "GPUs are stuck in a collective operation",
        "the GPUs show utilization at low power, as if waiting for each other",
        Recommendation(
            "Find the process that did not join the last collective: it failed, or"
            " took another branch. Set a timeout for collectives.",
            code=(
                "torch.distributed.init_process_group(timeout=timedelta(minutes=10))"
            ),
        ),
        ALONE if alone else AGREEING,
    )


def _finding(
    hang: _Hang,
    since: _Since,
    waited: float,
    limit: float,
    *,
    has_ended: bool,
    limits: Limits,
) -> Finding:
    when = " before the stage ended" if has_ended else ""
    restart = (
        "Start from the last checkpoint, and watch the first steps."
        if has_ended
        else "If there is no progress, end the processes and start from the last checkpoint."
    )
    return Finding(
        title=hang.title,
        severity=Severity.CRITICAL,
        summary=(
            f"No step for {duration(waited)}{when}, and {hang.how}: the job uses"
            f" {cores(since.cpu)}."
        ),
        evidence=_evidence(since, waited, limit, limits),
        recommendations=(
            hang.advice,
            Recommendation(restart),
        ),
        disproof="Wait for as long again: if a step completes, it was slow and did not hang.",
        quality=SAMPLED,
        margin=margin_above(waited, limit),
        corroboration=hang.corroboration,
    )


def _evidence(
    since: _Since, waited: float, limit: float, limits: Limits
) -> tuple[Evidence, ...]:
    rows = (
        (
            "step_end_seconds",
            "time since the last step",
            waited,
            "s",
            limit,
            Side.ABOVE,
        ),
        (
            "job_cpu_cores",
            "CPU use since, median",
            since.cpu,
            "cores",
            limits.idle_cpu_cores,
            Side.BELOW,
        ),
        (
            "busiest_gpu_percent",
            "GPU utilization since, median",
            since.gpu,
            "%",
            limits.idle_gpu_percent,
            Side.BELOW,
        ),
        (
            "gpus",
            "GPU power since, from idle (0 %) to its limit (100 %)",
            since.power,
            "share",
            limits.low_power_ratio,
            Side.BELOW,
        ),
        (
            "workers_blocked",
            "workers blocked on storage since, median",
            since.blocked,
            "processes",
            limits.blocked_workers,
            Side.ABOVE,
        ),
        (
            "io_full_pressure_share",
            "time stalled on storage since, median share",
            since.storage,
            "share",
            limits.storage_pressure_share,
            Side.ABOVE,
        ),
    )
    return tuple(
        Evidence(signal, statistic, value, unit, line, side)
        for signal, statistic, value, unit, line, side in rows
        if value is not None
    )
