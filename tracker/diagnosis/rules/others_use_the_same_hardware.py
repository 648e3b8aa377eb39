"""Other jobs use the same hardware.

## Detection
Other processes that take at least 10 % of the time or the memory of a GPU of the job; a
virtual machine whose host takes its cores away; and other jobs that use at least 30 % of the
machine's cores while the job waits for a core for 10 % of its time.

## Why it matters
On shared hardware a run is slower than it could be, by a varying amount, and its measurements
are not comparable. It may run out of memory because of another job.

## Limitations
Sharing may be intended, as with MPS or several small jobs on a card.
In some containers the job's processes cannot be identified; nothing is reported then.
Several processes that train together count as other jobs on the CPU, so their cores are not
judged.
Other jobs on separate cores do no harm: their use alone is not a fault unless the job waits,
and a CPU quota causes waits, too.

Catalogue: H9, neighbor on the GPU or the CPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tracker.diagnosis.analysis.statistics import average, margin_above, typical
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    COARSE,
    SAMPLED,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.wording import cores, percent, size
from tracker.diagnosis.hardware.contention import is_crowded
from tracker.diagnosis.signals import Fact, Samples

# GPU evidence does not explain waits for a core.
GPU = ("gpu_other_sm_percent", "gpu_other_memory_bytes")
EXPLAINED = ("data-wait-dominates",)

Signals = Mapping[str, Samples | Fact]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    others_gpu_percent: float = 10.0
    others_gpu_release_percent: float = 7.0
    others_memory_share: float = 0.10
    others_cpu_share: float = 0.30
    others_cpu_release_share: float = 0.20
    stolen_percent: float = 30.0
    stolen_release_percent: float = 20.0

    # Share of time without a core from which on other jobs slow down this one.
    waiting_share: float = 0.10
    waiting_release_share: float = 0.07
    # Share of time above which these waits explain the waits for data.
    explaining_share: float = 0.35
    # Throttled at this share, the job waits because of its own quota.
    throttled_share: float = 0.05


@dataclass(frozen=True, slots=True)
class _Neighbor:
    text: str
    evidence: tuple[Evidence, ...]
    excess: float  # 1 at the limit
    quality: float
    is_on_gpu: bool


def check(
    job_cpu_cores: Samples,
    *,
    gpus: Mapping[int, Signals] | None = None,
    host_cpu_percent: Samples | None = None,
    host_cores: float | None = None,
    host_cpu_steal_percent: Samples | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
    worker_core_wait_share: Samples | None = None,
    cgroup_throttled_share: Samples | None = None,
    world_size: float | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    found = [
        neighbor
        for gpu, signals in sorted((gpus or {}).items())
        if (neighbor := _on_gpu(gpu, signals, already_open=already_open, limits=limits))
    ]
    stolen = _stolen(host_cpu_steal_percent, already_open=already_open, limits=limits)
    found += [stolen] if stolen else []

    waits = [
        average(samples.values)
        for samples in (job_main_thread_core_wait_share, worker_core_wait_share)
        if samples is not None
    ]
    is_throttled = (
        cgroup_throttled_share is not None
        and average(cgroup_throttled_share.values) >= limits.throttled_share
    )
    is_waiting = (
        max(waits)
        >= (limits.waiting_release_share if already_open else limits.waiting_share)
        if waits
        else is_crowded(job_cpu_cores, host_cpu_percent, host_cores)
    )
    # Other ranks are part of the job but not of its process tree.
    if is_waiting and not is_throttled and (world_size or 1) <= 1:
        others = _on_cpu(
            job_cpu_cores,
            host_cpu_percent,
            host_cores,
            already_open=already_open,
            limits=limits,
        )
        found += [others] if others else []
    if not found:
        return None
    said = _finding(found)
    lost = max(waits, default=0.0)
    if said.evidence[0].signal in GPU:
        return said
    if lost < limits.explaining_share:
        return said
    # The kernel measures the job's waits for a core, which is independent evidence.
    return replace(said, explains=EXPLAINED, corroboration=AGREEING)


def _on_gpu(
    gpu: int, signals: Signals, *, already_open: bool, limits: Limits
) -> _Neighbor | None:
    def median(name: str) -> float | None:
        samples = signals.get(name)
        return typical(samples) if isinstance(samples, Samples) else None

    processes, own = median("gpu_job_processes"), median("gpu_job_sm_percent")
    if not (processes or own):
        # Other processes on a card that the job does not use are irrelevant.
        return None
    others = median("gpu_other_sm_percent") or 0.0
    held = median("gpu_other_memory_bytes") or 0.0
    total = signals.get("gpu_memory_total_bytes")
    share = held / total if isinstance(total, float) and total > 0 else 0.0
    limit = (
        limits.others_gpu_release_percent if already_open else limits.others_gpu_percent
    )
    excess = max(others / limit, share / limits.others_memory_share)
    if not excess >= 1.0:
        return None
    return _Neighbor(
        _of_gpu(gpu, others, held, share),
        (
            Evidence(
                "gpu_other_sm_percent",
                f"use of GPU {gpu} by other processes, median",
                others,
                "%",
                limits.others_gpu_percent,
                Side.ABOVE,
                release=limits.others_gpu_release_percent,
            ),
            Evidence(
                "gpu_other_memory_bytes",
                f"memory of GPU {gpu} held by other processes, share",
                share,
                "share",
                limits.others_memory_share,
                Side.ABOVE,
            ),
        ),
        excess,
        SAMPLED,
        is_on_gpu=True,
    )


def _of_gpu(gpu: int, percent_busy: float, held: float, share: float) -> str:
    time = f"take {percent_busy:.0f} % of the time"
    memory = f"hold {size(held)} of the memory ({percent(share)})"
    parts = [*([time] if percent_busy > 0 else []), *([memory] if held > 0 else [])]
    return f"Other processes {' and '.join(parts)} of GPU {gpu}."


def _stolen(
    steal: Samples | None, *, already_open: bool, limits: Limits
) -> _Neighbor | None:
    mean = average(steal.values) if steal is not None else 0.0
    limit = limits.stolen_release_percent if already_open else limits.stolen_percent
    if not mean >= limit:
        return None
    return _Neighbor(
        f"The hypervisor takes {mean:.0f} % of the CPU time of this virtual machine.",
        (
            Evidence(
                "host_cpu_steal_percent",
                "CPU steal, mean",
                mean,
                "%",
                limits.stolen_percent,
                Side.ABOVE,
                release=limits.stolen_release_percent,
            ),
        ),
        mean / limit,
        COARSE,
        is_on_gpu=False,
    )


def _on_cpu(
    job_cpu_cores: Samples,
    host_cpu_percent: Samples | None,
    host_cores: float | None,
    *,
    already_open: bool,
    limits: Limits,
) -> _Neighbor | None:
    if host_cpu_percent is None or host_cores is None or not host_cores > 0:
        return None
    used = typical(host_cpu_percent) / 100 * host_cores - typical(job_cpu_cores)
    share = used / host_cores
    limit = limits.others_cpu_release_share if already_open else limits.others_cpu_share
    if not share >= limit:
        return None
    return _Neighbor(
        f"Other jobs use {cores(used)} of the machine's {host_cores:g}, and the job has to"
        " wait for one.",
        (
            Evidence(
                "host_cpu_percent",
                "cores used by other processes, share",
                share,
                "share",
                limits.others_cpu_share,
                Side.ABOVE,
                release=limits.others_cpu_release_share,
            ),
        ),
        share / limit,
        COARSE,
        is_on_gpu=False,
    )


def _finding(found: list[_Neighbor]) -> Finding:
    worst = max(found, key=lambda neighbor: neighbor.excess)
    return Finding(
        title="" if len(found) > 1 else _title(worst),
        severity=Severity.WARNING,
        summary=" ".join(neighbor.text for neighbor in found),
        evidence=tuple(e for neighbor in found for e in neighbor.evidence),
        recommendations=(
            Recommendation(
                "Find the owner of the other processes, and coordinate the use.",
                code=(
                    "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv"
                    if worst.is_on_gpu
                    else "top -o %CPU"
                ),
            ),
            Recommendation(
                "Request whole cards and dedicated cores from the scheduler, and hide"
                " all others from the job.",
                code="CUDA_VISIBLE_DEVICES=<number of a free card>"
                if worst.is_on_gpu
                else "",
            ),
            Recommendation("Do not compare this run's times with those of other runs."),
        ),
        disproof=(
            "Run on an otherwise idle machine: if it takes as long, other jobs are not"
            " the cause."
        ),
        quality=max(neighbor.quality for neighbor in found),
        margin=margin_above(worst.excess, 1.0),
        corroboration=ALONE,
    )


def _title(neighbor: _Neighbor) -> str:
    return (
        "Other jobs use the same GPU"
        if neighbor.is_on_gpu
        else "Other jobs use the same CPU cores"
    )
