"""GPU memory limits concurrent requests.

## Detection
Requests that queue while GPU memory is full and the multiprocessors are not busy.

## Why it matters
Each active request holds memory: in a generating model, the keys and values of its tokens.
More memory would allow more requests in parallel.

## Limitations
A server that reserves all memory at its start has full memory by design; only the server's own
count of used blocks shows more. If the framework's allocator is measured, allocated memory
counts instead of reserved memory.
Requests that wait because computation is the limit are excluded: the multiprocessors are then
busy most of the time.
Rejected requests are not seen.

Catalogue: I3, memory bounds concurrency.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracker.diagnosis.analysis.requests import (
    NO_PARTS,
    TOO_FEW_REQUESTS,
    measure_requests,
)
from tracker.diagnosis.analysis.statistics import margin_above, margin_towards
from tracker.diagnosis.breakdown.phases import PhaseKind
from tracker.diagnosis.engine.finding import (
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
from tracker.diagnosis.engine.frameworks import RESERVING
from tracker.diagnosis.engine.wording import percent
from tracker.diagnosis.hardware.gpu_peers import Gpus, facts_of, median_of
from tracker.diagnosis.signals import Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    full_memory_share: float = 0.95
    full_release_share: float = 0.93
    queue_share: float = 0.10
    queue_release_share: float = 0.07

    # Above these limits the multiprocessors are the limit, not the memory.
    busy_work_percent: float = 70.0
    busy_gpu_percent: float = 95.0


def check(
    requests: Mapping[str, Samples],
    gpus: Gpus,
    *,
    request_parts: Mapping[str, Samples] | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    found = measure_requests(requests, request_parts)
    if found is None:
        return Abstention((TOO_FEW_REQUESTS,))
    if not found.times_of(PhaseKind.QUEUE):
        return Abstention((NO_PARTS,))
    if framework in RESERVING:
        return Abstention((f"the memory use that {framework} itself reports",))
    full = _fullest(gpus)
    if full is None:
        return Abstention(("gpu_memory_used_bytes", "gpu_memory_total_bytes"))

    gpu, signal, share = full
    queue = found.share(PhaseKind.QUEUE)
    is_full = share >= (
        limits.full_release_share if already_open else limits.full_memory_share
    )
    waits = queue >= (
        limits.queue_release_share if already_open else limits.queue_share
    )
    if not is_full or not waits or _computes_all_the_time(gpus, gpu, limits):
        return None

    return Finding(
        severity=Severity.WARNING,
        summary=(
            f"Requests spend {percent(queue)} of their time in the queue, and"
            f" {percent(share)} of the memory of GPU {gpu} is in use while its"
            " multiprocessors are not busy."
        ),
        evidence=(
            Evidence(
                signal,
                "GPU memory, median, share of all",
                share,
                "share",
                limits.full_memory_share,
                Side.ABOVE,
                release=limits.full_release_share,
            ),
            Evidence(
                "requests",
                "queue time, share of request time",
                queue,
                "share",
                limits.queue_share,
                Side.ABOVE,
                release=limits.queue_release_share,
            ),
        ),
        recommendations=_RECOMMENDATIONS,
        disproof=(
            "Halve the maximum request length: if as many requests wait, memory is not"
            " the limit."
        ),
        quality=SAMPLED,
        margin=min(
            margin_above(queue, limits.queue_share),
            margin_towards(share, limits.full_memory_share, 1.0),
        ),
        corroboration=ALONE,
    )


def _fullest(gpus: Gpus) -> tuple[int, str, float] | None:
    totals = facts_of(gpus, "gpu_memory_total_bytes")
    shares = []
    for gpu, total in totals.items():
        for signal in ("gpu_allocator_allocated_bytes", "gpu_memory_used_bytes"):
            held = median_of(gpus, signal, gpu)
            if held is not None and total > 0:
                shares.append((gpu, signal, held / total))
                break
    return max(shares, key=lambda found: found[2], default=None)


def _computes_all_the_time(gpus: Gpus, gpu: int, limits: Limits) -> bool:
    work = median_of(gpus, "gpu_sm_active_percent", gpu)
    if work is not None:
        return work >= limits.busy_work_percent
    busy = median_of(gpus, "gpu_utilization_percent", gpu)
    return busy is None or busy >= limits.busy_gpu_percent


_RECOMMENDATIONS = (
    Recommendation("Store the weights in fewer bits: 8 or 4 instead of 16."),
    Recommendation("Use a paged or 8-bit KV cache, and limit the length of requests."),
    Recommendation(
        "Spread the model over more GPUs, or serve it from one with more memory."
    ),
)
