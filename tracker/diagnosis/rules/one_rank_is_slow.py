"""One rank is slow.

## Detection
A rank whose own work takes longer than that of the others, step after step: it costs at least
10 % of the time of all steps, and is the slowest in at least 60 % of the steps with an outlier
(more than 1.25 times the others). If hardly any step has an outlier, all steps count, because
a rank that is always a tenth slower costs as much.
The time in which ranks wait for each other is subtracted first. It is the time of phases named
as communication, or otherwise of the part of the step that exchanges gradients.
Ranks that are at least a tenth slower than half of all ranks are reported together, like those
of a slow machine. A rank that is slower than the others in nine of ten steps also counts, even
if another rank is often slower by chance.
The rule then determines in which part of its step the slow rank spends the extra time.

## Why it matters
Ranks synchronize in every step, so one slow rank slows down all GPUs.

## Limitations
Batches of unequal length slow down a different rank in each step; this is not reported. A rank
with consistently larger batches is reported.
GPU work is visible only where the script waits for it: a rank with a slow GPU can show the
delay in the phase in which ranks synchronize.
Clocks and other jobs are known only for GPUs of the first machine, and are matched with ranks
if there are as many GPUs as ranks.
Time in which a rank waits for a CPU core is subtracted if all ranks log it.
With two ranks, the extra time is measured against the other rank alone.

Catalogue: G3, straggler with its cause.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import margin_above
from tracker.diagnosis.analysis.stragglers import (
    CORE_WAIT,
    PHASE,
    STEP,
    WAIT,
    Straggler,
    find_straggler,
)
from tracker.diagnosis.breakdown.phases import PhaseKind, kind_of_phase
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import duration, percent
from tracker.diagnosis.hardware.contention import CROWDED
from tracker.diagnosis.hardware.gpu_peers import Gpus, median_of
from tracker.diagnosis.signals import Ranks

COMPUTE = {
    *(PhaseKind.FORWARD, PhaseKind.BACKWARD, PhaseKind.OPTIMIZER, PhaseKind.COMPUTE)
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    notable_share: float = 0.10
    release_share: float = 0.07
    critical_share: float = 0.20

    tail_share: float = 0.60
    # Share of all steps; a rank that is slower in so many steps is not slow by chance.
    above_share: float = 0.90
    max_named: int = 4
    # Share of the extra time that one part must explain to be the cause.
    covered_share: float = 0.80

    # Ratio to the median clock of the other GPUs.
    low_clock_share: float = 0.95
    neighbor_percent: float = 10.0

    fewest_steps: int = 50
    # Share of time without a core at which the own work of a rank is unknown.
    hiding_share: float = 0.35


def check(
    ranks: Ranks,
    *,
    gpus: Gpus | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if len(ranks.times) < limits.fewest_steps:
        return Abstention((f"at least {limits.fewest_steps} steps of all ranks",))
    straggler = find_straggler(ranks)
    if straggler is None:
        return Abstention(("phase_seconds",))

    limit = limits.release_share if already_open else limits.notable_share
    by_itself = max(limits.tail_share, straggler.chance_share)
    is_steady = straggler.above_share >= limits.above_share
    if straggler.share < limit or not (straggler.tail_share >= by_itself or is_steady):
        return Abstention((CROWDED,)) if _is_for_cores(ranks, limits) else None

    cause, why, advice = _cause(straggler, ranks, gpus or {}, limits)
    is_critical = straggler.share >= limits.critical_share
    is_one = len(straggler.ranks) == 1
    who = _who(straggler, limits)
    return Finding(
        title=f"{who} {'is' if is_one else 'are'} slow",
        severity=Severity.CRITICAL if is_critical else Severity.WARNING,
        summary=(
            f"{who} {'takes' if is_one else 'take'}"
            f" {duration(straggler.own_seconds)} per"
            f" step, the others {duration(straggler.others_seconds)}: all ranks"
            f" wait for {'it' if is_one else 'them'}"
            f" {percent(straggler.share)} of the time. {why}"
        ),
        evidence=_evidence(straggler, cause, limits),
        recommendations=advice if is_one else (_TOGETHER, *advice),
        disproof=(
            f"Move rank {straggler.rank} to another GPU or machine, or give its data to"
            " another rank: if another rank is slow then, the place or the data is the"
            " cause; if none is, it was chance."
        ),
        gain=expected_gain(
            straggler.step_seconds,
            (
                Floor(
                    straggler.step_seconds * (1.0 - straggler.share),
                    "the work of the other ranks",
                ),
            ),
        ),
        # GPUs of waiting ranks are busy in collectives and look unequally loaded.
        explains=(
            "communication-dominates",
            "gpus-are-loaded-unequally",
            "gpu-is-busy-with-little-work",
            "gpu-and-cpu-are-both-idle",
            "gpu-utilization-is-low",
        ),
        margin=margin_above(straggler.share, limits.notable_share),
        corroboration=AGREEING if cause else ALONE,
    )


def _is_for_cores(ranks: Ranks, limits: Limits) -> bool:
    """Return whether waits for a core are so long that they hide the ranks' own work."""
    waits, steps = ranks.columns.get(CORE_WAIT), ranks.columns.get(STEP)
    if waits is None or steps is None:
        return False
    return bool((waits.sum(axis=0) >= limits.hiding_share * steps.sum(axis=0)).any())


def _who(straggler: Straggler, limits: Limits) -> str:
    if len(straggler.ranks) == 1:
        return f"Rank {straggler.rank}"
    named = [str(rank) for rank in straggler.ranks[: limits.max_named]]
    more = len(straggler.ranks) - len(named)
    if more:
        return f"Ranks {', '.join(named)} and {more} more"
    return f"Ranks {', '.join(named[:-1])} and {named[-1]}"


def _cause(
    straggler: Straggler, ranks: Ranks, gpus: Gpus, limits: Limits
) -> tuple[str, str, tuple[Recommendation, ...]]:
    """Return the part that explains the extra time, a sentence and recommendations."""
    by_kind: dict[str, float] = {}
    for name, seconds in straggler.excess.items():
        kind = _kind(name)
        by_kind[kind] = by_kind.get(kind, 0.0) + max(0.0, seconds)
    total = sum(by_kind.values())
    kind = max(by_kind, key=by_kind.__getitem__, default="")
    if not total > 0 or by_kind[kind] < limits.covered_share * total:
        return "", "No single part of its step explains that.", _UNKNOWN

    share = percent(by_kind[kind] / total)
    if kind == "wait":
        why = f"{share} of the excess is waiting for data."
        return kind, why, _WAITS
    if kind == "copy":
        return kind, f"{share} of the excess is copying to the GPU.", _COPIES
    if kind == "compute":
        return kind, *_of_gpu(straggler, ranks, gpus, share, limits)
    return (
        kind,
        f"{share} of the excess is work outside of the timed parts.",
        _OUTSIDE,
    )


def _kind(part: str) -> str:
    if part == WAIT:
        return "wait"
    kind = kind_of_phase(part.removeprefix(PHASE)) if part.startswith(PHASE) else None
    if kind is PhaseKind.COPY:
        return "copy"
    return "compute" if kind in COMPUTE else "other"


def _of_gpu(
    straggler: Straggler, ranks: Ranks, gpus: Gpus, share: str, limits: Limits
) -> tuple[str, tuple[Recommendation, ...]]:
    """Return why computing takes longer, if each rank has a known GPU."""
    said = f"{share} of the excess is computing."
    if len(gpus) != len(ranks.ranks) or straggler.rank not in gpus:
        return said, _COMPUTES

    clock = median_of(gpus, "gpu_sm_clock_mhz", straggler.rank)
    others = [
        found
        for gpu in gpus
        if gpu != straggler.rank
        and (found := median_of(gpus, "gpu_sm_clock_mhz", gpu)) is not None
    ]
    usual = sorted(others)[len(others) // 2] if others else None
    if clock is not None and usual and clock < limits.low_clock_share * usual:
        return (
            f"{said} Its GPU runs at {clock:.0f} MHz, another at {usual:.0f} MHz.",
            _CLOCKS,
        )
    foreign = median_of(gpus, "gpu_other_sm_percent", straggler.rank)
    if foreign is not None and foreign >= limits.neighbor_percent:
        return (
            f"{said} Other processes use {foreign:.0f} % of its GPU.",
            _NEIGHBOR,
        )
    return said, _COMPUTES


def _evidence(straggler: Straggler, cause: str, limits: Limits) -> tuple[Evidence, ...]:
    evidence = [
        Evidence(
            "ranks",
            "extra time of the slow ranks, share of step time",
            straggler.share,
            "share",
            limits.notable_share,
            Side.ABOVE,
            release=limits.release_share,
        ),
        Evidence(
            "ranks",
            "outlier steps in which a slow rank is slowest, share",
            straggler.tail_share,
            "share",
            max(limits.tail_share, straggler.chance_share),
            Side.ABOVE,
        ),
    ]
    evidence += [
        Evidence(
            "ranks",
            f"{name.removeprefix(PHASE).replace('_', ' ')}, more than on other ranks",
            seconds,
            "s",
        )
        for name, seconds in straggler.excess.items()
        if cause and _kind(name) == cause
    ]
    return tuple(evidence)


_TOGETHER = Recommendation(
    "Look for something the slow ranks share: a machine, a switch, a disk or a part of"
    " the data."
)
_WAITS = (
    Recommendation(
        "Look at that rank's input: fewer or busier loader workers, a slower disk or a"
        " larger part of the data than on the other ranks."
    ),
    Recommendation("Give all ranks shards of equal size."),
)
_COPIES = (
    Recommendation(
        "Check the GPU's PCIe link, and that the process runs on the CPUs near its GPU.",
        code="nvidia-smi topo -m",
    ),
)
_COMPUTES = (
    Recommendation(
        "Compare that rank's batches with the others': longer sequences or larger images"
        " take longer."
    ),
    Recommendation(
        "Compare its GPU with the others: model, clocks, temperature, and processes of"
        " other jobs.",
        code="nvidia-smi -q -d CLOCK,TEMPERATURE,PIDS",
    ),
)
_CLOCKS = (
    Recommendation(
        "Find the reason for the low clocks of that GPU: heat, a power limit or"
        " locked clocks.",
        code="nvidia-smi -q -d PERFORMANCE,CLOCK,TEMPERATURE,POWER",
    ),
)
_NEIGHBOR = (
    Recommendation(
        "Use the GPU exclusively for this run, or exclude it.",
        code="nvidia-smi pmon -c 1",
    ),
)
_OUTSIDE = (
    Recommendation(
        "Look for work that only this rank does in each step, such as logging, saving or"
        " progress bars, and do it less often.",
    ),
    Recommendation(
        "Time the parts of the step to find the cause.",
        code='with run.phase("forward"):',
    ),
)
_UNKNOWN = (
    Recommendation(
        "Time the parts of the step on all ranks: copy, forward, backward, optimizer and"
        " communicate.",
        code='with run.phase("communicate"):',
    ),
    Recommendation("Swap that rank's GPU or machine with another rank's."),
)
