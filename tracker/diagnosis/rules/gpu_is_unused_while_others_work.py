"""One GPU is unused while others work.

## Detection
GPUs that are visible to the run and never execute anything, next to at least one that works.

## Why it matters
They are reserved and paid for like the others, and could share the work.

## Limitations
A run that sees all GPUs of a machine but should use only one needs to hide the others:
invisible GPUs are not judged.
Occasional GPU work, such as an evaluation, can be outside of the judged part.
MIG cards have no utilization and are not judged.

Catalogue: G1, GPU unused.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import margin_towards, typical
from tracker.diagnosis.engine.finding import (
    ALONE,
    ONE_GPU,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Gain,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.frameworks import data_parallel_line
from tracker.diagnosis.engine.speedup import usual_gain
from tracker.diagnosis.engine.wording import ordinal
from tracker.diagnosis.hardware.gpu_peers import (
    PERCENTILE,
    UNUSED_PERCENT,
    Gpus,
    high_end,
    names,
    readings_of,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    percentile: float = PERCENTILE
    unused_percent: float = UNUSED_PERCENT

    unused_release_percent: float = 2.0
    # Minimum utilization of the busiest GPU for the run to count as working.
    working_percent: float = 20.0
    fewest_gpus: int = 2


def check(
    gpus: Gpus,
    *,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    readings = readings_of(gpus, "gpu_utilization_percent")
    if len(gpus) < limits.fewest_gpus:
        return Abstention((ONE_GPU,))
    if len(readings) < limits.fewest_gpus:
        return Abstention(("gpu_utilization_percent",))

    limit = limits.unused_release_percent if already_open else limits.unused_percent
    highest = {
        gpu: high_end(samples, limits.percentile) for gpu, samples in readings.items()
    }
    unused = [gpu for gpu, value in highest.items() if value < limit]
    busy = max(typical(samples) for samples in readings.values())
    if not unused or busy < limits.working_percent:
        return None

    working = len(readings) - len(unused)
    most = max(highest[gpu] for gpu in unused)
    return Finding(
        severity=Severity.WARNING,
        summary=(
            f"Nothing ran on {names(unused)}. The busiest of {len(readings)} GPUs"
            f" had {busy:.0f} % utilization."
        ),
        evidence=_evidence(most, busy, limits),
        recommendations=_recommendations(highest, unused, framework),
        disproof=(
            f"Hide {names(unused)} from the run: if it fails or gets slower, they were"
            " in use."
        ),
        gain=_gain(working, len(readings)),
        comes_after=("data-wait-dominates",),
        quality=min(readings[gpu].quality for gpu in unused),
        margin=margin_towards(limits.unused_percent - most, 0.0, limits.unused_percent),
        corroboration=ALONE,
    )


def _evidence(most: float, busy: float, limits: Limits) -> tuple[Evidence, ...]:
    return (
        Evidence(
            "gpu_utilization_percent",
            f"utilization of the unused GPUs, {ordinal(limits.percentile)} percentile",
            most,
            "%",
            limits.unused_percent,
            Side.BELOW,
            release=limits.unused_release_percent,
        ),
        Evidence(
            "gpu_utilization_percent",
            "utilization of the busiest GPU, median",
            busy,
            "%",
            limits.working_percent,
            Side.ABOVE,
        ),
    )


def _recommendations(
    highest: dict[int, float], unused: list[int], framework: str | None
) -> tuple[Recommendation, ...]:
    there, working = len(highest), len(highest) - len(unused)
    return (
        Recommendation(
            f"Start a process for each of the {there} GPUs, and train in parallel.",
            current=f"{working} in use",
            suggested=f"{there} in use",
            code=data_parallel_line(framework, there),
        ),
        Recommendation(
            "Or request only the GPUs that the run uses, so that other jobs get the rest.",
            current=f"{there} visible",
            suggested=f"{working}",
            code=f"CUDA_VISIBLE_DEVICES={_numbers(highest, unused)}",
        ),
    )


def _numbers(highest: dict[int, float], unused: list[int]) -> str:
    return ",".join(str(gpu) for gpu in highest if gpu not in unused)


def _gain(working: int, there: int) -> Gain:
    return usual_gain(
        1.0 - working / there,
        f"{there} GPUs can do at most {there / working:.3g} times the work of"
        f" {working}.",
        next_limit="communication between the GPUs",
    )
