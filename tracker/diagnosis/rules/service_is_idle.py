"""The service is idle and holds a GPU.

## Detection
A service whose busiest GPU works less than 5 % of the time, over at least two hours, while it
holds GPU memory.

## Why it matters
Other jobs cannot use the GPU meanwhile, and it costs as much as a busy one.

## Limitations
A service that must respond at once at any time needs a reserved GPU.
Two hours at night do not represent the day: the finding shows the number of requests.

Catalogue: I5, idle service.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import average, margin_below
from tracker.diagnosis.breakdown.phases import PhaseKind, of_kind
from tracker.diagnosis.engine.finding import (
    ALONE,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import count, duration, size
from tracker.diagnosis.hardware.gpu_peers import (
    Gpus,
    busiest_of,
    median_of,
    readings_of,
)
from tracker.diagnosis.signals import Samples

SPAN = Span.STAGE


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    idle_gpu_percent: float = 5.0
    idle_release_percent: float = 10.0
    fewest_seconds: float = 7200.0
    held_bytes: float = 500.0 * 1024**2
    hour: float = 3600.0


def check(
    requests: Mapping[str, Samples],
    gpus: Gpus,
    *,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    gpu = busiest_of(gpus)
    if gpu is None:
        return Abstention(("gpu_utilization_percent",))
    use = readings_of(gpus, "gpu_utilization_percent")[gpu]
    seconds = float(use.times[-1] - use.times[0]) / 1e6
    if seconds < limits.fewest_seconds:
        return Abstention((f"samples over at least {duration(limits.fewest_seconds)}",))
    held = median_of(gpus, "gpu_job_memory_bytes", gpu)
    signal = "gpu_job_memory_bytes"
    if held is None:
        held, signal = (
            median_of(gpus, "gpu_memory_used_bytes", gpu),
            ("gpu_memory_used_bytes"),
        )
    if held is None:
        return Abstention(("gpu_job_memory_bytes",))

    busy = average(use.values)
    limit = limits.idle_release_percent if already_open else limits.idle_gpu_percent
    if busy >= limit or held < limits.held_bytes:
        return None
    handled = sum(
        len(span.times) for span in of_kind(requests, PhaseKind.REQUEST).values()
    )
    return _finding(
        use.quality,
        seconds=seconds,
        handled=handled,
        busy=busy,
        memory=Evidence(
            signal, "GPU memory held, median", held, "B", limits.held_bytes, Side.ABOVE
        ),
        limits=limits,
    )


def _finding(
    quality: float,
    *,
    seconds: float,
    handled: int,
    busy: float,
    memory: Evidence,
    limits: Limits,
) -> Finding:
    return Finding(
        severity=Severity.WARNING,
        summary=(
            f"In {duration(seconds)}, {count(handled, 'request', 'requests')}"
            f" kept the busiest GPU at {busy:.2g} % utilization, with"
            f" {size(memory.value)} of its memory held."
        ),
        evidence=(
            Evidence(
                "gpu_utilization_percent",
                "utilization of the busiest GPU, mean",
                busy,
                "%",
                limits.idle_gpu_percent,
                Side.BELOW,
                release=limits.idle_release_percent,
            ),
            memory,
            Evidence(
                "requests", "requests per hour", handled / seconds * limits.hour, "1/h"
            ),
            Evidence("gpu_utilization_percent", "GPU time held", seconds, "s"),
        ),
        recommendations=(
            Recommendation(
                "Share the GPU with other services or jobs, or use a slice of it."
            ),
            Recommendation(
                "Stop the service while there are no requests, and start it with the first one,"
                " if loading is fast enough."
            ),
            Recommendation(
                "Try CPUs: so few requests may not need a GPU.",
                code="CUDA_VISIBLE_DEVICES= python serve.py",
            ),
        ),
        disproof=(
            "Look at the hours with the most requests: if the GPU is busy then, it has the"
            " right size."
        ),
        explains=("gpu-is-held-but-idle", "gpu-utilization-is-low"),
        quality=quality,
        margin=margin_below(busy, limits.idle_gpu_percent),
        corroboration=ALONE,
    )
