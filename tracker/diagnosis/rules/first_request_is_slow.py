"""The first request is slow.

## Detection
A first request that takes at least 5 times as long as usual, and at least a second longer.

## Why it matters
The first client after each start waits. An autoscaled service starts often, and mostly when
many clients wait.

## Limitations
A first request that is larger than the others takes longer for that reason.
Loading the model counts only if its phase is inside that of the first request. Older agents
do not report the nesting; loading is then not counted.
Failed loads are not seen, because a phase does not record whether it ended with an exception.
If requests overlap, the time of the first one is an estimate.

Catalogue: I4, cold start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.requests import TOO_FEW_REQUESTS, measure_requests
from tracker.diagnosis.analysis.statistics import margin_above
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    MEASURED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import duration
from tracker.diagnosis.signals import Samples

SPAN = Span.STAGE


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    slow_factor: float = 5.0
    slow_seconds: float = 1.0  # longer than usual
    # Share of the extra time from which on loading the model is the cause.
    loading_share: float = 0.50


def check(
    requests: Mapping[str, Samples],
    *,
    request_parts: Mapping[str, Samples] | None = None,
    limits: Limits = Limits(),
) -> Answer:
    found = measure_requests(requests, request_parts)
    if found is None:
        return Abstention((TOO_FEW_REQUESTS,))
    first, usual = float(found.seconds[0]), float(np.median(found.seconds))
    if (
        first < limits.slow_factor * usual
        or first - usual < limits.slow_seconds
        or not usual > 0
    ):
        return None

    loading = found.first_load_seconds
    is_loading = loading >= limits.loading_share * (first - usual)
    because = (
        f"; loading the model took {duration(loading)} of it" if is_loading else ""
    )
    return Finding(
        severity=Severity.NOTICE,
        summary=(
            f"The first request took {duration(first)}, {first / usual:.3g} times"
            f" the median of {duration(usual)}{because}."
        ),
        evidence=(
            Evidence(
                "requests",
                "first request, relative to the median",
                first / usual,
                "times",
                limits.slow_factor,
                Side.ABOVE,
            ),
            Evidence("requests", "first request", first, "s"),
            Evidence("requests", "request time, median", usual, "s"),
            *_evidence_of(loading, is_loading=is_loading),
        ),
        recommendations=(
            Recommendation(
                "Load the model and send it one request of the usual size before the"
                " service reports ready: libraries, kernels and compilation are"
                " then done.",
                current="at the first request",
                suggested="at start",
                code="model(example)  # before the service reports ready",
            ),
            Recommendation(
                "Store the weights in a format that is memory-mapped instead of parsed, such as"
                " safetensors, on a local disk."
            ),
        ),
        disproof=(
            "Send a request of the usual size first: if it is as fast as the others, the"
            " first one was larger."
        ),
        quality=MEASURED,
        margin=margin_above(first / usual, limits.slow_factor),
        corroboration=AGREEING if is_loading else ALONE,
    )


def _evidence_of(loading: float, *, is_loading: bool) -> tuple[Evidence, ...]:
    if not is_loading:
        return ()
    return (Evidence("request_parts", "loading in the first request", loading, "s"),)
