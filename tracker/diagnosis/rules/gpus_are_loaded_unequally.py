"""GPUs are loaded unequally.

## Detection
GPUs of one model of which one works clearly more than another, or holds clearly more memory.
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

NOTABLE_DISTANCE_PERCENT = 20.0
DISTANCE_RELEASE_PERCENT = 15.0

# Shares of GPU memory: the difference to the fullest GPU, and its minimum use.
NOTABLE_MEMORY_SKEW = 0.20
MEMORY_SKEW_RELEASE = 0.15
FULLEST_MEMORY_SHARE = 0.30

FEWEST_GPUS = 2


def check(
    gpus: Gpus, *, framework: str | None = None, already_open: bool = False
) -> Answer:
    if len(gpus) < FEWEST_GPUS:
        return Abstention((ONE_GPU,))
    if len(set(facts_of(gpus, "gpu_memory_total_bytes").values())) > 1:
        return Abstention(("GPUs of one kind",))
    used = {
        gpu: samples
        for gpu, samples in readings_of(gpus, "gpu_utilization_percent").items()
        if high_end(samples) >= UNUSED_PERCENT
    }
    if len(used) < FEWEST_GPUS:
        return Abstention(("two GPUs that work",))

    most = max(used, key=lambda gpu: float(used[gpu].values.mean()))
    least = min(used, key=lambda gpu: float(used[gpu].values.mean()))
    apart = distance(used[most].values, used[least].values)
    memory = {} if framework in RESERVING else _memory_shares(gpus, list(used))
    fullest = max(memory.values(), default=0.0)
    skew = fullest - min(memory.values(), default=0.0)

    works_unequally = apart >= (
        DISTANCE_RELEASE_PERCENT if already_open else NOTABLE_DISTANCE_PERCENT
    )
    holds_unequally = fullest >= FULLEST_MEMORY_SHARE and skew >= (
        MEMORY_SKEW_RELEASE if already_open else NOTABLE_MEMORY_SKEW
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
        evidence=_evidence(apart, skew, fullest, knows_memory=bool(memory)),
        recommendations=_RECOMMENDATIONS,
        disproof=(
            "Log how long the own work of a step takes on each rank: if all are equal, the"
            " extra work of one GPU is not part of the steps."
        ),
        comes_after=("data-wait-dominates",),
        quality=min(samples.quality for samples in used.values()),
        margin=max(
            margin_above(apart, NOTABLE_DISTANCE_PERCENT) if works_unequally else 0.5,
            margin_above(skew, NOTABLE_MEMORY_SKEW) if holds_unequally else 0.5,
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
    apart: float, skew: float, fullest: float, *, knows_memory: bool
) -> tuple[Evidence, ...]:
    work = Evidence(
        "gpu_utilization_percent",
        "GPU utilization, difference between the most and the least used",
        apart,
        "%",
        NOTABLE_DISTANCE_PERCENT,
        Side.ABOVE,
        release=DISTANCE_RELEASE_PERCENT,
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
            NOTABLE_MEMORY_SKEW,
            Side.ABOVE,
            release=MEMORY_SKEW_RELEASE,
        ),
        Evidence(
            "gpu_memory_used_bytes",
            "GPU memory of the fullest, share",
            fullest,
            "share",
            FULLEST_MEMORY_SHARE,
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
