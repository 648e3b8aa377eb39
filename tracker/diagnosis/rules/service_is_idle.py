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

IDLE_GPU_PERCENT = 5.0
IDLE_RELEASE_PERCENT = 10.0
FEWEST_SECONDS = 7200.0
HELD_BYTES = 500.0 * 1024**2
HOUR = 3600.0


def check(
    requests: Mapping[str, Samples], gpus: Gpus, *, already_open: bool = False
) -> Answer:
    gpu = busiest_of(gpus)
    if gpu is None:
        return Abstention(("gpu_utilization_percent",))
    use = readings_of(gpus, "gpu_utilization_percent")[gpu]
    seconds = float(use.times[-1] - use.times[0]) / 1e6
    if seconds < FEWEST_SECONDS:
        return Abstention((f"readings over at least {duration(FEWEST_SECONDS)}",))
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
    limit = IDLE_RELEASE_PERCENT if already_open else IDLE_GPU_PERCENT
    if busy >= limit or held < HELD_BYTES:
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
            signal, "GPU memory held, median", held, "B", HELD_BYTES, Side.ABOVE
        ),
    )


def _finding(
    quality: float, *, seconds: float, handled: int, busy: float, memory: Evidence
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
                IDLE_GPU_PERCENT,
                Side.BELOW,
                release=IDLE_RELEASE_PERCENT,
            ),
            memory,
            Evidence("requests", "requests per hour", handled / seconds * HOUR, "1/h"),
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
        margin=margin_below(busy, IDLE_GPU_PERCENT),
        corroboration=ALONE,
    )
