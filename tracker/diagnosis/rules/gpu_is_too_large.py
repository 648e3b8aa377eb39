"""A smaller GPU is enough.

## Detection
At least three consecutive runs of a project, including this one, in which the 95th percentile
of utilization was at most 20 % and memory use at most 25 % on every GPU.

## Why it matters
A smaller card, a slice of one, or a card that several jobs share does the same work at a
lower cost, and leaves the large card to jobs that need it.

## Limitations
Work that waits for data also uses little of a GPU; fix those findings first.
Only runs of the same stage that took at least five minutes on GPUs with the same memory are
compared. A project with mixed work may have had small jobs only recently.

Catalogue: H11, wrong-sized GPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import highest, margin_below, percentile
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
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import duration, ordinal, percent
from tracker.diagnosis.signals import Fact, Samples

SPAN = Span.STAGE


Signals = Mapping[str, Samples | Fact]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    little_percent: float = 20.0
    little_release_percent: float = 25.0
    little_memory_share: float = 0.25
    percentile: float = 95.0

    fewest_earlier_runs: int = 2
    fewest_seconds: float = 300.0
    # A fully idle card is unused, not too large.
    min_percent: float = 1.0


def check(
    gpus: Mapping[int, Signals],
    earlier_runs: float,
    *,
    earlier_runs_gpu_p95_percent: float | None = None,
    earlier_runs_gpu_memory_share: float | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if earlier_runs < limits.fewest_earlier_runs:
        return Abstention(
            (f"{limits.fewest_earlier_runs} earlier runs to compare with",)
        )
    uses = [
        use for signals in gpus.values() if (use := _use(signals, limits)) is not None
    ]
    if not uses:
        return Abstention((f"samples over at least {duration(limits.fewest_seconds)}",))

    if earlier_runs_gpu_p95_percent is None or earlier_runs_gpu_memory_share is None:
        return Abstention(("earlier_runs_gpu_p95_percent",))

    busiest = max(*(busy for busy, _ in uses), earlier_runs_gpu_p95_percent)
    fullest = max(*(share for _, share in uses), earlier_runs_gpu_memory_share)
    limit = limits.little_release_percent if already_open else limits.little_percent
    own_busiest = max(busy for busy, _ in uses)
    if (
        busiest >= limit
        or fullest >= limits.little_memory_share
        or own_busiest < limits.min_percent
    ):
        return None

    return _finding(
        f"{earlier_runs + 1:g} runs", busiest=busiest, fullest=fullest, limits=limits
    )


def _finding(runs: str, *, busiest: float, fullest: float, limits: Limits) -> Finding:
    return Finding(
        severity=Severity.NOTICE,
        summary=(
            f"In the last {runs}, GPU utilization was at most {busiest:.0f} %"
            f" (95th percentile) and GPU memory at most {percent(fullest)}."
        ),
        evidence=(
            Evidence(
                "gpu_utilization_percent",
                f"GPU utilization, {ordinal(limits.percentile)} percentile, highest of"
                f" {runs}",
                busiest,
                "%",
                limits.little_percent,
                Side.BELOW,
                release=limits.little_release_percent,
            ),
            Evidence(
                "gpu_memory_used_bytes",
                f"GPU memory, share of all, highest of {runs}",
                fullest,
                "share",
                limits.little_memory_share,
                Side.BELOW,
            ),
        ),
        recommendations=(
            Recommendation(
                "Take a smaller card or a slice of one, or let several jobs share it."
            ),
            Recommendation(
                "Before that, try a larger batch: it may use more of the card."
            ),
        ),
        disproof=(
            "Run once on a smaller card: if the time grows by more than the price"
            " falls, the large one is the right one."
        ),
        comes_after=(
            "data-wait-dominates",
            "preprocessing-is-cpu-bound",
            "too-few-loader-workers",
        ),
        quality=SAMPLED,
        margin=min(
            margin_below(busiest, limits.little_percent),
            margin_below(fullest, limits.little_memory_share),
        ),
        corroboration=AGREEING,
    )


def _use(signals: Signals, limits: Limits) -> tuple[float, float] | None:
    """Return utilization and memory share of a GPU; None if it was sampled too briefly."""
    busy, used = (
        signals.get("gpu_utilization_percent"),
        signals.get("gpu_memory_used_bytes"),
    )
    total = signals.get("gpu_memory_total_bytes")
    if not isinstance(busy, Samples) or not isinstance(used, Samples):
        return None
    if not isinstance(total, float) or not total > 0 or not len(used.values):
        return None
    if (
        not len(busy.times)
        or busy.times[-1] - busy.times[0] < limits.fewest_seconds * 1e6
    ):
        return None
    return percentile(busy, limits.percentile), highest(used) / total
