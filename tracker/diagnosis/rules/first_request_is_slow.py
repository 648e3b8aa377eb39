"""The first request is slow.

## What it looks for
A first request that takes at least 5 times as long as usual, and at least a second longer.

## Why it matters
Whoever comes first after each start waits, and a service that grows with its load starts
often, just when many wait.

## When it is wrong
A first request that is larger than the others takes longer for its own sake.
A model that is loaded within the first request counts where its phase is in that of the
request; an older agent does not tell it from one that was loaded before, and it is not
counted.
Loads that fail are not seen: a phase does not say whether it ended with an exception.
With requests that overlap, the first one's time is an estimate.

Catalogue: I4, cold start.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tracker.diagnosis.finding import (
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
from tracker.diagnosis.requests import TOO_FEW_REQUESTS, measure_requests
from tracker.diagnosis.rule import Span
from tracker.diagnosis.signals import Samples
from tracker.diagnosis.statistics import margin_above
from tracker.diagnosis.wording import duration

SPAN = Span.STAGE

SLOW_FACTOR = 5.0
SLOW_SECONDS = 1.0  # longer than usual
# Of what it took longer, from where on loading the model is what made it slow.
LOADING_SHARE = 0.50


def check(
    requests: Mapping[str, Samples],
    *,
    request_parts: Mapping[str, Samples] | None = None,
) -> Answer:
    found = measure_requests(requests, request_parts)
    if found is None:
        return Abstention((TOO_FEW_REQUESTS,))
    first, usual = float(found.seconds[0]), float(np.median(found.seconds))
    if first < SLOW_FACTOR * usual or first - usual < SLOW_SECONDS or not usual > 0:
        return None

    loading = found.first_load_seconds
    is_loading = loading >= LOADING_SHARE * (first - usual)
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
                SLOW_FACTOR,
                Side.ABOVE,
            ),
            Evidence("requests", "first request", first, "s"),
            Evidence("requests", "request time, median", usual, "s"),
            *_evidence_of(loading, is_loading=is_loading),
        ),
        recommendations=(
            Recommendation(
                "Load the model and send it one request of the usual size before the"
                " service says that it is ready: libraries, kernels and compilation are"
                " then done.",
                current="at the first request",
                suggested="at start",
                code="model(example)  # before the service says that it is ready",
            ),
            Recommendation(
                "Store the weights in a format that is mapped rather than parsed, such as"
                " safetensors, on a disk of the machine."
            ),
        ),
        disproof=(
            "Send a request of the usual size first: if it is as fast as the others, the"
            " first one was larger."
        ),
        quality=MEASURED,
        margin=margin_above(first / usual, SLOW_FACTOR),
        corroboration=AGREEING if is_loading else ALONE,
    )


def _evidence_of(loading: float, *, is_loading: bool) -> tuple[Evidence, ...]:
    if not is_loading:
        return ()
    return (Evidence("request_parts", "loading in the first request", loading, "s"),)
