"""GPUs are loaded unequally.

## Detection
GPUs of one model of which one works clearly more than another, or whose memory is mostly full
while that of another is not.
Utilizations are compared as distributions over time (Wasserstein distance), so GPUs that
work in turns count as equal.

## Why it matters
The GPU with the most work sets the step time, and the fullest one limits the batch size. The
other GPUs could do more.

## Limitations
Model parts on different GPUs need not be equal, and a first GPU that also evaluates or
generates has more work by design.
An idle GPU belongs to another rule.
Memory is the driver's value and includes other processes; frameworks that reserve memory in
advance are judged by utilization only.
The limit of 20 points separates lasting differences from those within a step; there is no
published value for it.

Catalogue: G2, imbalance between GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import highest, margin_above
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    ONE_GPU,
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
from tracker.diagnosis.hardware.gpu_peers import (
    UNUSED_PERCENT,
    Gpus,
    distance,
    facts_of,
    high_end,
    readings_of,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    unused_percent: float = UNUSED_PERCENT

    notable_distance_percent: float = 20.0
    distance_release_percent: float = 15.0

    # Shares of GPU memory: the difference to the fullest GPU, and its minimum use.
    notable_memory_skew: float = 0.20
    memory_skew_release: float = 0.15
    fullest_memory_share: float = 0.60

    fewest_gpus: int = 2


def check(
    gpus: Gpus,
    *,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if len(gpus) < limits.fewest_gpus:
        return Abstention((ONE_GPU,))
    if len(set(facts_of(gpus, "gpu_memory_total_bytes").values())) > 1:
        return Abstention(("GPUs of one kind",))
    used = {
        gpu: samples
        for gpu, samples in readings_of(gpus, "gpu_utilization_percent").items()
        if high_end(samples) >= limits.unused_percent
    }
    if len(used) < limits.fewest_gpus:
        return Abstention(("two GPUs that work",))

    most = max(used, key=lambda gpu: float(used[gpu].values.mean()))
    least = min(used, key=lambda gpu: float(used[gpu].values.mean()))
    apart = distance(used[most].values, used[least].values)
    memory = {} if framework in RESERVING else _memory_shares(gpus, list(used))
    fullest = max(memory.values(), default=0.0)
    skew = fullest - min(memory.values(), default=0.0)

    works_unequally = apart >= (
        limits.distance_release_percent
        if already_open
        else limits.notable_distance_percent
    )
    holds_unequally = fullest >= limits.fullest_memory_share and skew >= (
        limits.memory_skew_release if already_open else limits.notable_memory_skew
    )
    if not works_unequally and not holds_unequally:
        return None

    said = []
    if works_unequally:
        said.append(
            f"Mean utilization is {used[most].values.mean():.0f} % on GPU {most} and"
            f" {used[least].values.mean():.0f} % on GPU {least}."
        )
    if holds_unequally:
        full = max(memory, key=memory.__getitem__)
        empty = min(memory, key=memory.__getitem__)
        said.append(
            f"Peak memory is {percent(memory[full])} on GPU {full} and"
            f" {percent(memory[empty])} on GPU {empty}."
        )
    return Finding(
        severity=Severity.WARNING if works_unequally else Severity.NOTICE,
        summary=" ".join(said),
        evidence=_evidence(
            apart, skew, fullest, knows_memory=bool(memory), limits=limits
        ),
        recommendations=_RECOMMENDATIONS,
        disproof=(
            "Log how long the own work of a step takes on each rank: if all are equal, the"
            " extra work of one GPU is not part of the steps."
        ),
        comes_after=("data-wait-dominates",),
        quality=min(samples.quality for samples in used.values()),
        margin=max(
            margin_above(apart, limits.notable_distance_percent)
            if works_unequally
            else 0.5,
            margin_above(skew, limits.notable_memory_skew) if holds_unequally else 0.5,
        ),
        corroboration=AGREEING if works_unequally and holds_unequally else ALONE,
    )


def _memory_shares(gpus: Gpus, numbers: list[int]) -> dict[int, float]:
    """Return the peak memory share of each GPU; empty unless it is known for all."""
    totals = facts_of(gpus, "gpu_memory_total_bytes")
    held = readings_of(gpus, "gpu_memory_used_bytes")
    shares = {
        gpu: highest(held[gpu]) / totals[gpu]
        for gpu in numbers
        if gpu in held and totals.get(gpu, 0.0) > 0
    }
    return shares if len(shares) == len(numbers) else {}


def _evidence(
    apart: float, skew: float, fullest: float, *, knows_memory: bool, limits: Limits
) -> tuple[Evidence, ...]:
    work = Evidence(
        "gpu_utilization_percent",
        "GPU utilization, difference between the most and the least used",
        apart,
        "%",
        limits.notable_distance_percent,
        Side.ABOVE,
        release=limits.distance_release_percent,
    )
    if not knows_memory:
        return (work,)
    return (
        work,
        Evidence(
            "gpu_memory_used_bytes",
            "GPU memory, difference between the fullest and the emptiest",
            skew,
            "share",
            limits.notable_memory_skew,
            Side.ABOVE,
            release=limits.memory_skew_release,
        ),
        Evidence(
            "gpu_memory_used_bytes",
            "GPU memory of the fullest, share",
            fullest,
            "share",
            limits.fullest_memory_share,
            Side.ABOVE,
        ),
    )


_RECOMMENDATIONS = (
    Recommendation(
        "Give each GPU an equal part of the work: batches of equal size and of about"
        " equal length, and model parts that take equally long."
    ),
    Recommendation(
        "Move work of a single GPU, such as gathering outputs, evaluation or sampling,"
        " to the CPU, or distribute it over all GPUs."
    ),
)
