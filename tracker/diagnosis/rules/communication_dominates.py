"""Communication between ranks dominates the step.

## Detection
The share of the step time in phases named `communicate`, `all_reduce` or similar. If the
steps of several ranks are known, the rank with the shortest wait counts: the longer waits of
the other ranks are caused by a slow rank, not by communication.
Without such phases: links between GPUs that are busy in both directions while the
multiprocessors of the GPUs do little work. This finding is less certain.

## Why it matters
While gradients are exchanged and nothing is computed, all GPUs are idle.

## Limitations
A phase around asynchronous communication ends at once and does not measure it; GPU time is
used instead if it is known.
Pipeline parallelism exchanges activations all the time by design.
Without phases, neither the network between machines nor its limits are visible.

Catalogue: G4, communication bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import average_or_none, margin_above
from tracker.diagnosis.breakdown.phases import PhaseKind, of_kind
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    INFERRED,
    MEASURED,
    ONE_GPU,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import duration, percent
from tracker.diagnosis.hardware.contention import CROWDED
from tracker.diagnosis.hardware.gpu_peers import Gpus, busiest_of, facts_of, median_of
from tracker.diagnosis.signals import Array, Ranks, Samples

UNKNOWN = "the time of communication, as a phase"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    notable_share: float = 0.10
    release_share: float = 0.07
    warning_share: float = 0.20
    critical_share: float = 0.40

    # Without phases: limits for busy links and for low GPU work.
    busy_link_share: float = 0.30
    busy_gpu_percent: float = 70.0
    little_work_percent: float = 40.0
    little_power_share: float = 0.50
    # One direction of one NVLink 2 to 4 link, from NVIDIA's data for V100, A100 and H100.
    # NVLink 5 has twice as much, so its links seem busier than they are.
    nvlink_bytes_per_second: float = 25e9

    # Share of time above which other jobs slow down changing ranks.
    core_wait_share: float = 0.10


@dataclass(frozen=True, slots=True)
class _Exposed:
    step_seconds: float  # mean
    seconds: float  # mean per step
    share: float
    signal: str


def check(
    step_seconds: Array,
    *,
    phase_seconds: Mapping[str, Array] | None = None,
    device_phase_seconds: Mapping[str, Array] | None = None,
    exposed_communication_seconds: Array | None = None,
    traced_kernels: Array | None = None,
    ranks: Ranks | None = None,
    gpus: Gpus | None = None,
    world_size: float | None = None,
    distributed_backend: str | None = None,
    model_wrapper: str | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    is_alone = ranks is None and (world_size or 1) <= 1 and len(gpus or {}) <= 1
    exposed = _exposed_in_trace(
        step_seconds, exposed_communication_seconds, traced_kernels
    ) or _exposed(step_seconds, phase_seconds or {}, device_phase_seconds or {}, ranks)
    if exposed is None:
        if is_alone:
            return Abstention((ONE_GPU,))
        return _by_links(gpus or {}, limits)
    limit = limits.release_share if already_open else limits.notable_share
    if not exposed.share >= limit:
        return None
    # A rank that waits for a core delays the other ranks at the next collective.
    without_core = average_or_none(job_main_thread_core_wait_share) or 0.0
    if without_core >= limits.core_wait_share and exposed.share - without_core < limit:
        return Abstention((CROWDED,))

    step = exposed.step_seconds
    return Finding(
        severity=_severity(exposed.share, limits),
        summary=(
            f"Communication takes {duration(exposed.seconds)} of each"
            f" {duration(step)} step ({percent(exposed.share)})."
        ),
        evidence=(
            Evidence(
                exposed.signal,
                "communication, share of step time",
                exposed.share,
                "share",
                limits.notable_share,
                Side.ABOVE,
                release=limits.release_share,
            ),
            Evidence(
                exposed.signal, "communication, mean per step", exposed.seconds, "s"
            ),
            Evidence("step_seconds", "step time, mean", step, "s"),
        ),
        recommendations=_recommendations(model_wrapper, distributed_backend),
        disproof=(
            "Train a few hundred steps on one GPU with the same batch size: if a step"
            " takes as long, communication costs nothing."
        ),
        gain=expected_gain(
            step,
            (Floor(step * (1.0 - exposed.share), "the computation of each rank"),),
        ),
        comes_after=("data-wait-dominates",),
        explains=("gpu-utilization-is-low", "gpu-is-busy-with-little-work"),
        quality=MEASURED,
        margin=margin_above(exposed.share, limits.notable_share),
        corroboration=AGREEING if exposed.signal == "ranks" else ALONE,
    )


def _severity(share: float, limits: Limits) -> Severity:
    if share >= limits.critical_share:
        return Severity.CRITICAL
    return Severity.WARNING if share >= limits.warning_share else Severity.NOTICE


def _exposed_in_trace(
    step_seconds: Array, exposed: Array | None, kernels: Array | None
) -> _Exposed | None:
    """Return the share in the traced steps; None if no step was traced."""
    if exposed is None or kernels is None or not np.any(kernels > 0):
        return None
    is_traced = kernels > 0
    seconds = float(exposed[is_traced].mean())
    step = float(step_seconds[is_traced].mean())
    return _Exposed(
        step, seconds, min(1.0, seconds / step), "exposed_communication_seconds"
    )


def _exposed(
    step_seconds: Array,
    phase_seconds: Mapping[str, Array],
    device_phase_seconds: Mapping[str, Array],
    ranks: Ranks | None,
) -> _Exposed | None:
    """Return None if no phase is communication."""
    total = float(step_seconds.sum())
    on_host = of_kind(phase_seconds, PhaseKind.COMMUNICATE)
    if not on_host or not total > 0:
        return None
    on_device = of_kind(device_phase_seconds, PhaseKind.COMMUNICATE)
    seconds = np.zeros(len(step_seconds))
    for name, column in on_host.items():
        # Phases without GPU time are NaN; fmax then returns the host time.
        seconds += np.fmax(column, on_device.get(name, column))
    exposed = _Exposed(
        total / len(step_seconds),
        float(seconds.sum()) / len(step_seconds),
        min(1.0, float(seconds.sum()) / total),
        "phase_seconds",
    )
    if ranks is None:
        return exposed

    least = _least_of_ranks(ranks)
    if least is None or least >= exposed.share:
        return exposed
    step = total / len(step_seconds)
    return _Exposed(step, least * step, least, "ranks")


def _least_of_ranks(ranks: Ranks) -> float | None:
    """Return the share of step time in which even the slowest rank communicates."""
    phases = {
        name.removeprefix("phase/"): column
        for name, column in ranks.columns.items()
        if name.startswith("phase/")
    }
    named = list(of_kind(phases, PhaseKind.COMMUNICATE).values())
    steps = ranks.columns.get("step_seconds")
    if not named or steps is None or not float(steps.sum()) > 0:
        return None
    together = np.sum(named, axis=0).min(axis=1)
    return float(together.sum() / steps.max(axis=1).sum())


def _by_links(gpus: Gpus, limits: Limits) -> Answer:
    """Infer from the links and the work of the busiest GPU."""
    gpu = busiest_of(gpus)
    links = facts_of(gpus, "gpu_nvlinks")
    if gpu is None or not links.get(gpu, 0) > 0:
        return Abstention((UNKNOWN,))
    directions = [
        median_of(gpus, f"gpu_nvlink_{way}_bytes_per_second", gpu)
        for way in ("send", "receive")
    ]
    busy = median_of(gpus, "gpu_utilization_percent", gpu)
    work = median_of(gpus, "gpu_sm_active_percent", gpu)
    power = median_of(gpus, "gpu_power_mean_watts", gpu)
    limit = median_of(gpus, "gpu_power_limit_watts", gpu)
    known = [rate for rate in directions if rate is not None]
    if len(known) < len(directions) or busy is None or not power or not limit:
        return Abstention((UNKNOWN,))

    use = min(known) / (links[gpu] * limits.nvlink_bytes_per_second)
    does_little = power / limit < limits.little_power_share and (
        work is None or work < limits.little_work_percent
    )
    if (
        use < limits.busy_link_share
        or busy < limits.busy_gpu_percent
        or not does_little
    ):
        # Idle links prove nothing: ranks may communicate over a network.
        return Abstention((UNKNOWN,))
    return _finding_of_links(
        gpu, use=use, busy=busy, power=power / limit, limits=limits
    )


def _finding_of_links(
    gpu: int, *, use: float, busy: float, power: float, limits: Limits
) -> Finding:
    return Finding(
        severity=Severity.NOTICE,
        summary=(
            f"The links of GPU {gpu} carry at least {percent(use)} of their rate"
            f" in both directions at {percent(power)} of the power limit: it"
            " probably communicates more than it computes."
        ),
        evidence=(
            Evidence(
                "gpu_nvlink_send_bytes_per_second",
                "NVLink rate, median of the slower direction, share of the link rate",
                use,
                "share",
                limits.busy_link_share,
                Side.ABOVE,
            ),
            Evidence(
                "gpu_power_mean_watts",
                "GPU power, median, share of its limit",
                power,
                "share",
                limits.little_power_share,
                Side.BELOW,
            ),
            Evidence(
                "gpu_utilization_percent",
                "GPU utilization, median",
                busy,
                "%",
                limits.busy_gpu_percent,
                Side.ABOVE,
            ),
        ),
        recommendations=(
            Recommendation(
                "Time the communication between ranks, so that its share is known.",
                code='with run.phase("communicate"):',
            ),
            *_recommendations(None, None),
        ),
        disproof=(
            "Train a few hundred steps on one GPU with the same batch size: if a step"
            " takes as long, communication costs nothing."
        ),
        explains=("gpu-utilization-is-low", "gpu-is-busy-with-little-work"),
        comes_after=("data-wait-dominates",),
        # Inferred from two signals together, not measured.
        quality=INFERRED,
        margin=1.0,
        corroboration=AGREEING,
    )


def _recommendations(
    model_wrapper: str | None, distributed_backend: str | None
) -> tuple[Recommendation, ...]:
    overlap = Recommendation(
        "Overlap the gradient exchange with the backward pass, with another bucket"
        " size.",
        code="DistributedDataParallel(model, bucket_cap_mb=100, static_graph=True)",
    )
    if model_wrapper and "fsdp" in model_wrapper.lower().replace(
        "fullysharded", "fsdp"
    ):
        overlap = Recommendation(
            "Prefetch the next layer's parameters while the current one computes.",
            code="FullyShardedDataParallel(model, forward_prefetch=True)",
        )
    return (
        overlap,
        Recommendation(
            "Communicate less often: accumulate gradients over several mini-batches.",
            code="with model.no_sync():",
        ),
        Recommendation(
            "Send gradients in 16 bits.",
            current=distributed_backend or "",
            code="model.register_comm_hook(None, bf16_compress_hook)",
        ),
        Recommendation(
            "Check the topology between the GPUs: prefer NVLink to PCIe, and network"
            " cards near the GPUs.",
            code="nvidia-smi topo -m",
        ),
    )
