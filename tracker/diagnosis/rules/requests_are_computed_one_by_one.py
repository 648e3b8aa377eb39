"""Requests are not batched.

## Detection
A service whose requests queue while each is computed alone, on a GPU that is nearly always
busy with little work: low SM activity or low power draw. The batch size is the number of
requests per phase named `compute`.

## Why it matters
A GPU reads the whole model for each computation. A batch reads it once for several requests
and uses the parts of the GPU that are idle now.

## Limitations
If a request must not wait at all, batching is not possible.
Requests of very different lengths waste much of a batch, unless they join and leave it while
it runs (continuous batching).
A generating model with few requests is limited by memory bandwidth; this looks the same and
has the same fix.

Catalogue: I2, no batching.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracker.diagnosis.analysis.requests import (
    NO_PARTS,
    TOO_FEW_REQUESTS,
    measure_requests,
)
from tracker.diagnosis.analysis.statistics import margin_above, margin_below
from tracker.diagnosis.breakdown.phases import PhaseKind
from tracker.diagnosis.engine.finding import (
    AGREEING,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.wording import count, percent
from tracker.diagnosis.hardware.gpu_peers import Gpus, busiest_of, median_of
from tracker.diagnosis.signals import Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    largest_batch: float = 1.5
    queue_share: float = 0.10
    queue_release_share: float = 0.07

    busy_gpu_percent: float = 50.0
    little_work_percent: float = 40.0
    little_power_share: float = 0.45


def check(
    requests: Mapping[str, Samples],
    gpus: Gpus,
    *,
    request_parts: Mapping[str, Samples] | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    found = measure_requests(requests, request_parts)
    if found is None:
        return Abstention((TOO_FEW_REQUESTS,))
    computed = found.times_of(PhaseKind.COMPUTE)
    if not computed or not found.times_of(PhaseKind.QUEUE):
        return Abstention((NO_PARTS,))
    gpu = busiest_of(gpus)
    busy = None if gpu is None else median_of(gpus, "gpu_utilization_percent", gpu)
    if gpu is None or busy is None:
        return Abstention(("gpu_utilization_percent",))
    work = _work(gpus, gpu, limits)
    if work is None:
        return Abstention(("gpu_sm_active_percent", "gpu_power_mean_watts"))

    batch = found.count / computed
    queue = found.share(PhaseKind.QUEUE)
    waits = queue >= (
        limits.queue_release_share if already_open else limits.queue_share
    )
    does_little = work.value < (work.limit or 0.0)
    if (
        batch > limits.largest_batch
        or not waits
        or busy < limits.busy_gpu_percent
        or not does_little
    ):
        return None

    return _finding(gpu, batch=batch, queue=queue, busy=busy, work=work, limits=limits)


def _finding(
    gpu: int, *, batch: float, queue: float, busy: float, work: Evidence, limits: Limits
) -> Finding:
    return Finding(
        severity=Severity.WARNING,
        summary=(
            "Each computation handles"
            f" {count(float(f'{batch:.2g}'), 'request', 'requests')}, while"
            f" requests spend {percent(queue)} of their time in the queue. The"
            f" utilization of GPU {gpu} is {busy:.0f} % with little work."
        ),
        evidence=(
            Evidence(
                "requests",
                "requests per computation",
                batch,
                "requests",
                limits.largest_batch,
                Side.BELOW,
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
            Evidence(
                "gpu_utilization_percent",
                "utilization of the busiest GPU, median",
                busy,
                "%",
                limits.busy_gpu_percent,
                Side.ABOVE,
            ),
            work,
        ),
        recommendations=(
            Recommendation(
                "Compute waiting requests as one batch: take the whole queue, up to"
                " a limit, or wait some milliseconds for more.",
                current=f"{batch:.2g} at a time",
                suggested="all waiting requests, up to 8, 16, 32 as latency allows",
                code="batch = [queue.get()] + [queue.get_nowait() for _ in waiting]",
            ),
            Recommendation(
                "For models that generate text, use a server that lets requests join and"
                " leave a batch while it runs."
            ),
        ),
        disproof=(
            "Send the same request 8 times at once, computed as one batch: if that takes"
            " nearly 8 times as long as one, a single request saturates the GPU."
        ),
        quality=SAMPLED,
        margin=min(
            margin_above(queue, limits.queue_share),
            margin_below(work.value, work.limit or 1.0),
        ),
        corroboration=AGREEING,
    )


def _work(gpus: Gpus, gpu: int, limits: Limits) -> Evidence | None:
    """Return the most precise measure of the GPU's work while it is busy."""
    active = median_of(gpus, "gpu_sm_active_percent", gpu)
    if active is not None:
        return Evidence(
            "gpu_sm_active_percent",
            "SM activity, median",
            active,
            "%",
            limits.little_work_percent,
            Side.BELOW,
        )
    power = median_of(gpus, "gpu_power_mean_watts", gpu)
    if power is None:
        power = median_of(gpus, "gpu_power_watts", gpu)
    limit = median_of(gpus, "gpu_power_limit_watts", gpu)
    if power is None or not limit:
        return None
    return Evidence(
        "gpu_power_mean_watts",
        "GPU power, median, share of its limit",
        power / limit,
        "share",
        limits.little_power_share,
        Side.BELOW,
    )
