"""The model is loaded for each request.

## Detection
Phases named `load_model` that repeat with the requests of a service and take a notable part of
their time. A service with several models names them `load_model/<name>`; each model is then
judged separately.
Without such phases: GPU memory that repeatedly rises and falls by the size of a model, about
as often as requests arrive. This finding is less certain.

## Why it matters
A request waits for the file, the copy to the GPU and the first run of the model, which the
previous request has just done. The GPU computes nothing meanwhile.

## Limitations
New processes of a service that scales up load the model once each; to be mistaken for this
fault, they have to start for a tenth of the requests.
A service with more models than memory has to reload some of them; how often depends on the
requests.

Catalogue: I1, model loaded per request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracker.diagnosis.analysis.requests import (
    TOO_FEW_REQUESTS,
    Requests,
    measure_requests,
)
from tracker.diagnosis.analysis.sawtooth import find_sawtooth
from tracker.diagnosis.analysis.statistics import margin_above
from tracker.diagnosis.breakdown.phases import PhaseKind
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    INFERRED,
    MEASURED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Gain,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import count, duration, percent, size
from tracker.diagnosis.hardware.gpu_peers import Gpus, readings_of
from tracker.diagnosis.signals import Samples

SPAN = Span.STAGE

LINE = "model = load_model()  # once, before the first request"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # Per model: number of loads, and loads per request.
    fewest_loads: int = 3
    loads_per_request: float = 0.10
    # Share of request time.
    notable_share: float = 0.05
    critical_share: float = 0.50

    # For GPU memory that rises and falls.
    smallest_model_bytes: float = 256.0 * 1024**2
    share_of_model: float = 0.50
    fewest_rises: int = 5
    rises_per_request: float = 0.50


def check(
    requests: Mapping[str, Samples],
    *,
    request_parts: Mapping[str, Samples] | None = None,
    gpus: Gpus | None = None,
    model_parameter_bytes: float | None = None,
    job_requested_bytes_per_second: Samples | None = None,
    limits: Limits = Limits(),
) -> Answer:
    found = measure_requests(requests, request_parts)
    if found is None:
        return Abstention((TOO_FEW_REQUESTS,))
    if not found.loads:
        return _by_memory(
            found,
            gpus or {},
            model_parameter_bytes,
            job_requested_bytes_per_second,
            limits,
        )

    most = max(found.loads.values())
    share = found.share(PhaseKind.LOAD_MODEL)
    per_request = most / found.count
    if (
        most < limits.fewest_loads
        or per_request < limits.loads_per_request
        or share < limits.notable_share
    ):
        return None

    loads = sum(found.loads.values())
    counted = max(1, found.times_of(PhaseKind.LOAD_MODEL))
    seconds = share * float(found.seconds.sum())
    return Finding(
        severity=(
            Severity.CRITICAL if share >= limits.critical_share else Severity.WARNING
        ),
        summary=(
            f"{count(loads, 'model load', 'model loads')} for"
            f" {count(found.count, 'request', 'requests')},"
            f" {duration(seconds / counted)} each: {percent(share)} of the request"
            " time."
        ),
        evidence=(
            Evidence(
                "requests",
                "model loads per request",
                per_request,
                "loads",
                limits.loads_per_request,
                Side.ABOVE,
            ),
            Evidence(
                "requests",
                "loading, share of request time",
                share,
                "share",
                limits.notable_share,
                Side.ABOVE,
            ),
            Evidence("requests", "request time, mean", found.mean_seconds, "s"),
        ),
        recommendations=_RECOMMENDATIONS,
        disproof=(
            "Send the same request twice in a row: if the second is as slow as the first"
            " although nothing is loaded, loading is not the cause."
        ),
        gain=_gain(found, share),
        explains=("first-request-is-slow",),
        quality=MEASURED,
        margin=margin_above(per_request, limits.loads_per_request),
        corroboration=AGREEING,
    )


def _gain(found: Requests, share: float) -> Gain:
    return expected_gain(
        found.mean_seconds,
        (Floor(found.mean_seconds * (1.0 - share), "the rest of the request"),),
        what="A request",
    )


def _by_memory(
    found: Requests,
    gpus: Gpus,
    model_bytes: float | None,
    reading: Samples | None,
    limits: Limits,
) -> Answer:
    """Look for GPU memory that rises and falls with the requests."""
    memory = readings_of(gpus, "gpu_memory_used_bytes")
    if not memory:
        return Abstention(("the time of loading models, as a phase",))
    gpu, tooth = max(
        ((gpu, find_sawtooth(samples)) for gpu, samples in memory.items()),
        key=lambda pair: pair[1].height,
    )
    least = max(
        limits.smallest_model_bytes, limits.share_of_model * (model_bytes or 0.0)
    )
    often = limits.rises_per_request * min(found.count, _readings_between(memory[gpu]))
    if tooth.height < least or tooth.rises < max(limits.fewest_rises, often):
        return None

    is_read = _is_read_each_time(reading, tooth.height, tooth.rises, limits)
    return Finding(
        severity=Severity.WARNING,
        summary=(
            f"The memory of GPU {gpu} rose by {size(tooth.height)} and fell again"
            f" {tooth.rises} times in"
            f" {count(found.count, 'request', 'requests')}"
            f"{', and files of that size were read' if is_read else ''}:"
            " the model is probably loaded for each request."
        ),
        evidence=(
            Evidence(
                "gpu_memory_used_bytes",
                "GPU memory, height of a rise",
                tooth.height,
                "B",
                least,
                Side.ABOVE,
            ),
            Evidence(
                "gpu_memory_used_bytes",
                "GPU memory, rises",
                float(tooth.rises),
                "times",
                float(limits.fewest_rises),
                Side.ABOVE,
            ),
        ),
        recommendations=(
            *_RECOMMENDATIONS,
            Recommendation(
                "Time the loading, so that its share of a request is known.",
                code='with run.phase("load_model"):',
            ),
        ),
        disproof="Time the loading of the model: if it loads only once, this finding is wrong.",
        explains=("first-request-is-slow",),
        quality=min(1.0, 2 * INFERRED) if is_read else INFERRED,
        margin=1.0,
        corroboration=AGREEING if is_read else ALONE,
    )


def _readings_between(samples: Samples) -> int:
    """Return how many rises these samples can show; each needs two samples."""
    return len(samples.values) // 2


def _is_read_each_time(
    reading: Samples | None, height: float, rises: int, limits: Limits
) -> bool:
    if reading is None or len(reading.times) < 2:  # noqa: PLR2004 - an interval
        return False
    seconds = float(reading.times[-1] - reading.times[0]) / 1e6
    total = float(reading.values.mean()) * seconds
    return (
        limits.share_of_model * height
        <= total / rises
        <= height / limits.share_of_model
    )


_RECOMMENDATIONS = (
    Recommendation(
        "Load the model when the service starts, and keep it; watch its file, and reload"
        " it only when the file changes.",
        current="for requests",
        suggested="once",
        code=LINE,
    ),
    Recommendation(
        "If several models share a GPU, keep the most requested ones, as many as"
        " fit in memory.",
        code="@functools.lru_cache(maxsize=4)",
    ),
)
